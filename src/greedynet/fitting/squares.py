"""`LeastSquares`: the objective of the paper, with all neurons corrected after every width.

The plain growth never revises a neuron. Here new neurons are searched on the residual of a network
that has been corrected jointly, and the width grows by a factor, so that all widths together cost
little more than the last. The chosen network is corrected on all rows, where some of its neurons
are *exchanged*: more are grown, and as many removed that early ones were needed for.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import ReLU, degree_of
from greedynet.correction.all_rows.inner_weights import corrected_on_all_rows
from greedynet.correction.outer_solver import OuterSolver
from greedynet.correction.shaped import ShapedProjection
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.candidates import networks_and_averages
from greedynet.fitting.forms import Form
from greedynet.fitting.make_search import dependent, least_active, unit
from greedynet.fitting.measures import Measure, Squares
from greedynet.fitting.objective import Growth, Line, Objective, State
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem, coordinates_of
from greedynet.fitting.scores import CandidateScores
from greedynet.model.candidate import MEAN, NETWORK, Candidate
from greedynet.model.coordinates import Coordinates, in_shape
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm, RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.search.batch import SignedSearch
from greedynet.search.sphere import directions
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# More than a growth has widths: turns of different networks do not meet.
TURNS = 1_000
# How often dead neurons are replaced by new ones.
N_TRIES = 10


class Neurons(NamedTuple):
    """Inner weights for scaled inputs, bias last, and the ridge; outer weights follow from them."""

    points: Float64
    ridge: float | None


class CorrectedGrowth(Growth):
    """Networks whose neurons are corrected jointly after every width."""

    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a line, or a network grown from the widest narrower one."""
        if candidate.width == 0:
            return self.line(candidate.kind)
        narrower = {
            c.width: state
            for c, state in known.items()
            if c.kind == NETWORK and not c.pruned and c.width < candidate.width
        }
        before = narrower[max(narrower)] if narrower else self._none()
        return self._grown(before, candidate.width, len(narrower))

    @abstractmethod
    def _none(self) -> State:
        """Return a network without neurons, from whose residual the first ones follow."""

    @abstractmethod
    def _grown(self, before: State, n_neurons: int, turn: int) -> State:
        """Return a network of more neurons, all corrected; as before if there are none."""

    def _filled(self, state: State, n_neurons: int) -> State:
        """Replace neurons that died or became duplicates, where all nodes were asked for."""
        problem, first = self.problem, state
        if not problem.plan.needs_all(n_neurons):
            return state
        for turn in range(N_TRIES):
            points = self._useful(state)
            if len(points) >= n_neurons:
                break
            n_more = n_neurons - len(points)
            more = problem.more_neurons(points, n_more, TURNS + turn, problem.rows)
            if len(more) == len(points):
                break
            state = self._with_points(more, state, first, is_first=turn == 0)
        return state

    @abstractmethod
    def _useful(self, state: State) -> Float64:
        """Return the neurons without those that died or became duplicates."""

    @abstractmethod
    def _with_points(self, points: Float64, state: State, first: State, *, is_first: bool) -> State:
        """Return a network of given neurons, with the ridge of a state.

        A ridge under which new neurons die at once is too large for so many: it is smaller than
        that of the state except for the first time.
        """


class SquaresGrowth(CorrectedGrowth):
    """Networks of least squares on the rows of a problem."""

    state_type = Neurons

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        super().__init__(problem, turn)
        self._last: tuple[Neurons, VariableProjection] | None = None

    @cached_property
    def _affine(self) -> Float64:
        return self.problem.solving.affine_columns(self.problem.rows)

    def line(self, kind: str) -> Line:
        """Return the mean, or a line with a ridge."""
        if kind == MEAN:
            return super().line(kind)
        line = RidgeLine.of(self.problem.rows, self.problem.shape)
        return Line(line.linear, line.intercept)

    def _none(self) -> Neurons:
        return Neurons(np.empty((0, self.problem.n_features + 1)), None)

    def _grown(self, before: Neurons, n_neurons: int, turn: int) -> Neurons:
        state = self.at(before)
        turn += TURNS * self.turn
        points = self._with_more(state, n_neurons - state.n_neurons, turn)
        if points is None:
            return self._filled(before, n_neurons)
        # The ridge of the affine term alone says nothing about neurons.
        # The penalty of smoother neurons grows with higher powers of their weights.
        power = degree_of(self.problem.plan.activation) or 1
        kept = self.problem.settings.correction.ridge_kept**power
        wider = self._new(Neurons(points, kept * state.ridge if state.n_neurons else None))
        found = self._neurons(self._converged(self._settled(wider)))
        return self._filled(found, n_neurons)

    def refitted(
        self, candidate: Candidate, start: Callable[[Candidate], State], of_fold: Problem
    ) -> State:
        """Return a network of a fold, corrected on these rows, or on all that these represent."""
        if candidate.width == 0:
            return self.line(candidate.kind)
        problem, state = self.problem, start(candidate)
        problem.context.tell(f"correcting {len(state.points)} neurons on all rows")
        if problem.passes is not None:
            return self._filled(self._on_all_rows(state), candidate.width)
        found, settings = self._settled(self._new(state)), problem.settings.correction
        for turn in range(settings.n_exchanges):
            if problem.context.clock.is_over():
                break
            before, tried = found, self._exchanged(found, TURNS - 1 - turn)
            found = tried if self._score(tried) < self._score(found) else found
            if self._score(tried) > settings.worth_exchange * self._score(before):
                break
        return self._filled(self._neurons(self._converged(found)), candidate.width)

    def _on_all_rows(self, neurons: Neurons) -> Neurons:
        """Return a network of a sample, corrected by sums over all rows."""
        problem, plan = self.problem, self.problem.plan
        assert problem.passes is not None
        if plan.alpha is not None or plan.shape is not None:
            return neurons
        many, n_tries = problem.passes.many, problem.settings.correction.n_tries_on_all_rows
        state = corrected_on_all_rows(
            self._new(neurons), many, problem.coordinates, plan.activation, n_tries
        )
        return self._neurons(state)

    def _exchanged(self, state: VariableProjection, turn: int) -> VariableProjection:
        """Grow more neurons, and remove as many of all, in two steps."""
        n, settings = state.n_neurons, self.problem.settings
        n_more = max(1, int((settings.ladder.overgrowth - 1) * n))
        more = self._with_more(state, n_more, turn)
        if more is None:
            return state
        n_steps = self._times * settings.correction.steps_of_exchange
        tried = state.at(more).settle(n_steps)
        return tried.without(n).settle(n_steps)

    def _score(self, state: VariableProjection) -> float:
        """Return by what networks of the same width are compared on their training rows.

        Generalised cross-validation; with more weights than rows it says nothing, and networks that
        were asked for all the same are compared by their error.
        """
        n_weights = state.points.size + len(state.weights)
        return state.gcv if n_weights < self.problem.rows.n_independent else state.error

    def _useful(self, state: Neurons) -> Float64:
        problem, found = self.problem, self.at(state)
        # As the search knows them: else it would propose copies of those that it does not.
        factor = problem.coordinates.factor(problem.rows, dependent(problem.plan))
        kept = found.alive
        kept[kept] = factor.extend(found.columns[:, kept])
        return found.points[kept]

    def _with_points(
        self, points: Float64, state: Neurons, first: Neurons, *, is_first: bool
    ) -> Neurons:
        ridge = self.at(state).ridge
        ridge = ridge if is_first else min(ridge / 10, 1.0)
        return self._neurons(self._new(Neurons(points, ridge)))

    def _with_more(self, state: VariableProjection, n_more: int, turn: int) -> Float64 | None:
        """Return the neurons of a network and new ones; None if there are none."""
        points = state.points
        if isinstance(state, ShapedProjection) and self.problem.plan.activation == ReLU():
            # Half of them for the residual of the shape, half for what any network would leave.
            points = self._with_monotone(state, n_more - n_more // 2, turn)
        n_more -= len(points) - state.n_neurons
        points = self.problem.more_neurons(points, n_more, turn, self.problem.rows)
        return points if len(points) > state.n_neurons else None

    def _with_monotone(self, state: ShapedProjection, n_more: int, turn: int) -> Float64:
        """Return the neurons of a network and new monotone ones for its residual."""
        plan, shape, rows = self.problem.plan, state.shape, self.problem.rows
        pool = directions(rows.X, plan.random_state + 2 + turn)
        pool = shape.without_convex(np.concatenate([pool, unit(state.points[:, :-1])]))
        least = least_active(len(rows), rows.n_features, plan)
        more = SignedSearch(rows, shape, least).propose(
            state.residual, state.free_columns, pool, n_more
        )
        return np.concatenate([state.points, more])

    def at(self, neurons: Neurons) -> VariableProjection:
        """Return the network of some neurons, which is not to be modified."""
        if self._last is None or self._last[0] is not neurons:
            self._last = neurons, self._new(neurons)
        return self._last[1]

    def _new(self, neurons: Neurons) -> VariableProjection:
        """Return the network of some neurons; without a ridge, it has a small initial one."""
        problem, (points, ridge) = self.problem, neurons
        rows, sigma, context = problem.rows, problem.plan.activation, problem.context
        max_block = problem.settings.correction.max_block
        if problem.shape is not None:
            return ShapedProjection(
                rows,
                self._affine,
                points,
                problem.shape,
                ridge,
                sigma,
                context=context,
                max_block=max_block,
            )
        return VariableProjection(
            rows, self._affine, points, ridge, sigma, context=context, max_block=max_block
        )

    def _neurons(self, state: VariableProjection) -> Neurons:
        return Neurons(np.ascontiguousarray(state.points), float(state.ridge))

    @property
    def _times(self) -> int:
        """Factor of the number of steps: a smooth objective benefits from more."""
        smooth = degree_of(self.problem.plan.activation) != 1
        return self.problem.settings.correction.smooth_times if smooth else 1

    def _settled(self, state: VariableProjection) -> VariableProjection:
        settings = self.problem.settings.correction
        return state.settle(self._times * settings.steps, settings.enough)

    def _converged(self, state: VariableProjection) -> VariableProjection:
        """Correct to convergence if the training error is tiny.

        Not where there are more weights than rows, unless it takes no time: rows that any network
        of the width can meet deserve none.
        """
        settings, rows = self.problem.settings.correction, self.problem.rows
        if state.points.size > max(rows.n_independent, settings.always_converged):
            return state
        size = safe_norm(rows.weighted(rows.Y)) or 1.0
        if np.sqrt(state.error) / size > settings.converged_below:
            return state
        if self.problem.context.clock.is_over():
            return state
        further = state.at(state.points).settle(settings.steps_to_converge)
        return further if further.gcv < state.gcv else state

    def _outputs(self, state: Neurons, X: NDArray[np.floating]) -> Float64:
        affine = self.problem.solving.affine.evaluate(X)
        return self.at(state).predict(X, affine)

    def predict(self, states: Sequence[State], rows: Rows) -> Float64:
        """Return the outputs of the mean of some networks, in original units."""
        if self.problem.plan.alpha is None or isinstance(states[0], Line):
            return super().predict(states, rows)
        # A given ridge is that of the last solve.
        return self.network(states).predict(rows.X).reshape(rows.Y.shape)

    def _network(self, states: Sequence[Neurons]) -> Network:
        """Return the mean of some networks, outer weights solved on all rows."""
        problem, plan = self.problem, self.problem.plan
        solver = OuterSolver(
            problem.solving,
            problem.rows,
            plan.activation,
            plan.single_output,
            plan.alpha,
            problem.passes,
            problem.shape,
        )
        network = solver.network([self.at(state) for state in states])
        return network if plan.shape is None else in_shape(network, plan.shape)

    def _ridge(self, states: Sequence[State]) -> float | None:
        given = self.problem.plan.alpha
        return super()._ridge(states) if given is None else given

    def _carried(self, state: Neurons, inputs: InputScaling) -> Neurons:
        return Neurons(self.problem.carried(state.points, inputs), state.ridge)

    def _loss(self, state: Neurons) -> float:
        """Return the squared error on these rows and the penalty."""
        return self._new(state).objective

    def training_error(self, states: Sequence[State]) -> float:
        """Return the relative error on these rows."""
        if len(states) > 1 or isinstance(states[0], Line):
            return super().training_error(states)
        rows = self.problem.rows
        return float(np.sqrt(self.at(states[0]).error)) / (safe_norm(rows.weighted(rows.Y)) or 1.0)


class LeastSquares(Objective):
    """`|| Y - F c ||^2`, over rows and outputs."""

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the squared errors of held-out rows."""
        return Squares(held_out, n_rows)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return the coordinates in which networks on rows are constructed.

        With few rows beside the inputs, the affine term is the constant and a line with a ridge.
        """
        found = coordinates_of(rows, plan, input_range)
        if not has_few_rows(rows, plan):
            return found
        scaled = found.apply(rows)
        return replace(found, affine=AffineTerm.shrunk(scaled, RidgeLine.of(scaled)))

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        return SquaresGrowth(problem, turn)

    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield the mean, a line, and for each form networks and averages."""
        return networks_and_averages(scores, forms, rows, plan)


def has_few_rows(rows: Rows, plan: Plan) -> bool:
    """Whether there are few rows beside the inputs of a network without a given shape."""
    least = plan.settings.ladder.rows_per_input * (rows.n_features + 1)
    return len(rows) < least and plan.linear_term and plan.shape is None
