"""`LeastSquares`: the objective of the paper, with all neurons corrected after every width.

The plain growth never revises a neuron. Here new neurons are searched on the residual of a network
that has been corrected jointly, and the width grows by a factor, so that all widths together cost
little more than the last. The chosen network is corrected on all rows, where some of its neurons
are *exchanged*: more are grown, and as many removed that early ones were needed for.
"""

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
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.fitting.forms import Form
from greedynet.fitting.make_search import dependent, least_active, unit
from greedynet.fitting.measures import Measure, Squares
from greedynet.fitting.objective import Growth, Line, Objective, State, networks_of
from greedynet.fitting.plan import ZERO_RESIDUAL, Plan
from greedynet.fitting.problem import Problem, coordinates_of
from greedynet.fitting.scores import CandidateScores
from greedynet.losses.base import singles_out_rows
from greedynet.model.candidate import (
    CLIPPED,
    LINE,
    MEAN,
    NETWORK,
    ONE_LAYER,
    RAMPS,
    Candidate,
    single_networks,
    widths_up_to,
)
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.model.shaped import in_shape
from greedynet.rows.affine import AffineTerm, RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.search.directions import directions
from greedynet.search.signed import SignedSearch
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


class SquaresGrowth(Growth):
    """Networks of least squares on the rows of a problem."""

    state_type = Neurons

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        super().__init__(problem, turn)
        self._last: tuple[Neurons, VariableProjection] | None = None

    @cached_property
    def _affine(self) -> Float64:
        return self.problem.solving.affine_columns(self.problem.rows)

    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate, given those that were fitted before on the same rows."""
        if candidate.width == 0:
            return self.line(candidate.kind)
        grown = networks_of(known)
        narrower = [width for width in grown if width < candidate.width]
        before = grown[max(narrower)] if narrower else self._none()
        found = self.grown(before, candidate.width, len(narrower) + TURNS * self.turn)
        return self._filled(found, candidate.width)

    def line(self, kind: str) -> Line:
        """Return the mean, or a line with a ridge."""
        rows = self.problem.rows
        if kind == MEAN:
            return Line(np.zeros((rows.n_features, rows.n_outputs)), np.zeros(rows.n_outputs))
        line = RidgeLine.of(rows, self.problem.shape)
        return Line(line.linear, line.intercept)

    def _none(self) -> Neurons:
        """Return a network without neurons."""
        return Neurons(np.empty((0, self.problem.n_features + 1)), None)

    def grown(self, before: Neurons, n_neurons: int, turn: int) -> Neurons:
        """Return a network of more neurons, all corrected; as before if there are none."""
        state = self.at(before)
        points = self._with_more(state, n_neurons - state.n_neurons, turn)
        if points is None:
            return before
        # The ridge of the affine term alone says nothing about neurons.
        # The penalty of smoother neurons grows with higher powers of their weights.
        power = degree_of(self.problem.plan.activation) or 1
        kept = self.problem.settings.correction.ridge_kept**power
        wider = self._new(Neurons(points, kept * state.ridge if state.n_neurons else None))
        return self._neurons(self._converged(self._settled(wider)))

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

    def _filled(self, neurons: Neurons, n_neurons: int) -> Neurons:
        """Replace neurons that died or became duplicates, where all nodes were asked for."""
        problem = self.problem
        if not problem.plan.needs_all(n_neurons):
            return neurons
        for turn in range(N_TRIES):
            state = self.at(neurons)
            # As the search knows them: else it would propose copies of those that it does not.
            factor = problem.coordinates.factor(problem.rows, dependent(problem.plan))
            kept = state.alive
            kept[kept] = factor.extend(state.columns[:, kept])
            points = state.points[kept]
            if len(points) >= n_neurons:
                break
            n_more = n_neurons - len(points)
            more = problem.more_neurons(points, n_more, TURNS + turn, problem.rows)
            if len(more) == len(points):
                break
            # A ridge under which new neurons die at once is too large for so many.
            ridge = state.ridge if turn == 0 else min(state.ridge / 10, 1.0)
            neurons = self._neurons(self._new(Neurons(more, ridge)))
        return neurons

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

    def outputs(self, state: State, X: NDArray[np.floating]) -> Float64:
        """Return the scaled outputs of a network for scaled inputs."""
        if isinstance(state, Line):
            return np.asarray(X @ state.linear + state.intercept)
        affine = self.problem.solving.affine.evaluate(X)
        return self.at(state).predict(X, affine)

    def predict(self, states: Sequence[State], rows: Rows) -> Float64:
        """Return the outputs of the mean of some networks, in original units."""
        if self.problem.plan.alpha is None or isinstance(states[0], Line):
            return super().predict(states, rows)
        # A given ridge is that of the last solve.
        return self.network(states).predict(rows.X).reshape(rows.Y.shape)

    def network(self, states: Sequence[State]) -> Network:
        """Return the mean of some networks, outer weights solved on all rows."""
        if isinstance(states[0], Line):
            return states[0].network(self.problem)
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

    def ridge(
        self, candidate: Candidate, states: Sequence[State], of_fold: Problem
    ) -> float | None:
        """Return the ridge that was given, or that of the correction."""
        given = self.problem.plan.alpha
        if given is None or isinstance(states[0], Line):
            return super().ridge(candidate, states, of_fold)
        return given

    def carried(self, state: State, inputs: InputScaling) -> State:
        """Return a network of other rows on these rows."""
        if isinstance(state, Line):
            return self.line(LINE if state.linear.any() else MEAN)
        points = self.problem.carried(state.points, inputs)
        return Neurons(points, state.ridge)

    def loss(self, state: State) -> float:
        """Return the squared error on these rows and the penalty."""
        return 0.0 if isinstance(state, Line) else self._new(state).objective

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
        yield Candidate(MEAN, form=forms[0].name)
        for form in forms:
            yield from _of_form(scores, form, rows, plan)


def _of_form(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> Iterator[Candidate]:
    """Yield the candidates of a form, the simplest first."""
    if plan.linear_term and form.name != RAMPS:
        yield Candidate(LINE, form=form.name)
    if n_effective(rows) < plan.settings.ladder.min_rows and not plan.takes_last:
        return
    yield from by_width(scores, form, rows, plan)
    chosen = scores.best(plan.choice, form.name)
    if chosen.width == 0:
        return
    yield from _averages(scores, chosen, rows, plan)


def by_width(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> Iterator[Candidate]:
    """Yield networks of increasing width, until wider ones do not help."""
    most, d = form.plan(plan).limits.max_neurons, form.n_inputs(rows.n_features)
    settings = plan.settings.ladder
    widths = widths_up_to(most, settings.growth)
    n_supported, allowed = rows.n_independent / (d + 2), _allowed_work(scores, form, rows, plan)
    # Single rows decide the largest error: what wide networks gain shows later.
    patience = (2 if singles_out_rows(plan.loss) else 1) * settings.patience
    for i, width in enumerate(widths):
        if work(len(rows), d, widths[: i + 1]) > allowed:
            return
        yield Candidate(NETWORK, width, form=form.name)
        if scores.training_errors[-1] <= max(plan.limits.tol, ZERO_RESIDUAL) and plan.takes_last:
            return
        if not plan.takes_last and scores.stops(form.name, d, n_supported, patience):
            return


def _allowed_work(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> float:
    """Return how much work networks of a form may take, beside those of one layer."""
    first = single_networks(scores.candidates, ONE_LAYER)
    if form.name in (ONE_LAYER, CLIPPED) or not first or plan.takes_last:
        return np.inf
    settings = plan.settings.depth
    taken = work(len(rows), rows.n_features, [c.width for c in first])
    return max(settings.least_work, settings.times_work * taken)


def _averages(
    scores: CandidateScores, chosen: Candidate, rows: Rows, plan: Plan
) -> Iterator[Candidate]:
    """Yield averages of networks of the chosen width, and of wider ones while these help.

    An average varies less than a single network, and so it may be wider.
    """
    settings, asked = plan.settings.ladder, plan.n_networks
    if asked == 1 or rows.n_features == 1 or chosen.n_networks > 1:
        return  # with one input, two networks would be the same
    least, most = settings.rows_averaged
    if asked is None and (not least <= len(rows) <= most or plan.takes_last):
        return
    most = plan.limits.max_neurons
    if plan.takes_last:
        assert asked is not None
        yield replace(chosen, width=most // asked, n_networks=asked)
        return
    grown = sorted(c.width for c in single_networks(scores.candidates, chosen.form))
    if asked is not None:
        for width in [width for width in grown if asked * width <= most]:
            yield replace(chosen, width=width, n_networks=asked)
        return
    # Four vary less than two, but where nodes are few, two may be wide enough and four are not.
    widest = max((width for width in grown if 4 * width <= most), default=0)
    n = 4 if 2 * widest >= chosen.width else 2
    possible = [width for width in grown if n * width <= most]
    wide = [width for width in possible if width >= chosen.width]
    for width in (wide or possible[-1:])[: settings.n_averaged]:
        yield replace(chosen, width=width, n_networks=n)
        if scores.scores[-1] >= min(scores.scores[:-1]):
            return


def n_effective(rows: Rows) -> float:
    """Return the number of rows of equal weight that carry as much information.

    `(sum w)^2 / sum w^2`, or the number of copies that rows stand for.
    """
    if rows.weights is None or rows.effective_size is not None:
        return rows.n_independent
    share = rows.weights / rows.weights.max()
    return float(share.sum() ** 2 / np.sum(share**2))


def has_few_rows(rows: Rows, plan: Plan) -> bool:
    """Whether there are few rows beside the inputs of a network without a given shape."""
    least = plan.settings.ladder.rows_per_input * (rows.n_features + 1)
    return len(rows) < least and plan.linear_term and plan.shape is None


def work(n_rows: int, n_features: int, widths: Sequence[int]) -> float:
    """Return the number of multiplications in a step of the corrections of each width."""
    sizes = [width * (n_features + 1) for width in widths]
    return float(sum(n_rows * size * min(size, MAX_BLOCK) for size in sizes))
