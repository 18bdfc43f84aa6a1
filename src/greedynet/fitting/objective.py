"""`Objective`: what a network minimises, and `Growth`: its networks on the rows of one fold.

Squares, other losses and classes differ here, and nowhere else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.all_rows.passes import Passes
from greedynet.fitting.forms import Form
from greedynet.fitting.measures import Measure
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.scores import CandidateScores
from greedynet.losses.base import mean_size
from greedynet.model.candidate import LINE, MEAN, Candidate
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.support.checks import safe_norm
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Arrays and numbers by which a growth knows a network again: a named tuple of each objective.
State = Any


class Line(NamedTuple):
    """An affine function of scaled rows, `X linear + intercept`: a state without neurons."""

    linear: Float64
    intercept: Float64

    def network(self, problem: Problem) -> Network:
        """Return it as a network without neurons."""
        d, t = self.linear.shape
        affine = np.vstack([self.linear, self.intercept])
        return problem.network(np.empty((0, d + 1)), np.empty((0, t)), affine)


class Growth(ABC):
    """Networks on the rows of a problem, each from those before it.

    States without neurons are handled here: subclasses define what is done with the others, in
    methods of the same names with an underscore.

    Attributes
    ----------
    turn : int
        Networks of different turns have different pools of directions.
    """

    # The named tuple of the state of a network with neurons.
    state_type: type[Any]

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        self.problem, self.turn = problem, turn

    @abstractmethod
    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate, given those that were fitted before on the same rows."""

    def line(self, kind: str) -> Line:
        """Return a constant or a line; here the mean, which is zero in scaled outputs."""
        rows = self.problem.rows
        return Line(np.zeros((rows.n_features, rows.n_outputs)), np.zeros(rows.n_outputs))

    def refitted(
        self, candidate: Candidate, start: Callable[[Candidate], State], of_fold: Problem
    ) -> State:
        """Return a network of a fold, corrected on these rows.

        Parameters
        ----------
        start : callable
            Returns a candidate of the fold, carried to these rows.
        of_fold : Problem
            The rows of the fold.
        """
        return start(candidate)

    def outputs(self, state: State, X: NDArray[np.floating]) -> Float64:
        """Return the scaled outputs of a network for scaled inputs."""
        if isinstance(state, Line):
            return np.asarray(X @ state.linear + state.intercept)
        return self._outputs(state, X)

    @abstractmethod
    def _outputs(self, state: State, X: NDArray[np.floating]) -> Float64: ...

    def predict(self, states: Sequence[State], rows: Rows) -> Float64:
        """Return the outputs of the mean of some networks for rows, all in original units."""
        X = self.problem.inputs_of(rows)
        mean = np.mean([self.outputs(state, X) for state in states], axis=0)
        return self.problem.in_units(mean)

    def network(self, states: Sequence[State]) -> Network:
        """Return the mean of some networks, for inputs and outputs in original units."""
        if isinstance(states[0], Line):
            return states[0].network(self.problem)
        return self._network(states)

    @abstractmethod
    def _network(self, states: Sequence[State]) -> Network: ...

    def carried(self, state: State, inputs: InputScaling) -> State:
        """Return a network of other rows, which were scaled by `inputs`, on these rows."""
        if isinstance(state, Line):
            return self.line(LINE if state.linear.any() else MEAN)
        return self._carried(state, inputs)

    @abstractmethod
    def _carried(self, state: State, inputs: InputScaling) -> State: ...

    def loss(self, state: State) -> float:
        """Return what a network minimises, on these rows; by it folds are compared."""
        return 0.0 if isinstance(state, Line) else self._loss(state)

    @abstractmethod
    def _loss(self, state: State) -> float: ...

    def training_error(self, states: Sequence[State]) -> float:
        """Return the relative error of the mean of some networks on these rows."""
        rows = self.problem.rows
        mean = np.mean([self.outputs(state, rows.X) for state in states], axis=0)
        return safe_norm(rows.weighted(rows.Y - mean)) / (safe_norm(rows.weighted(rows.Y)) or 1.0)

    def ridge(
        self, candidate: Candidate, states: Sequence[State], of_fold: Problem
    ) -> float | None:
        """Return the ridge of refitted networks, their mean; None without neurons."""
        return self._ridge(states) if candidate.width else None

    def _ridge(self, states: Sequence[State]) -> float | None:
        if states[0].ridge is None:
            return None
        return float(np.mean([state.ridge for state in states]))

    def packed(self, state: State) -> list[Any]:
        """Return the fields of a state, as a checkpoint keeps them."""
        return [type(state).__name__, *state]

    def unpacked(self, values: Sequence[Any]) -> State:
        """Return a state from its fields."""
        name, *fields = values
        return (Line if name == Line.__name__ else self.state_type)(*fields)


class Objective(ABC):
    """What a network minimises."""

    # Whether outputs are classes.
    classes = False
    # Whether a narrower network consists of the first neurons of a wider one.
    nested = False
    # What is predicted if no row can be held out.
    without_rows = Candidate(MEAN)

    @abstractmethod
    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the losses of held-out rows, by which candidates are compared."""

    @abstractmethod
    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return the coordinates in which networks on rows are constructed."""

    @abstractmethod
    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""

    @abstractmethod
    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield the candidates to try, the simplest first; `scores` has those before.

        Parameters
        ----------
        scores : CandidateScores
            Of all candidates that were yielded before.
        rows : Rows
            Training rows of a fold.
        """

    def training_error(self, network: Network, rows: Rows, plan: Plan) -> float:
        """Return the relative error of a network on training rows, in original units."""
        scaling = OutputScaling.of(rows, centred=plan.linear_term)
        left = (rows.Y - network.predict(rows.X).reshape(rows.Y.shape)) / scaling.scale
        size = plan.loss.size(scaling.apply(rows.Y), rows.weights) or 1.0
        return plan.loss.size(left, rows.weights) / size

    def error_in_units(self, network: Network, rows: Rows, plan: Plan) -> float:
        """Return the error of a network on training rows, comparable to the expected one."""
        left = rows.Y - network.predict(rows.X).reshape(rows.Y.shape)
        return mean_size(plan.loss, left, rows.weights)

    def line_of(self, scores: CandidateScores) -> Candidate | None:
        """Return the best logistic regression, for classes."""
        return None

    def as_good(self, plan: Plan) -> float:
        """Return within which factor of the smallest score a smaller network wins."""
        return plan.settings.ladder.as_good

    def is_large(self, candidate: Candidate, rows: Rows, plan: Plan) -> bool:
        """Whether folds are computed in parallel: threads gain in large products only."""
        n_weights = candidate.n_neurons * (rows.n_features + 1)
        return n_weights >= plan.settings.ladder.parallel_from

    def begin(
        self,
        rows: Rows,
        form: Form,
        plan: Plan,
        context: FitContext,
        *,
        turn: int = 0,
        input_range: Float64 | None = None,
        passes: Passes | None = None,
    ) -> Growth:
        """Return the networks of a form on rows in original units."""
        own, plan = form.rows(rows), form.plan(plan)
        if input_range is not None:
            ends = Rows(input_range, np.zeros((2, rows.n_outputs)))
            input_range = np.asarray(form.rows(ends).X, dtype=np.float64)
        coordinates = self.coordinates(own, plan, input_range)
        return self.growth(Problem(own, plan, coordinates, context, passes), turn)
