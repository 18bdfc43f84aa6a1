"""`LossGrowth`: a network for another loss that grows in stages, on rows weighted by residuals.

As `StagedGrowth` for least squares. The weights `v_i = L'(r_i) / r_i` of a loss follow from the
residuals; so each stage searches its new neurons on the rows as weighted by the stage before, and
corrects all neurons while the weights are updated. The first weights are those of a line with a
ridge, which is found in the same way.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.outer_solver import OuterSolver
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.limits import Limits
from greedynet.fitting.objectives.following import best_shift, shifted
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.staged import Staged
from greedynet.losses import Loss, Squared
from greedynet.losses.base import is_robust
from greedynet.losses.median import weighted_median
from greedynet.losses.reweighting import row_weights
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import ShallowNetwork
from greedynet.rows.affine import AffineTerm
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.types import Float64

# Ratio of the standard deviation to the median absolute value, for normal numbers.
_DEVIATION = 1.4826


def line_for_loss(
    rows: Rows, loss: Loss, n_rounds: int, journal: Journal = NO_JOURNAL
) -> RidgeLine:
    """Return the line with a ridge for a loss and one output, with the best intercept."""
    line = _reweighted_line(rows, loss, n_rounds)
    by = best_shift(rows.Y - line.predict(rows.X), rows, loss, journal)
    return replace(line, intercept=line.intercept + by)


def _reweighted_line(rows: Rows, loss: Loss, n_rounds: int) -> RidgeLine:
    """Return the line with a ridge on rows weighted by its own residuals.

    Residuals below their median are raised to it: rows that a line happens to meet would otherwise
    determine its ridge.
    """
    line = RidgeLine.of(rows)
    for _ in range(n_rounds):
        line = RidgeLine.of(_weighted(rows, rows.Y - line.predict(rows.X), loss))
    return line


def _weighted(rows: Rows, residuals: Float64, loss: Loss, floor: float = 1.0) -> Rows:
    """Return rows weighted by residuals; small ones are raised to a multiple of their median.

    A weight `L'(r) / r` grows without bound as the residual vanishes.
    """
    r = residuals[:, 0]
    least = floor * weighted_median(np.abs(r), rows.weights)
    v = row_weights(loss, r, rows.weights, least)
    return Rows(rows.X, rows.Y, v, rows.effective_size)


@dataclass(frozen=True)
class StagedForLoss(Staged):
    """Least squares on weighted rows, for networks that grow in stages for a loss.

    Attributes
    ----------
    loss : Loss
    """

    loss: Loss = Squared()

    def coordinates(self, rows: Rows, plan: Plan) -> Coordinates:
        """Return the coordinates; for few rows beside the inputs, with the line of the loss."""
        found = super(Staged, self).coordinates(rows, plan)
        if not self.shrunk:
            return found
        scaled = found.apply(rows)
        # With any intercept: the constant is a column of its own.
        line = _reweighted_line(scaled, self.loss, plan.settings.reweighting.n_rounds)
        return replace(found, affine=AffineTerm.shrunk(scaled, line))


def staged_problem(rows: Rows, plan: Plan, shrunk: bool, context: FitContext) -> Problem:
    """Return the problem on which networks for the loss of a plan grow in stages."""
    objective = StagedForLoss(shrunk, plan.loss)
    limits = Limits(plan.limits.max_neurons)
    of_stages = replace(plan, limits=limits, gcv=False, loss=Squared(), correct=True)
    return Problem(TrainingData(rows), of_stages, objective, None, context)


class LossGrowth:
    """Networks of increasing width for a loss.

    Parameters
    ----------
    problem : Problem
        Of `staged_problem`.
    loss : Loss
    """

    def __init__(self, problem: Problem, loss: Loss) -> None:
        self._problem, self._loss = problem, loss
        self._settings = problem.settings.reweighting
        self._points = np.empty((0, problem.n_features + 1))
        self._ridge: float | None = None
        self._n_stages = 0
        rows, self._residuals = problem.rows, problem.rows.Y
        self.line: RidgeLine | None = None
        if problem.plan.linear_term:
            journal = problem.context.journal
            self.line = line_for_loss(rows, loss, self._settings.n_rounds, journal)
            self._residuals = rows.Y - self.line.predict(rows.X)

    def advance(self, n_neurons: int) -> bool:
        """Grow to a number of neurons and correct all; False if no neuron can be added."""
        near = self._near()
        points = self._with_more(n_neurons - len(self._points), near)
        if len(points) == len(self._points):
            return False
        self._points, self._n_stages = points, self._n_stages + 1
        self._correct(near)
        return True

    def _with_more(self, n_more: int, near: NDArray[np.bool_]) -> Float64:
        """Return the neurons and new ones, half of them searched by squares, half by the loss.

        Weighted rows show what the loss lacks, such as a spread that is not constant. But rows that
        happen to be met have most of the weight, and hide structure that squares show.
        """
        rows, points = self._problem.rows, self._points
        weighted = _weighted(rows, self._residuals, self._loss)
        turn = self._n_stages
        n_by_squares = (n_more + turn % 2) // 2
        parts = ((n_by_squares, rows), (n_more - n_by_squares, weighted))
        for i, (n, of_part) in enumerate(parts):
            if n > 0:
                shown = of_part.take(np.flatnonzero(near))
                points = self._problem.more_neurons(points, n, 2 * turn + i, shown)
        return points

    def _near(self) -> NDArray[np.bool_]:
        """Whether rows are not outliers; all are kept unless the loss is robust."""
        size = np.abs(self._residuals[:, 0])
        if not is_robust(self._loss):
            return np.ones(len(size), dtype=bool)
        median = weighted_median(size, self._problem.rows.weights)
        far = size > self._settings.outlier * _DEVIATION * median
        return ~far if np.mean(far) < self._settings.max_outliers else np.ones_like(far)

    def _correct(self, near: NDArray[np.bool_]) -> None:
        """Correct all neurons while the row weights follow from the residuals."""
        problem, n_rounds = self._problem, self._settings.n_rounds_a_stage
        rows, coordinates = problem.rows, problem.coordinates
        affine = coordinates.affine.evaluate(rows.X)
        for floor in np.geomspace(1.0, self._settings.last_floor, n_rounds):
            weighted = _weighted(rows, self._residuals, self._loss, float(floor))
            self._rows = weighted if near.all() else weighted.take(np.flatnonzero(near))
            state = VariableProjection(
                self._rows,
                coordinates.affine_columns(self._rows),
                self._points,
                self._ridge,
                problem.plan.activation,
                context=problem.context,
            )
            state.settle(self._settings.steps_a_round)
            self._points, self._ridge, self._state = state.points, state.ridge, state
            self._residuals = rows.Y - state.predict(rows.X, affine)

    def network(self) -> ShallowNetwork:
        """Return the network of the last stage, for inputs and outputs in original units."""
        problem = self._problem
        plan, coordinates = problem.plan, problem.coordinates
        solver = OuterSolver(coordinates, self._rows, plan.activation, plan.single_output)
        return self._shifted(solver.network([self._state]))

    def _shifted(self, network: ShallowNetwork) -> ShallowNetwork:
        problem = self._problem
        return shifted(network, problem.sample, self._loss, problem.context.journal)

    def affine(self, *, line: bool) -> ShallowNetwork:
        """Return the line or the best constant as a network without neurons."""
        problem, found = self._problem, self.line
        d, t = problem.n_features, problem.rows.n_outputs
        network = ShallowNetwork(
            inner_weights=np.empty((0, d)),
            biases=np.empty(0),
            outer_weights=np.empty((0, t)),
            linear_weights=None,
            intercept=None,
            activation=problem.plan.activation,
            single_output=problem.plan.single_output,
            input_range=problem.coordinates.input_range,
        )
        if found is not None:
            linear = found.linear if line else np.zeros((d, t))
            network = replace(network, linear_weights=linear, intercept=found.intercept)
        return self._shifted(problem.coordinates.in_original_units(network))
