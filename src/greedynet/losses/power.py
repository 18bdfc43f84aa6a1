"""The norms of the spaces `L_p`, `1 < p < infinity`: `Squared` for least squares, and `Power`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from greedynet.losses.base import ROUNDING, Fit, fit_outputs, or_ones
from greedynet.losses.solvers import least_squares, line_minimum, newton_step
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# Relative distance to the optimum at which a fit has converged, certified by duality.
OPTIMAL = 1e-13
# Residuals below this fraction of the largest are treated as zero.
NEAREST = 1e-15
MAX_STEPS = 120
# Higher powers are too flat for Newton steps, far from the optimum or within rounding of it.
FLAT = 4.0
# Beyond this power the row weights oscillate from round to round.
LARGEST_WEIGHTING = 4.0
# Smallest curvature, relative to its largest value.
FLATTEST = 1e-13


@dataclass(frozen=True)
class Squared:
    """`|r| = (sum_i w_i r_i^2)^(1/2)`, over rows and outputs: the norm of the paper.

    The functional is `w r / |r|`, and `<functional, r> = |r|`.
    """

    name: str = "squared_error"

    @property
    def arguments(self) -> Mapping[str, str | float]:
        return {"loss": self.name}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        fit = fit_outputs(_solve, columns, Y, weights, None)
        size, target = self.size(fit.residuals, weights), self.size(Y, weights)
        if size <= ROUNDING * target:
            return fit
        w = or_ones(weights, len(Y))
        return Fit(fit.weights, fit.residuals, w[:, None] * (fit.residuals / size))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        return safe_norm(residuals * np.sqrt(or_ones(weights, len(residuals)))[:, None])


def _solve(
    columns: Float64, y: Float64, w: Float64, start: Float64 | None
) -> tuple[Float64, Float64]:
    return least_squares(columns, y, w), np.zeros_like(y)


@dataclass(frozen=True)
class Power:
    """`|r| = (sum_i w_i |r_i|^p)^(1/p)`, over rows and outputs.

    The functional is the norming functional of the residuals, ::

        w_i |r_i|^(p-1) sign(r_i) / |r|^(p-1),    <functional, r> = |r|,

    of norm 1 in the dual space, with the exponent `q = p / (p - 1)`.

    Attributes
    ----------
    p : float
        Power, above 1. Near 1, outliers have little influence; for large `p`, the largest residuals
        dominate.
    """

    p: float
    name: str = "power"

    @property
    def arguments(self) -> Mapping[str, str | float]:
        return {"loss": self.p}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        """Return the fit, which is optimal up to rounding, as certified by duality."""
        fit = fit_outputs(partial(power_fit, p=self.p), columns, Y, weights, start)
        w = or_ones(weights, len(Y))
        sizes = np.array([power_norm(r, w, self.p) for r in fit.residuals.T])
        # Each functional norms its own output; scaled like this they norm all outputs together.
        shares = (sizes / (power_norm(sizes, np.ones(len(sizes)), self.p) or 1.0)) ** (self.p - 1)
        return Fit(fit.weights, fit.residuals, fit.functional * shares)

    @property
    def exponent(self) -> float:
        return self.p

    @property
    def singles_out_rows(self) -> bool:
        """Whether large residuals dominate."""
        return self.p > 2

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `|r|^(p - 2)`, with residuals relative to the largest."""
        size = np.abs(residuals)
        return np.asarray((size / size.max()) ** (min(self.p, LARGEST_WEIGHTING) - 2))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        w = or_ones(weights, len(residuals))
        return power_norm(residuals.T, w, self.p)


def power_norm(r: Float64, w: Float64, p: float) -> float:
    """Return `(sum w |r|^p)^(1/p)`, without overflow or underflow."""
    largest = float(np.abs(r).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * float(np.sum(w * (np.abs(r) / largest) ** p)) ** (1 / p)


def power_fit(
    columns: Float64, y: Float64, w: Float64, start: Float64 | None, *, p: float
) -> tuple[Float64, Float64]:
    """Return weights and norming functional for one output.

    A large `p` is reached through smaller ones, each fitted roughly from the previous one: far from
    its optimum a high power is too flat for Newton's method.
    """
    powers = [p]
    while powers[0] > FLAT:
        powers.insert(0, 1 + (powers[0] - 1) / 2)
    solution = least_squares(columns, y, w) if start is None else start
    for rough in powers[:-1]:
        solution, _ = _descend(columns, y, w, solution, rough, 1e-2)
    return _descend(columns, y, w, solution, p, OPTIMAL)


def _descend(
    columns: Float64, y: Float64, w: Float64, solution: Float64, p: float, tol: float
) -> tuple[Float64, Float64]:
    """Apply Newton's method until the distance to the optimum is below `tol` times the norm.

    Any functional `d` of dual norm 1 that is orthogonal to the columns bounds the optimum from
    below, `<d, y> = <d, y - F c> <= |y - F c|`; this gives the distance.
    """
    target = power_norm(y, w, p)
    nearest = 0.1  # smallest residual, relative to the largest, in the curvature for p < 2
    best = (np.inf, solution, np.zeros_like(y), np.zeros_like(solution))
    for _ in range(MAX_STEPS):
        r = y - columns @ solution
        size = power_norm(r, w, p)
        if size <= ROUNDING * target:
            # Interpolation, or y = 0: the residual is rounding, and its direction is meaningless.
            return solution, np.zeros_like(y)
        unit = np.abs(r) / np.abs(r).max()
        slope = np.sign(r) * w * unit ** (p - 1)
        curvature = w * np.maximum(unit, nearest) ** (p - 2)
        step, dual = newton_step(columns, np.maximum(curvature, FLATTEST * curvature.max()), slope)
        dual /= power_norm(dual / w, w, p / (p - 1)) or 1.0
        gap = size - float(dual @ y)
        newton = np.abs(r).max() / (p - 1)
        if gap < best[0]:
            best = gap, solution, dual, newton * step
        move = columns @ step
        if gap <= tol * size or not move.any():
            break
        length = line_minimum(partial(_derivative, r, move, w, p), newton)
        solution = solution + length * step
        nearest = max(0.2 * nearest, NEAREST)
    _, solution, dual, step = best
    # The distance is quadratic in the error of the weights: another step refines these to rounding.
    before, after = (power_norm(y - columns @ c, w, p) for c in (solution, solution + step))
    return (solution + step if p <= FLAT and after < before else solution), dual


def _derivative(r: Float64, move: Float64, w: Float64, p: float, length: float) -> float:
    """Derivative of `sum w |r - length move|^p`, up to a positive factor."""
    left = r - length * move
    size = np.abs(left)
    return -float(np.sum(w * np.sign(left) * (size / (size.max() or 1.0)) ** (p - 1) * move))
