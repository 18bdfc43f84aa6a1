"""`SquaresGrowth`: networks of least squares, with all neurons corrected after every width.

The plain growth never revises a neuron. Here new neurons are searched on the residual of a network
that has been corrected jointly, and the width grows by a factor, so that all widths together cost
little more than the last. The chosen network is corrected on all rows, where some of its neurons
are *exchanged*: more are grown, and as many removed that early ones were needed for.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import ReLU, degree_of
from greedynet.correction.all_rows.inner_weights import corrected_on_all_rows
from greedynet.correction.shaped import ShapedProjection
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.growth import Growth, Line, Start, State
from greedynet.fitting.make_search import dependent, least_active, unit
from greedynet.fitting.problem import Problem
from greedynet.model.candidate import MEAN, NETWORK, Candidate
from greedynet.model.coordinates import in_shape
from greedynet.model.network import Network
from greedynet.rows.affine import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.search.batch import SignedSearch
from greedynet.search.sphere import directions
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# More than a growth has widths: turns of different networks do not meet.
TURNS = 1_000
# Rows are met, and worth a correction to convergence, below this relative error, by so many steps;
# so many inner weights take no time.
MET, TO_CONVERGE, QUICK = 1e-3, 20, 200


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
        for turn in range(10):
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
    _last: tuple[Neurons, VariableProjection] | None = None

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
        return Neurons(np.empty((0, self.problem.rows.n_features + 1)), None)

    def _grown(self, before: Neurons, n_neurons: int, turn: int) -> Neurons:
        state = self.at(before)
        turn += TURNS * self.turn
        points = self._with_more(state, n_neurons - state.n_neurons, turn)
        if points is None:
            return self._filled(before, n_neurons)
        # A wider network begins with a hundredth of the ridge, which rises again with the evidence:
        # from above, it would take what a narrow network lacks for noise, and new neurons die. The
        # penalty of smoother neurons grows with higher powers of their weights. The ridge of the
        # affine term alone says nothing about neurons.
        kept = 0.01 ** (degree_of(self.problem.plan.activation) or 1)
        wider = self._new(Neurons(points, kept * state.ridge if state.n_neurons else None))
        found = self._neurons(self._converged(self._settled(wider)))
        return self._filled(found, n_neurons)

    def refitted(self, candidate: Candidate, start: Start, fold: Problem) -> State:
        """Return a network of a fold, corrected on these rows, or on all that these represent."""
        if candidate.width == 0:
            return self.line(candidate.kind)
        problem, state = self.problem, start(candidate)
        problem.context.tell(f"correcting {len(state.points)} neurons on all rows")
        if problem.passes is not None:
            return self._filled(self._on_all_rows(state), candidate.width)
        found = self._settled(self._new(state))
        for turn in range(problem.settings.correction.n_exchanges):
            if problem.context.clock.is_over():
                break
            before, tried = found, self._exchanged(found, TURNS - 1 - turn)
            found = tried if self._score(tried) < self._score(found) else found
            # Another one follows where there is little noise: one that is worth it.
            if self._score(tried) > 0.9 * self._score(before):
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
        """Grow a fifth more neurons, and remove as many of all, in two steps."""
        n = state.n_neurons
        more = self._with_more(state, max(1, (n - 1) // 5), turn)
        if more is None:
            return state
        tried = state.at(more).settle(3 * self._times)
        return tried.without(n).settle(3 * self._times)

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
        return self._neurons(
            self._new(Neurons(points, ridge if is_first else min(ridge / 10, 1.0)))
        )

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
        problem = self.problem
        if problem.shape is None:
            return problem.projection(problem.rows, self._affine, *neurons)
        return ShapedProjection(
            problem.rows,
            self._affine,
            neurons.points,
            problem.shape,
            neurons.ridge,
            problem.plan.activation,
            context=problem.context,
            max_block=problem.settings.correction.max_block,
        )

    def _neurons(self, state: VariableProjection) -> Neurons:
        return Neurons(np.ascontiguousarray(state.points), float(state.ridge))

    @property
    def _times(self) -> int:
        """Factor of the number of steps: a smooth objective, without kinks, benefits from more."""
        return 4 if degree_of(self.problem.plan.activation) != 1 else 1

    def _settled(self, state: VariableProjection) -> VariableProjection:
        """Correct, until a step lowers the objective by less than 2 %."""
        return state.settle(self._times * self.problem.settings.correction.steps, 0.02)

    def _converged(self, state: VariableProjection) -> VariableProjection:
        """Correct to convergence if the training error is tiny.

        Not where there are more weights than rows, unless it takes no time: rows that any network
        of the width can meet deserve none.
        """
        rows = self.problem.rows
        if state.points.size > max(rows.n_independent, QUICK):
            return state
        size = safe_norm(rows.weighted(rows.Y)) or 1.0
        if np.sqrt(state.error) / size > MET or self.problem.context.clock.is_over():
            return state
        further = state.at(state.points).settle(TO_CONVERGE)
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
        plan = self.problem.plan
        solver = self.problem.outer_solver(plan.alpha)
        network = solver.network([self.at(state) for state in states])
        return network if plan.shape is None else in_shape(network, plan.shape)

    def ridge(self, candidate: Candidate, states: Sequence[State], fold: Problem) -> float | None:
        """Return the ridge that was given, or that of the corrections; None without neurons."""
        found, given = super().ridge(candidate, states, fold), self.problem.plan.alpha
        return found if given is None or candidate.width == 0 else given

    def _carried(self, state: Neurons, inputs: InputScaling) -> Neurons:
        return Neurons(self.problem.carried(state.points, inputs), state.ridge)

    def loss(self, state: Neurons) -> float:
        """Return the squared error on these rows and the penalty."""
        return self._new(state).objective

    def training_error(self, states: Sequence[State]) -> float:
        """Return the relative error on these rows."""
        if len(states) > 1 or isinstance(states[0], Line):
            return super().training_error(states)
        rows = self.problem.rows
        return float(np.sqrt(self.at(states[0]).error)) / (safe_norm(rows.weighted(rows.Y)) or 1.0)
