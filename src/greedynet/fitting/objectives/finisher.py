"""`Finisher`: correct a grown network, prune it, exchange neurons, and correct on all rows.

The growth adds one neuron at a time and never revises it. Here the neurons are corrected jointly,
and a change is accepted only if it improves the score, on validation rows or by generalised
cross-validation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from greedynet.activations import ReLU, degree_of
from greedynet.correction.all_rows.inner_weights import corrected_on_all_rows
from greedynet.correction.all_rows.passes import Passes
from greedynet.correction.evidence import gcv
from greedynet.correction.outer_solver import DEPENDENT, OuterSolver
from greedynet.correction.shaped import ShapedProjection
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import best_width
from greedynet.fitting.make_search import least_active, unit
from greedynet.fitting.problem import Problem
from greedynet.fitting.pruning import prune
from greedynet.fitting.settings import LeastSquaresSettings
from greedynet.model.network import ShallowNetwork
from greedynet.model.shaped import in_shape
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples
from greedynet.search.directions import directions
from greedynet.search.signed import SignedSearch
from greedynet.support.checks import safe_norm
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.threads import Pool
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Finisher:
    """Finishes a grown network.

    Attributes
    ----------
    problem : Problem
    rows : Rows
        Scaled training rows; for large data, a different sample than that of the growth.
    passes : Passes or None
        Sums over all rows, if `rows` are a sample.
    context : FitContext
    judging : Rows or None
        Scaled rows on which networks are compared; None for generalised cross-validation.
    """

    problem: Problem
    rows: Rows
    passes: Passes | None
    context: FitContext
    judging: Rows | None

    @staticmethod
    def of(problem: Problem, turn: int = 0) -> "Finisher":
        """Return the finisher of a problem; those of several turns have journals of their own."""
        passes, samples = None, problem.samples
        if isinstance(samples, RandomSamples):
            passes = Passes(samples, problem.settings.blocks, problem.passes)
        context = problem.context.branch(f"finish {turn}" if turn else "finish")
        return Finisher(problem, problem.rows_of(2), passes, context, problem.validation)

    def on(self, pool: Pool) -> "Finisher":
        """Return the same finisher with other threads."""
        return replace(self, context=replace(self.context, pool=pool))

    @cached_property
    def _affine(self) -> Float64:
        return self.problem.solving.affine_columns(self.rows)

    @property
    def _settings(self) -> LeastSquaresSettings:
        return self.problem.settings.least_squares

    @property
    def times(self) -> int:
        """Factor of the number of steps: a smooth objective benefits from more."""
        smooth = degree_of(self.problem.plan.activation) != 1
        return self._settings.smooth_times if smooth else 1

    def prune(self, points: Float64, most: int, turn: int = 0) -> VariableProjection:
        """Correct neurons and remove those that do not help.

        Parameters
        ----------
        points : ndarray of shape (k, d + 1)
            Initial neurons.
        most : int
            Maximum number of neurons to keep; the exact number if the width is fixed.
        turn : int
            Index of the network, if several are pruned in parallel.
        """
        points = points.reshape(-1, self.problem.n_features + 1)
        state = self.state(points, context=self.context.branch(f"network {turn}"))
        self.context.tell(f"correcting {len(points)} neurons")
        state.settle(self.times * self._settings.steps)
        if state.n_neurons > most:
            state = self._settled(state.without(most))
        if self.problem.is_exact:
            return state
        return prune(state, self._narrowed, lambda s: self.score([s]), self._settings.pruning)

    def state(
        self, points: Float64, ridge: float | None = None, context: FitContext | None = None
    ) -> VariableProjection:
        """Return the network of some neurons on the rows."""
        sigma, shape = self.problem.plan.activation, self.problem.shape
        context = context or self.context
        max_block = self._settings.max_block
        if shape is not None:
            return ShapedProjection(
                self.rows,
                self._affine,
                points,
                shape,
                ridge,
                sigma,
                context=context,
                max_block=max_block,
            )
        return VariableProjection(
            self.rows, self._affine, points, ridge, sigma, context=context, max_block=max_block
        )

    def _narrowed(self, state: VariableProjection, n_neurons: int) -> VariableProjection:
        self.context.tell(f"pruning: {n_neurons} neurons")
        return self._settled(state.without(n_neurons))

    def _settled(self, state: VariableProjection) -> VariableProjection:
        return state.settle(self.times * self._settings.steps_after_pruning)

    def with_more(self, state: VariableProjection, n_more: int, turn: int) -> Float64 | None:
        """Return the neurons of a network and new ones; None if there are none."""
        points = state.points
        if isinstance(state, ShapedProjection) and self.problem.plan.activation == ReLU():
            # Half of them for the residual of the shape, half for what any network would leave.
            points = self._with_monotone(state, n_more - n_more // 2, turn)
        n_more -= len(points) - state.n_neurons
        points = self.problem.more_neurons(points, n_more, turn, self.rows)
        return points if len(points) > state.n_neurons else None

    def _with_monotone(self, state: ShapedProjection, n_more: int, turn: int) -> Float64:
        """Return the neurons of a network and new monotone ones for its residual."""
        plan, shape, rows, points = self.problem.plan, state.shape, self.rows, state.points

        def found(journal: Journal) -> tuple[Float64]:
            pool = directions(rows.X, plan.random_state + 2 + turn)
            pool = shape.without_convex(np.concatenate([pool, unit(points[:, :-1])]))
            least = least_active(len(rows), self.problem.n_features, plan)
            search = SignedSearch(rows, shape, least)
            more = search.propose(state.residual, state.free_columns, pool, n_more)
            return (np.concatenate([points, more]),)

        return np.asarray(self.context.journal.once(found)[0])

    def exchange(self, state: VariableProjection) -> VariableProjection:
        """Exchange neurons for better ones, as long as the score decreases sufficiently.

        A choice needs fewer rows than the weights: if there are many, each exchange is made on a
        sample of its own and judged on the other rows. The result is corrected on all rows.
        """
        n_rows = self._n_rows_exchanged(state.points.size)
        if n_rows == len(self.rows):
            return self._exchanged(state, lambda _: self)
        exchanged = self._exchanged(state, partial(self._on_sample, n_rows))
        if exchanged is state:
            return state
        tried = self.state(exchanged.points, state.ridge)
        tried.settle(self.times * self._settings.steps)
        return tried if self.score([tried]) < self.score([state]) else state

    def _n_rows_exchanged(self, n_weights: int) -> int:
        """Return the number of rows on which neurons are exchanged: a sample, or all.

        All rows give somewhat better neurons, so a sample must save much, or make it possible.
        """
        settings, n = self._settings, len(self.rows)
        wanted = max(settings.min_rows_exchanged, settings.rows_per_weight * n_weights)
        times = 4 if _cost(n, n_weights) < settings.max_exchange_cost else 2
        return wanted if times * wanted <= n else n

    def _on_sample(self, n_rows: int, turn: int) -> "Finisher":
        """Return the finisher of a sample of the rows, judged on the others."""
        n = len(self.rows)
        order = np.random.default_rng([self.problem.plan.random_state, turn]).permutation(n)
        chosen, others = np.sort(order[:n_rows]), np.sort(order[n_rows:])
        size = n_rows / n * self.rows.n_independent
        rows = replace(self.rows.take(chosen), effective_size=size)
        judging = self.rows.take(others) if self.judging is None else self.judging
        return replace(self, rows=rows, judging=judging)

    def _exchanged(
        self, state: VariableProjection, at_turn: Callable[[int], "Finisher"]
    ) -> VariableProjection:
        """Exchange neurons, each time with the finisher of the turn."""
        n, settings = state.n_neurons, self._settings
        size = state.points.size
        cost = _cost(self._n_rows_exchanged(size), size)
        n_exchanges = settings.n_exchanges if n and cost < settings.max_exchange_cost else 0
        for i in range(n_exchanges):
            if self.context.clock.is_over():
                break
            self.context.tell(f"exchanging some of {n} neurons, {i + 1} of at most {n_exchanges}")
            finisher = at_turn(i)
            start = state if finisher is self else finisher._moved(state)
            tried = finisher.exchanged_once(start, i)
            # The first start has seen the judging rows of a sample: no comparison would be fair.
            is_fair = finisher is self or i > 0
            if not is_fair or finisher.score([tried]) < finisher.score([start]):
                state = tried
            if is_fair and not finisher.is_better([tried], [start], settings.worth_exchange):
                break
        return state

    def _moved(self, state: VariableProjection) -> VariableProjection:
        """Return a network on these rows; the ridge is in proportion to their number."""
        return self.state(state.points, state.ridge * len(self.rows) / state.n_rows)

    def exchanged_once(self, state: VariableProjection, turn: int) -> VariableProjection:
        """Grow more neurons, and remove as many of all, in two steps."""
        n = state.n_neurons
        n_more = max(1, int((self._settings.overgrowth - 1) * n))
        more = self.with_more(state, n_more, turn)
        if more is None:
            return state
        tried = self._settled(state.at(more))
        for left in (n + (len(more) - n) // 2, n):
            tried = self._settled(tried.without(left))
        return self._settled(tried)

    def refill(self, state: VariableProjection, n_neurons: int) -> VariableProjection:
        """Replace neurons that became dead or duplicates in a correction by new ones."""
        factor = self.problem.coordinates.factor(self.rows, DEPENDENT)
        kept = state.alive
        kept[kept] = factor.extend(state.columns[:, kept])
        missing = n_neurons - int(np.count_nonzero(kept))
        if missing <= 0:
            return state
        cycle = self._settings.n_exchanges
        return state.at(self.problem.more_neurons(state.points[kept], missing, cycle, self.rows))

    def converge(self, state: VariableProjection) -> VariableProjection:
        """Correct to convergence if the training error is tiny."""
        if self.error([state]) > self._settings.converged_below or self.context.clock.is_over():
            return state
        self.context.tell(f"correcting {state.n_neurons} neurons to convergence")
        further = state.at(state.points)
        further.settle(self._settings.steps_to_converge)
        return further if self.score([further]) < self.score([state]) else state

    def on_all_rows(self, states: Sequence[VariableProjection]) -> Sequence[VariableProjection]:
        """Correct the neurons of all networks, as one, on all rows if rows were sampled."""
        plan, coordinates = self.problem.plan, self.problem.coordinates
        if self.passes is None or plan.alpha is not None or plan.shape is not None:
            return states
        points = np.concatenate([state.points[state.alive] for state in states])
        ridge = float(np.mean([state.ridge for state in states]))
        state = VariableProjection(self.rows, self._affine, points, ridge, plan.activation)
        n_tries = self._settings.n_tries_on_all_rows
        many = self.passes.many
        return [corrected_on_all_rows(state, many, coordinates, plan.activation, n_tries)]

    def score(self, states: Sequence[VariableProjection]) -> float:
        """Score the mean of some networks: relative error on the judging rows, or GCV.

        The mean of linear fits is one, with the mean of their effective parameters.
        """
        if self.judging is not None:
            return self._error(states, self.judging)
        n = self.rows.n_independent * self.rows.n_outputs
        dof = float(np.mean([state.dof for state in states]))
        return gcv(self._residual(states, self.rows) ** 2, n, dof) * self.rows.n_outputs

    def is_better(
        self,
        states: Sequence[VariableProjection],
        others: Sequence[VariableProjection],
        factor: float,
    ) -> bool:
        """Whether the squared error, by the score, is below a multiple of that of others."""
        power = 1.0 if self.judging is None else 0.5
        return self.score(states) < factor**power * self.score(others)

    def as_grown(self, growth: Growth) -> float:
        """Return the score of the network as grown, plus what is a near-tie.

        On validation rows this is the best of many widths, uncertain by about `1 / sqrt(n)`. GCV
        counts all parameters, and at least `2 log n` for each neuron: the best of `n` lowers the
        squared error of pure noise by that many variances. If these are many, it says nothing.
        """
        problem, settings = self.problem, self._settings
        most, tie = problem.limits.max_neurons, settings.near_tie
        if self.judging is not None and not problem.limits.exact:
            tie = min(max(tie, len(self.judging) ** -0.5), 1 - settings.growth_clearly_better)
            return min(growth.scores[: most + 1]) / (1 - tie)
        is_scored = bool(growth.scores) and not problem.is_exact
        width = best_width(growth.scores[: most + 1]) if is_scored else most
        state = self.state(growth.points[:width])
        n, n_outputs = self.rows.n_independent, self.rows.n_outputs
        searched = problem.coordinates.n_affine * n_outputs + 2 * np.log(n) * state.n_neurons
        state.dof = max(state.dof, float(searched))
        if self.judging is None and state.dof > settings.max_parameters * n * n_outputs:
            return np.inf
        return self.score([state]) / (1 - tie) ** (2 if self.judging is None else 1)

    def error(self, states: Sequence[VariableProjection]) -> float:
        """Relative error on the training rows of the mean of some networks."""
        return self._error(states, self.rows)

    def _error(self, states: Sequence[VariableProjection], rows: Rows) -> float:
        return self._residual(states, rows) / (safe_norm(rows.weighted(rows.Y)) or 1.0)

    def _residual(self, states: Sequence[VariableProjection], rows: Rows) -> float:
        """Norm of the residual of the mean of some networks."""
        affine = self.problem.solving.affine.evaluate(rows.X)
        mean = np.mean([state.predict(rows.X, affine) for state in states], axis=0)
        return safe_norm(rows.weighted(rows.Y - mean))

    def network(self, states: Sequence[VariableProjection]) -> ShallowNetwork:
        """Return the mean of some networks, outer weights solved on all rows."""
        network, shape = self._solver.network(states), self.problem.plan.shape
        return network if shape is None else in_shape(network, shape)

    def solved(self, points: Float64) -> ShallowNetwork:
        """Return the network of given neurons, outer weights solved on all rows."""
        return self._solver.solved(points)

    @property
    def _solver(self) -> OuterSolver:
        plan = self.problem.plan
        return OuterSolver(
            self.problem.solving,
            self.rows,
            plan.activation,
            plan.single_output,
            plan.alpha,
            self.passes,
            self.problem.shape,
        )


def _cost(n_rows: int, n_weights: int) -> float:
    """Return the number of multiplications in a correction step."""
    return float(n_rows * n_weights * min(n_weights, MAX_BLOCK))
