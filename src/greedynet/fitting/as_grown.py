"""`AsGrown`: networks as the paper grows them, neuron by neuron, of which none is corrected.

Every width of the growth is a candidate. A narrower network consists of the first neurons of a
wider one, with outer weights of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.outer_solver import OuterSolver
from greedynet.fitting.forms import Form
from greedynet.fitting.growth import grow
from greedynet.fitting.log_loss import (
    class_coordinates,
    class_training_error,
    shares_weights,
)
from greedynet.fitting.make_search import dependent, make_search
from greedynet.fitting.measures import LogLosses, Measure, OfLoss, Squares
from greedynet.fitting.objective import Growth, Line, Objective, State
from greedynet.fitting.plan import ZERO_RESIDUAL, Plan
from greedynet.fitting.problem import Problem, coordinates_of
from greedynet.fitting.scores import CandidateScores
from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import outer_weights
from greedynet.losses import is_squared
from greedynet.losses.base import LossFactor
from greedynet.losses.logistic import RIDGE, Logistic, LogisticFactor, log_loss
from greedynet.model.candidate import LINE, MEAN, NETWORK, SHARES, Candidate
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.search import Proposal
from greedynet.search.base import Recallable
from greedynet.support.context import NO_JOURNAL
from greedynet.support.types import Float64

# Number of neurons without a better score after which no more are tried.
PATIENCE = 20


class Grown(NamedTuple):
    """The first neurons of a growth, and the weights of affine columns and normalised neurons."""

    n_neurons: int
    weights: Float64
    found: Any = None


class PlainGrowth(Growth):
    """Networks that grow neuron by neuron on the rows of a problem."""

    state_type = Grown

    def __init__(self, problem: Problem, turn: int, factor: Factor, constant: Float64) -> None:
        super().__init__(problem, turn)
        self._constant = constant
        self._factor = problem.coordinates.begun(factor, problem.rows)
        self._search = make_search(problem.rows, problem.plan, turn, pool=problem.context.pool)
        self.neurons: list[Proposal] = []
        self._grown = [self._now(None)]
        self._n_packed = 0
        self._has_ended = False

    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate, given those that were fitted before on the same rows."""
        return self.line(MEAN) if candidate.is_constant else self.grown_to(candidate.width)

    def line(self, kind: str) -> Line:
        """Return the best constant: the affine term is that of a growth without neurons."""
        return Line(np.zeros((self.problem.n_features, len(self._constant))), self._constant)

    def grown_to(self, n_neurons: int) -> Grown:
        """Return the network of so many neurons, or of as many as there are."""
        while len(self.neurons) < n_neurons and not self._has_ended:
            found = grow(self._factor, self._search, 1, self.problem.context)
            self._has_ended = not found
            for neuron in found:
                self.problem.check_proposed(neuron, self.problem.rows)
                self._append(neuron)
        return self._grown[min(n_neurons, len(self.neurons))]

    def _append(self, neuron: Proposal) -> None:
        self.neurons.append(neuron)
        before = self._grown[-1].found
        if before is not None:
            del before[1:]  # the search goes on from the memory of the last neuron
        self._grown.append(self._now(self._memory()))

    def _memory(self) -> list[Any] | None:
        """Return what a checkpoint needs to find the last neuron again."""
        if self.problem.context.journal is NO_JOURNAL:
            return None
        if not isinstance(self._search, Recallable):
            raise ValueError(
                "`checkpoint` needs a search that can be resumed, got a "
                f"{type(self._search).__name__} without `memory` and `recall`: implement these two "
                "methods, or omit `checkpoint`."
            )
        return list(self._search.memory())

    def _now(self, found: Any) -> Grown:
        """Return the network of all neurons so far."""
        factor, r = self._factor, self.problem.coordinates.n_affine
        weights = outer_weights(factor.R, factor.z, self._alpha, r)
        return Grown(len(self.neurons), weights, found)

    @property
    def _alpha(self) -> float:
        """Ridge on the outer weights; a factor of another loss has its own."""
        return self.problem.plan.ridge if self._factor.follows_projection else 0.0

    def _ridge(self, states: Sequence[State]) -> float | None:
        return self._alpha

    def packed(self, state: State) -> list[Any]:
        """Return the fields of a state: neurons since the last one; weights follow."""
        if isinstance(state, Line):
            return super().packed(state)
        new = self._grown[self._n_packed + 1 : state.n_neurons + 1]
        self._n_packed += len(new)
        return [Grown.__name__, state.n_neurons, [grown.found for grown in new]]

    def unpacked(self, values: Sequence[Any]) -> State:
        """Return a state from its fields; the growth goes on after it."""
        if values[0] == Line.__name__:
            return super().unpacked(values)
        _, n_neurons, found = values
        n_known = len(self.neurons) - (n_neurons - len(found))
        for memory in found[n_known:]:
            assert isinstance(self._search, Recallable)
            neuron = self._search.recall(self._factor, *memory)
            self._factor.append(neuron.column)
            self._search.accept(self._factor)
            self.neurons.append(neuron)
            self._grown.append(self._now(memory))
        return self._grown[n_neurons]

    @property
    def points(self) -> Float64:
        """Inner weights of the neurons, bias last."""
        found = [neuron.point for neuron in self.neurons]
        return np.array(found).reshape(-1, self.problem.n_features + 1)

    def _outputs(self, state: Grown, X: NDArray[np.floating]) -> Float64:
        n, coordinates = state.n_neurons, self.problem.coordinates
        r, sigma = coordinates.n_affine, self.problem.plan.activation
        norms = np.array([neuron.norm for neuron in self.neurons[:n]])
        points = self.points[:n]
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = (
                np.asarray(sigma.value(X @ points[:, :-1].T + points[:, -1]), np.float64) / norms
            )
            affine = coordinates.affine.evaluate(X)
            return np.asarray(affine @ state.weights[:r] + hidden @ state.weights[r:])

    def _network(self, states: Sequence[Grown]) -> Network:
        """Return a network with its outer weights, for original units (GSN 4)."""
        (state,) = states
        full = self._full()
        return full.truncate(full.n_nodes - full.n_neurons + state.n_neurons)

    def _full(self) -> Network:
        """Return the network of all neurons, from which `truncate` gives the others."""
        problem, plan = self.problem, self.problem.plan
        if self._last is not None and self._last.n_neurons == len(self.neurons):
            return self._last
        if problem.passes is not None and self._factor.follows_projection:
            solver = OuterSolver(
                problem.coordinates,
                problem.rows,
                plan.activation,
                plan.single_output,
                plan.ridge,
                problem.passes,
            )
            self._last = solver.solved(self.points)
        else:
            self._last = problem.coordinates.network(
                self._solved(),
                self.neurons,
                plan.activation,
                alpha=self._alpha,
                single_output=plan.single_output,
            )
        return self._last

    _last: Network | None = None

    def _solved(self) -> Factor:
        """Return the factor, for least squares on rows that are not rounded."""
        coordinates, problem = self.problem.coordinates, self.problem
        if not coordinates.rounded or not self._factor.follows_projection:
            return self._factor
        rows = coordinates.apply_exactly(problem.sample)
        columns = coordinates.neuron_columns(rows, self.points, problem.plan.activation)
        factor = coordinates.factor(rows, dependent=0.0)
        kept = factor.extend(columns / np.array([neuron.norm for neuron in self.neurons]))
        is_same = kept.all() and factor.size == self._factor.size
        return factor if is_same else self._factor

    def _carried(self, state: Grown, inputs: InputScaling) -> Grown:
        return self.grown_to(state.n_neurons)

    def _loss(self, state: Grown) -> float:
        return 0.0  # no fold is better than another

    def refitted(
        self, candidate: Candidate, start: Callable[[Candidate], State], of_fold: Problem
    ) -> State:
        """Return the network of so many neurons, of which these rows may support more."""
        return self.fitted(candidate, {})

    def training_error(self, states: Sequence[State]) -> float:
        """Return the error on these rows that the factor knows."""
        factor = self._factor
        if isinstance(states[0], Line) or len(states[0].weights) != factor.size:
            return 1.0
        left = factor.rss(states[0].weights, self._alpha)
        return float(np.sqrt(left)) / (factor.target_size or 1.0)

    @property
    def indices(self) -> NDArray[np.intp]:
        """Positions of the neurons in the dictionary."""
        return np.array([neuron.index for neuron in self.neurons], dtype=np.intp)


class PlainClassGrowth(PlainGrowth):
    """The same for classes, whose errors are log-losses."""

    def _ridge(self, states: Sequence[State]) -> float | None:
        """Return the ridge if one was given; by default, there is a tiny one on the logits."""
        return self.problem.plan.alpha

    def training_error(self, states: Sequence[State]) -> float:
        """Return the mean log-loss of these rows."""
        if not isinstance(states[0], Line):
            return super().training_error(states)
        rows = self.problem.rows
        return log_loss(self.outputs(states[0], rows.X), rows.Y, rows.weights)


class AsGrown(Objective):
    """Squared errors or another loss, of networks that are kept as grown."""

    nested = True

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the losses of held-out rows."""
        if is_squared(plan.loss):
            return Squares(held_out, n_rows)
        return OfLoss(held_out, n_rows, plan.loss)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return the coordinates in which networks on rows are constructed."""
        return coordinates_of(rows, plan, input_range)

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        rows, plan = problem.rows, problem.plan
        if is_squared(plan.loss):
            factor = Factor(rows.weighted(rows.Y), dependent=dependent(plan))
            return PlainGrowth(problem, turn, factor, np.zeros(rows.n_outputs))
        factor = LossFactor(rows.Y, rows.weights, plan.loss, dependent(plan))
        constant = np.zeros(rows.n_outputs)
        if plan.linear_term:
            constant = plan.loss.fit(np.ones((len(rows), 1)), rows.Y, rows.weights).weights[0]
        return PlainGrowth(problem, turn, factor, constant)

    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield a constant, the affine term, and every width."""
        for form in forms:
            yield Candidate(self.constant, form=form.name)
            if plan.linear_term:
                yield Candidate(LINE, form=form.name)
            for width in range(1, form.plan(plan).limits.max_neurons + 1):
                yield Candidate(NETWORK, width, form=form.name)
                if scores.training_errors[-1] <= max(plan.limits.tol, ZERO_RESIDUAL):
                    break
                if not plan.takes_last and scores.stops(form.name, 0, np.inf, PATIENCE):
                    break

    constant = MEAN

    def as_good(self, plan: Plan) -> float:
        """Return 1: the best width is taken, as in the paper."""
        return 1.0


class ClassesAsGrown(AsGrown):
    """The log-loss of networks that are kept as grown."""

    classes = True
    constant = SHARES

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the log-losses of held-out rows."""
        return LogLosses(held_out, n_rows)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return coordinates with scaled inputs and unscaled classes."""
        return class_coordinates(rows, plan, input_range)

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        rows, plan = problem.rows, problem.plan
        loss = Logistic(RIDGE if plan.alpha is None else max(plan.alpha, 1e-8))
        factor = LogisticFactor(rows.Y, rows.weights, loss, dependent(plan))
        constant = shares_weights(rows).L[-1] if plan.linear_term else np.zeros(rows.n_outputs)
        return PlainClassGrowth(problem, turn, factor, constant)

    def training_error(self, network: Any, rows: Rows, plan: Plan) -> float:
        """Return the mean log-loss of training rows."""
        return class_training_error(network, rows)
