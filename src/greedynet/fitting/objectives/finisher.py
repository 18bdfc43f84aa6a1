"""`Finisher`: correct a grown network, prune it, exchange neurons, and correct on all rows.

The growth adds one neuron at a time and never revises it. Here the neurons are corrected jointly,
and a change is accepted only if it improves the score, on validation rows or by generalised
cross-validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from greedynet.activations import degree_of
from greedynet.correction.all_rows.inner_weights import corrected_on_all_rows
from greedynet.correction.all_rows.passes import Passes
from greedynet.correction.outer_solver import DEPENDENT, OuterSolver
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.fitting.problem import Problem
from greedynet.fitting.pruning import prune
from greedynet.fitting.settings import LeastSquaresSettings
from greedynet.model.network import ShallowNetwork
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples
from greedynet.support.checks import safe_norm
from greedynet.support.context import FitContext
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
    """

    problem: Problem
    rows: Rows
    passes: Passes | None
    context: FitContext

    @staticmethod
    def of(problem: Problem) -> "Finisher":
        """Return the finisher of a problem."""
        passes, samples = None, problem.samples
        if isinstance(samples, RandomSamples):
            passes = Passes(samples, problem.settings.blocks, problem.passes)
        return Finisher(problem, problem.rows_of(2), passes, problem.context.branch("finish"))

    @cached_property
    def _affine(self) -> Float64:
        return self.problem.coordinates.affine_columns(self.rows)

    @property
    def _settings(self) -> LeastSquaresSettings:
        return self.problem.settings.least_squares

    @property
    def times(self) -> int:
        """Factor of the number of steps: a smooth objective benefits from more."""
        smooth = degree_of(self.problem.plan.activation) != 1
        return self._settings.smooth_times if smooth else 1

    def start(
        self, points: Float64, turn: int = 0, ridge: float | None = None
    ) -> VariableProjection:
        """Return the network of given neurons, before any correction."""
        return VariableProjection(
            self.rows,
            self._affine,
            points,
            ridge,
            activation=self.problem.plan.activation,
            context=self.context.branch(f"network {turn}"),
        )

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
        state = self.start(points, turn)
        self.context.tell(f"correcting {len(points)} neurons")
        state.settle(self.times * self._settings.steps)
        if state.n_neurons > most:
            state = self._settled(state.without(most))
        if self.problem.is_exact:
            return state
        return prune(state, self._narrowed, lambda s: self.score([s]), self._settings.pruning)

    def _narrowed(self, state: VariableProjection, n_neurons: int) -> VariableProjection:
        self.context.tell(f"pruning: {n_neurons} neurons")
        return self._settled(state.without(n_neurons))

    def _settled(self, state: VariableProjection) -> VariableProjection:
        return state.settle(self.times * self._settings.steps_after_pruning)

    def exchange(self, state: VariableProjection) -> VariableProjection:
        """Exchange neurons for better ones, as long as the score decreases sufficiently."""
        n, settings = state.n_neurons, self._settings
        size = n * self.rows.X.shape[1]
        cost = len(self.rows) * size * min(size, MAX_BLOCK)
        n_exchanges = settings.n_exchanges if n and cost < settings.max_exchange_cost else 0
        for i in range(n_exchanges):
            self.context.tell(f"exchanging some of {n} neurons, {i + 1} of at most {n_exchanges}")
            n_more = max(1, int((settings.overgrowth - 1) * n))
            more = self.problem.more_neurons(state.points, n_more, i)
            if len(more) == n:
                break
            tried = self._settled(state.at(more))
            for left in (n + (len(more) - n) // 2, n):
                tried = self._settled(tried.without(left))
            self._settled(tried)
            before, after = self.score([state]), self.score([tried])
            if after < before:
                state = tried
            if not after < settings.worth_exchange * before:
                break
        return state

    def refill(self, state: VariableProjection, n_neurons: int) -> VariableProjection:
        """Replace neurons that became dead or duplicates in a correction by new ones."""
        factor = self.problem.coordinates.factor(self.rows, DEPENDENT)
        kept = state.alive
        kept[kept] = [factor.append(column) for column in state.columns[:, kept].T]
        missing = n_neurons - int(np.count_nonzero(kept))
        if missing <= 0:
            return state
        cycle = self._settings.n_exchanges
        return state.at(self.problem.more_neurons(state.points[kept], missing, cycle))

    def converge(self, state: VariableProjection) -> VariableProjection:
        """Correct to convergence if the training error is tiny."""
        if self.error([state]) > self._settings.converged_below:
            return state
        self.context.tell(f"correcting {state.n_neurons} neurons to convergence")
        further = state.at(state.points)
        further.settle(self._settings.steps_to_converge)
        return further if self.score([further]) < self.score([state]) else state

    def on_all_rows(self, states: Sequence[VariableProjection]) -> Sequence[VariableProjection]:
        """Correct the neurons of all networks, as one, on all rows if rows were sampled."""
        plan, coordinates = self.problem.plan, self.problem.coordinates
        if self.passes is None or plan.alpha is not None:
            return states
        points = np.concatenate([state.points[state.alive] for state in states])
        ridge = float(np.mean([state.ridge for state in states]))
        state = VariableProjection(self.rows, self._affine, points, ridge, plan.activation)
        n_tries = self._settings.n_tries_on_all_rows
        many = self.passes.many
        return [corrected_on_all_rows(state, many, coordinates, plan.activation, n_tries)]

    def score(self, states: Sequence[VariableProjection]) -> float:
        """Score the mean of some networks: relative error on the validation rows, or mean GCV."""
        if self.problem.validation is None:
            return float(np.mean([state.gcv for state in states])) * self.rows.Y.shape[1]
        return self._error(states, self.problem.validation)

    def error(self, states: Sequence[VariableProjection]) -> float:
        """Relative error on the training rows of the mean of some networks."""
        return self._error(states, self.rows)

    def _error(self, states: Sequence[VariableProjection], rows: Rows) -> float:
        affine = self.problem.coordinates.affine.evaluate(rows.X)
        mean = np.mean([state.predict(rows.X, affine) for state in states], axis=0)
        size = safe_norm(rows.weighted(rows.Y)) or 1.0
        return safe_norm(rows.weighted(rows.Y - mean)) / size

    def network(self, states: Sequence[VariableProjection]) -> ShallowNetwork:
        """Return the mean of some networks, outer weights solved on all rows."""
        return self._solver.network(states)

    def solved(self, points: Float64) -> ShallowNetwork:
        """Return the network of given neurons, outer weights solved on all rows."""
        return self._solver.solved(points)

    @property
    def _solver(self) -> OuterSolver:
        plan = self.problem.plan
        return OuterSolver(
            self.problem.coordinates,
            self.rows,
            plan.activation,
            plan.single_output,
            plan.alpha,
            self.passes,
        )
