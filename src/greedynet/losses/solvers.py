"""How losses are minimised: Newton, linear programmes, and reweighted least squares.

For a loss with slope `f_i` and curvature `D_i > 0` at the residuals, Newton's step and the
functional to first order after it are

    (F' D F) s = F' f,    f - D F s,

and the second is orthogonal to the columns for any `D`. If `D` is not the true curvature, the step
is still a descent direction: `D` may be smoothed and bounded away from zero.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import OptimizeResult, linprog

from greedynet.losses.base import Loss
from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64

# Sums of weights that differ by less are equal up to rounding.
_ROUNDING = 1e-12


def weighted_median(values: Float64, weights: Float64 | None) -> float:
    """Return the median; an integer weight is equivalent to that many copies of the value.

    This is the smallest value at which the cumulative weight exceeds one half, or the mean of two
    neighbours if it is exactly one half between them, as in `numpy.median`.

    The weights are not negative; None for equal ones.
    """
    if weights is None or (weights == weights[0]).all():
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    sums = np.cumsum(weights[order])
    half, margin = 0.5 * sums[-1], _ROUNDING * sums[-1]
    low = int(np.searchsorted(sums, half - margin))
    high = int(np.searchsorted(sums, half + margin))
    return float(0.5 * (values[order[low]] + values[order[min(high, len(order) - 1)]]))


OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
INFEASIBLE = 2


def solve_programme(programme: Mapping[str, Any]) -> OptimizeResult | None:
    """Solve a linear programme; None if it is infeasible.

    The dual simplex method comes first: it is faster for these programmes, and ends at a vertex.
    """
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(**programme, method=method, options=OPTIONS)  # type: ignore[call-overload]
        if result.status == 0:
            return result
        if result.status == INFEASIBLE:
            return None
    raise RuntimeError(
        f"The linear programme of the loss could not be solved: {result.message} Write "
        'loss="huber" or a power such as loss=1.1 or loss=10.0 for a similar smooth loss.'
    )


def unit_columns(columns: Float64) -> tuple[Float64, Float64]:
    """Return the columns scaled to unit root mean square, as HiGHS prefers, and their scales."""
    sizes = np.linalg.norm(columns, axis=0) / np.sqrt(len(columns))
    sizes[sizes == 0] = 1.0
    return columns / sizes, sizes


def shortest(matrix: Float64, right: Float64) -> Float64:
    """Return the least-squares solution of minimum norm."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])


def newton_step(columns: Float64, curvature: Float64, slope: Float64) -> tuple[Float64, Float64]:
    """Return the step of the weights and the functional after it, to first order."""
    scaled = columns * curvature[:, None]
    solve = _gram_solver(columns, scaled, curvature)
    step = solve(columns.T @ slope)
    functional = slope - scaled @ step
    # One refinement step: removes rounding errors if the Gram matrix is nearly singular.
    again = solve(columns.T @ functional)
    return step + again, functional - scaled @ again


def _gram_solver(
    columns: Float64, scaled: Float64, curvature: Float64
) -> Callable[[Float64], Float64]:
    gram = columns.T @ scaled
    try:
        factor = cho_factor(gram, check_finite=False)
        return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))
    except LinAlgError:
        # Dependent columns, or more columns than rows: take the step of minimum norm.
        inverse = np.linalg.pinv(np.sqrt(curvature)[:, None] * columns)
        return lambda right: np.asarray(inverse @ (inverse.T @ right))


def least_squares(columns: Float64, y: Float64, w: Float64) -> Float64:
    """Return the weights of `min sum w (y - F c)^2`: one step, since the curvature is constant."""
    return newton_step(columns, w, w * y)[0]


def line_minimum(derivative: Callable[[float], float], guess: float) -> float:
    """Return the zero of an increasing function that is negative at 0, to 0.1 per cent.

    The lower end of the bracket is returned, so that the convex function with this derivative has
    decreased.
    """
    low, high = 0.0, guess
    for _ in range(40):
        if derivative(high) >= 0:
            break
        low, high = high, 2 * high
    for _ in range(60):
        if high - low <= 1e-3 * low:
            break
        middle = low + 0.5 * (high - low)
        low, high = (middle, high) if derivative(middle) < 0 else (low, middle)
    return low


# (residuals, sample weights) -> row weights, with mean 1.
Reweighting = Callable[[Float64, Float64 | None], Float64]

# Residuals below this fraction of their median are raised to it.
_FLOOR = 0.05


def reweighting(loss: Loss) -> Reweighting:
    """Return the function that updates the row weights from the residuals in each round."""
    own = getattr(loss, "reweighting", None)
    return partial(row_weights, loss) if own is None else own()


def row_weights(
    loss: Loss, residuals: Float64, weights: Float64 | None, floor: float | None = None
) -> Float64:
    """Return `L'(r) / r` times the sample weights, with mean 1.

    Residuals smaller than `floor`, by default a twentieth of their median, are raised to it.
    """
    size = np.abs(residuals)
    if floor is None:
        floor = _FLOOR * weighted_median(size, weights)
    size = np.maximum(size, max(floor, 1e-12 * float(size.max()), TINY))
    signed = np.where(residuals > 0, size, -size)
    v = np.asarray(loss.row_weights(signed, weights))  # type: ignore[attr-defined]
    if v.shape != size.shape:
        raise ValueError(
            f"`row_weights` of the loss {loss.name!r} must return one weight for each residual, an "
            f"array of shape {size.shape}, got {v.shape}: sample weights are multiplied elsewhere."
        )
    v = v if weights is None else v * weights
    return np.asarray(v / v.mean())
