"""The growth of a classifying network, neuron by neuron on the working residual `y - p`."""

from dataclasses import dataclass, replace

import numpy as np

from greedynet.activations import Activation
from greedynet.correction.log_loss_descent import Weights
from greedynet.fitting.growth import Growth, grow
from greedynet.fitting.make_search import dependent, input_scaling, make_search
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import OnStep
from greedynet.fitting.stopping import Judge, Validation, neuron_cost
from greedynet.linalg.factor import Factor
from greedynet.losses import Fit
from greedynet.losses.logistic import RIDGE, Logistic, log_loss
from greedynet.losses.loss_factor import LossFactor
from greedynet.model.coordinates import Frame
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.rows import InputScaling, OutputScaling, Rows
from greedynet.search import Candidate, RecordedSearch
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

MAX_KURTOSIS = 10.0


def class_frame(rows: Rows, plan: Plan) -> Frame:
    """Return the coordinates of a classification: inputs scaled, classes as they are."""
    calm = plan.search == "continuous"
    inputs = calm_scaling(rows) if calm else input_scaling(rows, plan)
    frame = Frame.of(rows, inputs, linear_term=plan.linear_term)
    n_outputs = rows.Y.shape[1]
    return replace(frame, outputs=OutputScaling(np.zeros(n_outputs), np.ones(n_outputs)))


def calm_scaling(rows: Rows) -> InputScaling:
    """Return mean 0 and deviation 1, but less for columns that are nearly always the same.

    A pixel that is nearly always 0 has a tiny deviation, and dividing by it blows up its few other
    values. Columns with a kurtosis `m4 / m2^2` above 10 are divided by `(m4 / 10)^(1/4)` instead of
    `m2^(1/2)`.
    """
    standard = InputScaling.standard(rows)
    fourth = np.average(standard.apply(rows.X) ** 4.0, axis=0, weights=rows.weights)
    return replace(standard, width=standard.width * np.maximum(1.0, fourth / MAX_KURTOSIS) ** 0.25)


class LogisticFactor(LossFactor):
    """A factor of the logistic loss; its error is the mean log-loss."""

    loss: Logistic

    @property
    def target_size(self) -> float:
        """One: log-losses are not relative to anything."""
        return 1.0

    def square_left(self, weights: Float64, alpha: float) -> float:
        """Return the square of the mean log-loss."""
        logits = self.Q / self._row_scale @ self.z
        return log_loss(logits, self._target, self._row_weights) ** 2

    def _fitted(self, columns: Float64, start: Fit | None) -> Fit:
        """Return the fit; of an earlier one its weights are enough."""
        Y, w = self._target, self._row_weights
        (outer,) = self._journal.once(lambda _: (self.loss.solved(columns, Y, w, start),))
        return self.loss.at(outer, columns, Y, w)


class HeldOut(Validation):
    """Log-loss of rows kept apart."""

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the mean log-loss of the validation rows."""
        if column is not None:
            self._append(column * self._row_scale)
        scale = self._row_scale[:, None]
        logits = self._columns[:, : self._used] @ weights / scale
        return log_loss(logits, self._Y / scale, self._row_scale**2)


@dataclass(frozen=True)
class Akaike:
    """Log-loss plus what was spent on it: `loss + C(k) / n`.

    A neuron costs its outer weights and, as in generalised cross-validation of a regression, what
    was searched.
    """

    n_rows: float
    n_affine: int
    n_outputs: int
    searched: float

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the criterion."""
        k = factor.size - self.n_affine
        spent = factor.size * self.n_outputs + k * self.searched
        return float(np.sqrt(square)) + spent / self.n_rows


def grown(
    rows: Rows,
    validation: Rows | None,
    frame: Frame,
    plan: Plan,
    pool: Pool | None,
    on_step: OnStep | None,
    journal: Journal = NO_JOURNAL,
) -> Growth:
    """Grow neuron by neuron on the working residual."""
    loss, fits = Logistic(_growth_ridge(plan)), journal.branch("fits")
    factor = LogisticFactor(rows.Y, rows.weights, loss, dependent(plan), fits)
    for column in frame.affine_columns(rows).T:
        factor.append(column)
    n_affine = factor.size
    search = RecordedSearch(make_search(rows, plan, pool=pool), journal.record())
    growth = Growth(factor, n_affine, search, _judge(rows, validation, frame, plan, n_affine))

    def evaluate(found: Candidate) -> Float64:
        return frame.column(found, plan.activation, validation)

    def step(growth: Growth) -> bool:
        width = frame.affine.n_nodes + len(growth.candidates)
        if on_step is None:
            return False
        return on_step(lambda: _grown_network(growth, frame, plan), growth.errors[-1], width)

    limits = replace(plan.limits, patience=None) if plan.correct else plan.limits
    return grow(growth, limits, evaluate=evaluate, on_step=step)


def _growth_ridge(plan: Plan) -> float:
    """Ridge of the growth: what was asked for where it is all the ridge there is."""
    return RIDGE if plan.correct or plan.alpha is None else max(plan.alpha, 1e-8)


def _judge(
    rows: Rows, validation: Rows | None, frame: Frame, plan: Plan, n_affine: int
) -> Judge | None:
    """Who scores the widths of the growth."""
    if validation is not None:
        affine = frame.affine.evaluate(validation.X)
        return HeldOut(affine, validation.Y, validation.row_scale)
    if plan.limits.exact or plan.correct or not plan.gcv:
        return None
    return Akaike(len(rows), n_affine, rows.Y.shape[1], neuron_cost(rows.X.shape[1]) - 1.0)


def grown_weights(growth: Growth, frame: Frame, rows: Rows, activation: Activation) -> Weights:
    """Return the grown network as weights: logits as grown, by least squares with a small ridge."""
    factor, r = growth.factor, growth.n_affine
    points = growth.points.reshape(-1, rows.X.shape[1] + 1)
    logits, A = factor.Q @ factor.z, factor.Q[:, :r]
    H = frame.neuron_columns(rows, points, activation)
    norms = np.linalg.norm(H, axis=0)
    H = H / norms
    outside = H - A @ (A.T @ H)
    C = np.linalg.solve(outside.T @ outside + 1e-3 * np.eye(len(points)), outside.T @ logits)
    L = np.zeros((points.shape[1], logits.shape[1]))
    if r:
        # The orthonormal columns are the affine ones up to a triangle.
        affine = np.linalg.solve(factor.R[:r, :r], A.T @ (logits - H @ C))
        L = frame.affine.to_weights @ affine
    return Weights(points, C / norms[:, None], L).balanced(activation)


def _grown_network(growth: Growth, frame: Frame, plan: Plan) -> ShallowNetwork:
    return frame.network(
        growth.factor,
        growth.candidates,
        plan.activation,
        alpha=0.0,
        single_output=plan.single_output,
    )


def grown_path(growth: Growth, frame: Frame, plan: Plan, *, validated: bool) -> SelectionPath:
    """Return the path of a growth; its errors are mean log-losses."""
    return growth.path(_grown_network(growth, frame, plan), plan.limits, validated=validated)
