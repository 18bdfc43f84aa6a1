"""`Reweighted`: other losses, by iteratively reweighted least squares.

At its minimum, a loss `sum_i L(r_i)` has the derivatives of `sum_i v_i r_i^2`, up to a factor, with

    v_i = L'(r_i) / r_i.

So every width searches its new neurons on rows as weighted by the residuals of the one before, and
corrects all neurons while the weights follow from the residuals. The first weights are those of a
line with a ridge, which is found in the same way. If the weights would single out few rows, as for
the maximum norm and for powers above 2, networks are those of least squares, further corrected with
such weights, and their outer weights are solved by the loss itself.

A robust loss is meant for data with outliers. Rows beyond ten robust standard deviations affect
only the intercept, as little as the loss permits: neurons and ridge are chosen without them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.outer_solver import DEPENDENT
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.forms import Form
from greedynet.fitting.measures import Measure, OfLoss
from greedynet.fitting.objective import Growth, Line, State
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem, coordinates_of
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.squares import (
    CorrectedGrowth,
    LeastSquares,
    Neurons,
    SquaresGrowth,
    has_few_rows,
)
from greedynet.linalg.weights import outer_weights
from greedynet.losses import Loss
from greedynet.losses.base import LossFactor, is_robust, singles_out_rows
from greedynet.losses.solvers import reweighting, row_weights, weighted_median
from greedynet.model.candidate import LINE, MEAN, Candidate, widths_up_to
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm, RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.support.types import Float64

# Ratio of the standard deviation to the median absolute value, for normal numbers.
_DEVIATION = 1.4826


class Weighted(NamedTuple):
    """Neurons, the ridge, weights of affine columns and neurons, and residuals of scaled rows."""

    points: Float64
    ridge: float | None
    weights: Float64
    residuals: Float64


class LossGrowth(CorrectedGrowth):
    """Networks for another loss on the rows of a problem, of one output."""

    state_type = Weighted

    def line(self, kind: str) -> Line:
        """Return the best constant, or a line with a ridge, for the loss."""
        rows, plan = self.problem.rows, self.problem.plan
        if not plan.linear_term:
            return Line(np.zeros((rows.n_features, 1)), np.zeros(1))
        if kind == MEAN:
            linear, intercept = np.zeros((rows.n_features, 1)), np.zeros(1)
        else:
            line = reweighted_line(rows, self.problem.plan.loss, plan)
            linear, intercept = line.linear, line.intercept
        shift = self._shift(rows.Y - rows.X @ linear - intercept)
        return Line(linear, intercept + shift)

    def _none(self) -> Weighted:
        """Return the line, from whose residuals the first neurons follow."""
        rows, r = self.problem.rows, self.problem.coordinates.n_affine
        line = self.line(LINE)
        residuals = rows.Y - rows.X @ line.linear - line.intercept
        return Weighted(np.empty((0, rows.n_features + 1)), None, np.zeros((r, 1)), residuals)

    def _grown(self, before: Weighted, n_neurons: int, turn: int) -> Weighted:
        points = self._with_more(before, n_neurons, turn)
        if len(points) == len(before.points):
            return before
        return self._filled(self._corrected(before._replace(points=points)), n_neurons)

    def _with_more(self, before: Weighted, n_neurons: int, turn: int) -> Float64:
        """Return the neurons and new ones, half of them searched by squares, half by the loss.

        Weighted rows show what the loss lacks, such as a spread that is not constant. But rows that
        happen to be met have most of the weight, and hide structure that squares show.
        """
        rows, points, near = self.problem.rows, before.points, self._near(before.residuals)
        n_more = n_neurons - len(points)
        weighted = weighted_rows(rows, before.residuals, self.problem.plan.loss)
        n_by_squares = (n_more + turn % 2) // 2
        parts = ((n_by_squares, rows), (n_more - n_by_squares, weighted))
        for i, (n, of_part) in enumerate(parts):
            if n > 0:
                shown = of_part.take(np.flatnonzero(near))
                points = self.problem.more_neurons(points, n, 2 * turn + i, shown)
        return points

    def _useful(self, state: Weighted) -> Float64:
        return state.points[state.weights[self.problem.coordinates.n_affine :].any(axis=1)]

    def _with_points(
        self, points: Float64, state: Weighted, first: Weighted, *, is_first: bool
    ) -> Weighted:
        assert state.ridge is not None
        wider = state._replace(points=points, ridge=state.ridge if is_first else state.ridge / 10)
        near, floor = self._near(first.residuals), self.problem.settings.reweighting.last_floor
        return self._shifted(self._with_state(wider, self._at(wider, near, floor)))

    def _near(self, residuals: Float64) -> NDArray[np.bool_]:
        """Whether rows are not outliers; all are kept unless the loss is robust."""
        size, settings = np.abs(residuals[:, 0]), self.problem.settings.reweighting
        if not is_robust(self.problem.plan.loss) or len(size) < settings.min_rows:
            return np.ones(len(size), dtype=bool)
        median = weighted_median(size, self.problem.rows.weights)
        far = size > settings.outlier * _DEVIATION * median
        return ~far if np.mean(far) < settings.max_outliers else np.ones_like(far)

    def _corrected(self, state: Weighted) -> Weighted:
        """Correct all neurons while the row weights follow from the residuals."""
        settings, near = self.problem.settings.reweighting, self._near(state.residuals)
        for floor in np.geomspace(1.0, settings.last_floor, settings.n_rounds):
            found = self._at(state, near, float(floor)).settle(settings.steps_a_round)
            state = self._with_state(state, found)
        return self._converged(self._shifted(state))

    def _converged(self, state: Weighted) -> Weighted:
        """Correct by squares to convergence if rows are met: all losses have the same minimum."""
        settings, rows = self.problem.settings.correction, self.problem.rows
        is_met = self.loss(state) < settings.converged_below * self.problem.plan.loss.size(
            rows.Y, rows.weights
        )
        if not is_met or state.points.size > settings.always_converged:
            return state
        found = self._on(rows, state, self._near(state.residuals))
        tried = self._shifted(self._with_state(state, found.settle(settings.steps_to_converge)))
        return tried if self.loss(tried) < self.loss(state) else state

    def _at(self, state: Weighted, near: NDArray[np.bool_], floor: float) -> VariableProjection:
        """Return the neurons on weighted rows."""
        weighted = weighted_rows(self.problem.rows, state.residuals, self.problem.plan.loss, floor)
        return self._on(weighted, state, near)

    def _on(self, rows: Rows, state: Weighted, near: NDArray[np.bool_]) -> VariableProjection:
        """Return the neurons on rows that are not outliers."""
        problem, rows = self.problem, rows if near.all() else rows.take(np.flatnonzero(near))
        return VariableProjection(
            rows,
            problem.coordinates.affine_columns(rows),
            state.points,
            state.ridge,
            problem.plan.activation,
            context=problem.context,
            max_block=problem.settings.correction.max_block,
        )

    def _with_state(self, state: Weighted, found: VariableProjection) -> Weighted:
        rows = self.problem.rows
        affine = self.problem.coordinates.affine.evaluate(rows.X)
        residuals = rows.Y - found.predict(rows.X, affine)
        points = np.ascontiguousarray(found.points)
        return Weighted(points, float(found.ridge), found.weights.copy(), residuals)

    def _shift(self, residuals: Float64) -> Float64:
        """Return the constant that is best for the loss of residuals."""
        rows = self.problem.rows
        return np.asarray(
            self.problem.plan.loss.fit(np.ones((len(rows), 1)), residuals, rows.weights).weights[0]
        )

    def _shifted(self, state: Weighted) -> Weighted:
        """Return a network with the intercept that is best for the loss, if it has one."""
        if not self.problem.plan.linear_term:
            return state
        by, weights = self._shift(state.residuals), state.weights.copy()
        # The first affine column is a constant.
        weights[0] += by / self.problem.coordinates.affine.to_weights[-1, 0]
        return state._replace(weights=weights, residuals=state.residuals - by)

    def refitted(
        self, candidate: Candidate, start: Callable[[Candidate], State], of_fold: Problem
    ) -> State:
        """Return the candidate, grown again on these rows: row weights of a fold are not theirs."""
        if of_fold is self.problem:
            return start(candidate)
        plan, known = self.problem.plan, dict[Candidate, State]()
        widths = widths_up_to(plan.limits.max_neurons, plan.settings.ladder.growth)
        for width in [width for width in widths if width < candidate.width]:
            self.problem.context.tell(f"growing and correcting {width} neurons on all rows")
            rung = replace(candidate, width=width)
            known[rung] = self.fitted(rung, known)
        return self.fitted(candidate, known)

    def _outputs(self, state: Weighted, X: NDArray[np.floating]) -> Float64:
        sigma, r = self.problem.plan.activation, self.problem.coordinates.n_affine
        affine = self.problem.coordinates.affine.evaluate(X)
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = sigma.value(X @ state.points[:, :-1].T + state.points[:, -1])
            return np.asarray(affine @ state.weights[:r] + hidden @ state.weights[r:])

    def _network(self, states: Sequence[Weighted]) -> Network:
        (state,) = states
        r, coordinates = self.problem.coordinates.n_affine, self.problem.coordinates
        # The best weight of a neuron may be zero: it stays only if the number was asked for.
        kept = state.weights[r:].any(axis=1) | self.problem.plan.needs_all(len(state.points))
        affine = coordinates.affine.to_weights @ state.weights[:r]
        return self.problem.network(state.points[kept], state.weights[r:][kept], affine)

    def _carried(self, state: Weighted, inputs: InputScaling) -> Weighted:
        """Return a network of other rows on these rows, with outer weights for them."""
        points = self.problem.carried(state.points, inputs)
        start = self._none()._replace(points=points, ridge=state.ridge)
        settings = self.problem.settings.reweighting
        for floor in np.geomspace(1.0, settings.last_floor, settings.n_rounds):
            near = self._near(start.residuals)
            start = self._with_state(start, self._at(start, near, float(floor)))
        return self._shifted(start)

    def _loss(self, state: Weighted) -> float:
        return self.problem.plan.loss.size(state.residuals, self.problem.rows.weights)


class ExtremeGrowth(SquaresGrowth):
    """Networks for a loss that singles out rows: least squares, then the loss itself."""

    def _outputs(self, state: Neurons, X: NDArray[np.floating]) -> Float64:
        points, weights = self._solved(state)
        coordinates, sigma = self.problem.coordinates, self.problem.plan.activation
        F = np.hstack(
            [coordinates.affine.evaluate(X), sigma.value(X @ points[:, :-1].T + points[:, -1])]
        )
        return np.asarray(F @ weights)

    def line(self, kind: str) -> Line:
        """Return the best constant, or the best line, for the loss."""
        rows, loss = self.problem.rows, self.problem.plan.loss
        A = self.problem.coordinates.affine.evaluate(rows.X)
        if kind == MEAN or not A.shape[1]:
            found = loss.fit(np.ones((len(rows), 1)), rows.Y, rows.weights).weights
            zeros = np.zeros((rows.n_features, rows.n_outputs))
            return Line(zeros, found[0] if A.shape[1] else 0.0 * found[0])
        affine = (
            self.problem.coordinates.affine.to_weights @ loss.fit(A, rows.Y, rows.weights).weights
        )
        return Line(affine[:-1], affine[-1])

    def _network(self, states: Sequence[Neurons]) -> Network:
        (state,) = states
        points, weights = self._solved(state)
        as_weighted = Weighted(points, state.ridge, weights, np.empty((0, 1)))
        return LossGrowth(self.problem).network([as_weighted])

    def _solved(self, neurons: Neurons) -> tuple[Float64, Float64]:
        """Return the neurons, corrected with weights on large residuals, and their outer weights.

        Of the corrections, the one with the smallest loss is taken.
        """
        if self._solution is None or self._solution[0] is not neurons:
            found = [self._by_loss(points) for points in (neurons.points, self._extreme(neurons))]
            # Neurons that became dependent are missing.
            n_missed = [len(neurons.points) - len(points) for points, _, _ in found]
            if not self.problem.plan.needs_all(len(neurons.points)):
                n_missed = [0, 0]
            best = min(zip(n_missed, found, strict=True), key=lambda both: (both[0], both[1][2]))[1]
            self._solution = neurons, best[0], best[1]
        return self._solution[1], self._solution[2]

    _solution: tuple[Neurons, Float64, Float64] | None = None

    def _extreme(self, neurons: Neurons) -> Float64:
        """Return the neurons after steps with weights that grow with the residuals."""
        problem, settings = self.problem, self.problem.settings.reweighting
        rows, weighting = problem.rows, reweighting(problem.plan.loss)
        affine = problem.coordinates.affine.evaluate(rows.X)
        state = self.at(neurons)
        best = (np.inf, state.points)
        for _ in range(2 * settings.n_rounds):
            residuals = (rows.Y - state.predict(rows.X, affine))[:, 0]
            best = min(best, (float(np.abs(residuals).max()), state.points), key=lambda b: b[0])
            if not residuals.any():
                break
            weighted = Rows(rows.X, rows.Y, weighting(residuals, rows.weights))
            state = VariableProjection(
                weighted,
                problem.coordinates.affine_columns(weighted),
                state.points,
                state.ridge,
                problem.plan.activation,
                context=problem.context,
            ).settle(settings.steps_a_round)
            if state.dof > len(rows) / 2:
                break  # residuals are not those of a fit any more
        return np.ascontiguousarray(best[1])

    def _by_loss(self, points: Float64) -> tuple[Float64, Float64, float]:
        """Return neurons that are independent, weights that minimise the loss, and the loss."""
        problem, plan = self.problem, self.problem.plan
        rows, coordinates = problem.rows, problem.coordinates
        factor = LossFactor(rows.Y, rows.weights, plan.loss, DEPENDENT)
        coordinates.begun(factor, rows)
        columns = coordinates.neuron_columns(rows, points, plan.activation)
        kept = [i for i, column in enumerate(columns.T) if factor.append(column)]
        weights = outer_weights(factor.R, factor.z, 0.0, coordinates.n_affine)
        return points[kept], weights, plan.loss.size(factor.fit.residuals, rows.weights)


class Reweighted(LeastSquares):
    """The sum of a loss over rows, for one output."""

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the losses of held-out rows."""
        return OfLoss(held_out, n_rows, plan.loss)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return the coordinates; for few rows beside the inputs, with the line of the loss."""
        found = coordinates_of(rows, plan, input_range)
        if not has_few_rows(rows, plan) or singles_out_rows(plan.loss):
            return found
        scaled = found.apply(rows)
        # With any intercept: the constant is a column of its own.
        line = reweighted_line(scaled, plan.loss, plan)
        return replace(found, affine=AffineTerm.shrunk(scaled, line))

    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield the same candidates as for least squares, without averages."""
        return super().candidates(scores, forms, rows, replace(plan, n_networks=1))

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        if singles_out_rows(problem.plan.loss):
            return ExtremeGrowth(problem, turn)
        return LossGrowth(problem, turn)


def reweighted_line(rows: Rows, loss: Loss, plan: Plan) -> RidgeLine:
    """Return the line with a ridge on rows weighted by its own residuals.

    Residuals below their median are raised to it: rows that a line happens to meet would otherwise
    determine its ridge.
    """
    line = RidgeLine.of(rows)
    for _ in range(2 * plan.settings.reweighting.n_rounds):
        line = RidgeLine.of(weighted_rows(rows, rows.Y - line.predict(rows.X), loss))
    return line


def weighted_rows(rows: Rows, residuals: Float64, loss: Loss, floor: float = 1.0) -> Rows:
    """Return rows weighted by residuals; small ones are raised to a multiple of their median.

    A weight `L'(r) / r` grows without bound as the residual vanishes.
    """
    r = residuals[:, 0]
    least = floor * weighted_median(np.abs(r), rows.weights)
    v = row_weights(loss, r, rows.weights, least)
    return Rows(rows.X, rows.Y, v, rows.effective_size)
