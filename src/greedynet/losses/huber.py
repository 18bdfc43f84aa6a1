"""Huber's loss: quadratic for small residuals, linear for large ones."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from greedynet.losses.base import SolvedByOutput, or_ones
from greedynet.losses.solvers import least_squares, line_minimum, newton_step, weighted_median
from greedynet.support.types import Float64

# 95 per cent efficiency relative to least squares for normal noise.
TUNING = 1.345
# Converts the median of |r| to the standard deviation of normal noise.
NORMAL = 1.4826
# Smallest threshold, relative to the largest target: over half of the rows may be interpolated.
FLOOR = 1e-9
MAX_STEPS = 100
# Artificial curvature of rows beyond the threshold, so that the Hessian is not singular.
LENT = 1e-4


@dataclass(frozen=True)
class Huber(SolvedByOutput):
    """`sum_i w_i rho(r_i) / delta`, `rho(r) = r^2 / 2` for `|r| <= delta`, linear beyond.

    The threshold is `delta = 1.345 sigma` with `sigma = 1.4826 median |r|` for the residuals of the
    same fit, separately for each output: weights and threshold are found together. The functional
    is `w clip(r / delta, -1, 1)`.

    The `size` of residuals is the sum of their absolute values, not the sum above: `delta` changes
    with the width, and with a smaller `delta` the same residuals would count more, to the
    disadvantage of the better fit. The sum of absolute values is the limit of the loss as `delta`
    tends to 0, is as robust, and can be compared between any two fits, on the training rows or
    others.
    """

    name: str = "huber"
    is_robust: ClassVar[bool] = True

    def _solve(
        self, columns: Float64, y: Float64, w: Float64, start: Float64 | None
    ) -> tuple[Float64, Float64]:
        """Alternate Newton steps and updates of the threshold, then keep the threshold."""
        least = FLOOR * (float(np.abs(y).max(initial=0.0)) or 1.0)
        solution = least_squares(columns, y, w) if start is None else start
        delta = np.inf
        for _ in range(MAX_STEPS):
            r = y - columns @ solution
            # Decrease gradually: the minima for successive thresholds are then close together.
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

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `min(1, delta / |r|)` with the threshold given by these residuals."""
        delta = threshold(residuals, or_ones(weights, len(residuals)))
        return np.asarray(np.minimum(1.0, delta / np.abs(residuals)))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        return float(or_ones(weights, len(residuals)) @ np.abs(residuals).sum(axis=1))


def threshold(residuals: Float64, w: Float64) -> float:
    """Return `1.345 * 1.4826 * median |r|`, with the weighted median."""
    return TUNING * NORMAL * weighted_median(np.abs(residuals), w)


def _step(
    columns: Float64, y: Float64, w: Float64, solution: Float64, delta: float
) -> tuple[Float64, Float64, bool]:
    """Return weights and functional after a Newton step, and whether it has converged."""
    r = (y - columns @ solution) / delta
    slope = w * np.clip(r, -1.0, 1.0)
    curvature = w * np.where(np.abs(r) <= 1.0, 1.0, LENT / np.maximum(np.abs(r), 1.0))
    step, functional = newton_step(columns, curvature, slope)
    move = columns @ step
    # The largest change of the slope, which is at most 1 itself.
    done = float(np.abs(curvature * move).max(initial=0.0)) <= 1e-11 * float(w.max())
    if done:
        return solution, functional, True
    length = line_minimum(partial(_derivative, r, move, w), 1.0)
    return solution + length * delta * step, functional, False


def _derivative(r: Float64, move: Float64, w: Float64, length: float) -> float:
    return -float(np.sum(w * np.clip(r - length * move, -1.0, 1.0) * move))
