"""The logistic loss of class probabilities, and outer weights that minimise it.

With the logits `f` of a row, one for each class,

    p = softmax(f),    loss = -log p_y,    - d loss / d f = y - p,

where `y` is the class of the row as a unit vector. Two classes have one logit, that of the second:
`p = 1 / (1 + exp(-f))`. The next neuron is chosen by the *working residual* `y - p`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from greedynet.losses.base import Fit, LossFactor
from greedynet.support.types import Float64

FIRST_ITERATIONS = 50
ITERATIONS = 6
RIDGE = 1e-2


def probabilities(logits: Float64) -> Float64:
    """Return the probability of every class; two classes have one column of logits."""
    if logits.shape[1] == 1:
        return np.hstack([expit(-logits), expit(logits)])
    E = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(E / E.sum(axis=1, keepdims=True))


def log_probabilities(logits: Float64) -> Float64:
    """Return the logarithms of `probabilities`, which are finite where those are 0 by rounding."""
    if logits.shape[1] == 1:
        return -np.logaddexp(0.0, np.hstack([logits, -logits]))
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def class_indicators(Y: Float64) -> Float64:
    """Return indicators of all classes; for two, `Y` holds that of the second."""
    return Y if Y.shape[1] > 1 else np.hstack([1.0 - Y, Y])


def losses_and_residual(logits: Float64, Y: Float64) -> tuple[Float64, Float64]:
    """Return the loss of every row and the working residual `y - p`.

    `Y` are the classes as unit vectors; for two classes one column of 0 and 1.
    """
    if Y.shape[1] == 1:
        loss = np.logaddexp(0.0, logits) - Y * logits
        return loss[:, 0], Y - expit(logits)
    # One row for each class: maxima and sums over the few entries of a row would take most of the
    # time.
    f = np.ascontiguousarray(logits.T)
    top = f.max(axis=0)
    E = np.exp(f - top)
    total = E.sum(axis=0)
    loss = np.log(total) + top - np.einsum("ij,ij->i", Y, logits)
    E /= total
    return loss, np.asarray(Y - E.T)


def log_loss(logits: Float64, Y: Float64, weights: Float64 | None = None) -> float:
    """Return the mean loss of rows."""
    return float(np.average(losses_and_residual(logits, Y)[0], weights=weights))


@dataclass(frozen=True)
class Logistic:
    """Mean log-loss with a ridge on the logits, `mean loss + ridge / 2 mean |f|^2`.

    The ridge keeps the logits of separable classes finite. A growing network is refitted after each
    neuron by a few steps of L-BFGS from the previous weights, in orthonormal coordinates, in which
    a few steps suffice.
    """

    ridge: float = RIDGE
    name: str = "logistic"

    @property
    def arguments(self) -> dict[str, str | float]:
        return {"ridge": self.ridge}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        """Return the fit of `columns` to the classes `Y`; its residuals are `y - p`."""
        return self.at(self.solved(columns, Y, weights, start), columns, Y, weights)

    def at(self, outer: Float64, columns: Float64, Y: Float64, weights: Float64 | None) -> Fit:
        residual = losses_and_residual(columns @ outer, Y)[1]
        w = len(Y) * _shares(weights, len(Y))
        return Fit(outer, residual, self._functional(columns, residual, w))

    def solved(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None
    ) -> Float64:
        n, k, t = len(Y), columns.shape[1], Y.shape[1]
        w = _shares(weights, n)
        # The columns have unit norm: with this factor, weights have the magnitude of the logits.
        root = np.sqrt(n)

        def objective(flat: Float64) -> tuple[float, Float64]:
            loss, residual = losses_and_residual(columns @ (flat.reshape(k, t) * root), Y)
            gradient = -root * (columns.T @ (residual * w[:, None])).ravel()
            return float(w @ loss + 0.5 * self.ridge * flat @ flat), gradient + self.ridge * flat

        first = np.zeros((k, t))
        if start is not None:
            first[: len(start.weights)] = start.weights / root
        if k:
            found = minimize(
                objective,
                first.ravel(),
                jac=True,
                method="L-BFGS-B",
                options={
                    "maxiter": FIRST_ITERATIONS if start is None else ITERATIONS,
                    "ftol": 1e-6,
                    "gtol": 1e-6,
                },
            ).x
            first = found.reshape(k, t)
        return np.asarray(first * root)

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        scale = 1.0 if weights is None else np.sqrt(weights)[:, None]
        return float(np.linalg.norm(scale * residuals))

    @staticmethod
    def _functional(columns: Float64, residual: Float64, w: Float64) -> Float64:
        """Return the weighted residual without its component in the span.

        The ridge, or incomplete convergence, leaves a component there. The search must not see it:
        it divides by the component of a neuron outside the span, so nearly dependent neurons would
        win.
        """
        scale = np.sqrt(w)[:, None]
        Q = columns * scale
        R = residual * scale
        return np.asarray((R - Q @ (Q.T @ R)) * scale)


class LogisticFactor(LossFactor):
    """A factor for the logistic loss; its error is the mean log-loss."""

    loss: Logistic

    @property
    def target_size(self) -> float:
        """Return 1: log-losses are absolute, not relative."""
        return 1.0

    def rss(self, weights: Float64, alpha: float) -> float:
        logits = self.Q / self._row_scale @ self.z
        return log_loss(logits, self._target, self._row_weights) ** 2


def _shares(weights: Float64 | None, n_rows: int) -> Float64:
    return np.full(n_rows, 1.0 / n_rows) if weights is None else weights / n_rows
