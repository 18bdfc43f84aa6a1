"""Huber's loss: squares for the many, absolute values for the far."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from greedynet.losses.base import Fit, fit_outputs, or_ones
from greedynet.losses.median import weighted_median
from greedynet.losses.newton import least_squares, line_minimum, newton_step
from greedynet.support.types import Float64

# With normal noise 95 percent as efficient as least squares.
TUNING = 1.345
# Makes the median of |r| the standard deviation of normal noise.
NORMAL = 1.4826
# Least threshold, relative to the largest target: more than half of the rows may be interpolated.
FLOOR = 1e-9
MAX_STEPS = 100
# Curvature lent to the rows beyond the threshold, so that the many columns of few rows have one.
LENT = 1e-4


@dataclass(frozen=True)
class Huber:
    """`sum_i w_i rho(r_i) / delta`, `rho(r) = r^2 / 2` for `|r| <= delta`, then straight on.

    The threshold is `delta = 1.345 sigma` with `sigma = 1.4826 median |r|` of the residuals of this
    very fit, for each output its own: weights and threshold are found together. The functional is
    `w clip(r / delta, -1, 1)`.

    The *size* of residuals is their sum of absolute values, not the sum above: `delta` changes from
    width to width, and with a smaller `delta` the same residuals would count for more, to the
    disadvantage of the better fit. Absolute values are what the loss is for all rows beyond
    `delta` and its limit for good fits; like it they let a far row count no more than in
    proportion, and they compare any two fits, on the training rows or others.
    """

    name: str = "huber"
    is_robust: ClassVar[bool] = True

    @property
    def arguments(self) -> Mapping[str, str | float]:
        """What to pass to `get_loss` to have it again."""
        return {"loss": self.name}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        """Return the fit: the minimum for its threshold, which is that of its residuals."""
        return fit_outputs(_solve, columns, Y, weights, start)

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `min(1, delta / |r|)` with the threshold of these residuals."""
        delta = threshold(residuals, or_ones(weights, len(residuals)))
        return np.asarray(np.minimum(1.0, delta / np.abs(residuals)))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        """Return `sum w |r|`, over rows and outputs."""
        return float(or_ones(weights, len(residuals)) @ np.abs(residuals).sum(axis=1))


def threshold(residuals: Float64, w: Float64) -> float:
    """Return `1.345 * 1.4826 * median |r|`, the median by weight."""
    return TUNING * NORMAL * weighted_median(np.abs(residuals), w)


def _solve(
    columns: Float64, y: Float64, w: Float64, start: Float64 | None
) -> tuple[Float64, Float64]:
    """Alternate Newton steps and thresholds of the residuals; then take steps only."""
    least = FLOOR * (float(np.abs(y).max(initial=0.0)) or 1.0)
    solution = least_squares(columns, y, w) if start is None else start
    delta = np.inf
    for _ in range(MAX_STEPS):
        r = y - columns @ solution
        # Not to zero at once: each threshold's minimum is near that of the one before.
        wanted = max(threshold(r, w), least, 0.1 * delta if delta < np.inf else 0.0)
        stable = abs(wanted - delta) <= 1e-12 * wanted
        delta = wanted
        solution, _, done = _step(columns, y, w, solution, delta)
        if stable and done:
            break
    for _ in range(MAX_STEPS):
        solution, functional, done = _step(columns, y, w, solution, delta)
        if done:
            break
    return solution, functional


def _step(
    columns: Float64, y: Float64, w: Float64, solution: Float64, delta: float
) -> tuple[Float64, Float64, bool]:
    """Return weights and functional after a Newton step, and whether there was nothing to do."""
    r = (y - columns @ solution) / delta
    slope = w * np.clip(r, -1.0, 1.0)
    curvature = w * np.where(np.abs(r) <= 1.0, 1.0, LENT / np.maximum(np.abs(r), 1.0))
    step, functional = newton_step(columns, curvature, slope)
    move = columns @ step
    # The largest change of the slope, whose own size is at most 1.
    done = float(np.abs(curvature * move).max(initial=0.0)) <= 1e-11 * float(w.max())
    if done:
        return solution, functional, True
    length = line_minimum(partial(_derivative, r, move, w), 1.0)
    return solution + length * delta * step, functional, False


def _derivative(r: Float64, move: Float64, w: Float64, length: float) -> float:
    return -float(np.sum(w * np.clip(r - length * move, -1.0, 1.0) * move))
