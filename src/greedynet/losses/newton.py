"""Newton's method for smooth losses: a weighted least-squares problem and a line search.

For a loss with slope `f_i` and curvature `D_i > 0` at the residuals, Newton's step and the
functional to first order after it are

    (F' D F) s = F' f,    f - D F s,

and the second is orthogonal to the columns for any `D`. If `D` is not the true curvature, the step
is still a descent direction: `D` may be smoothed and bounded away from zero.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from greedynet.support.types import Float64


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
