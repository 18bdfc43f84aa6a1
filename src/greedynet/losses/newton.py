"""Newton's method for smooth losses: one weighted least-squares problem, one line to search.

For a loss with slope `f_i` and curvature `D_i > 0` at the residuals, Newton's step and the
functional to first order after it are

    (F' D F) s = F' f,    f - D F s,

and the second is orthogonal to the columns whatever `D` is. Where `D` is not the true curvature the
step still goes down: it may be smoothed and bounded away from zero.
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
    # Once more: what rounding leaves along the columns where the gram matrix is near singular.
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
        # Columns that depend on each other, or are more than the rows: the shortest step.
        inverse = np.linalg.pinv(np.sqrt(curvature)[:, None] * columns)
        return lambda right: np.asarray(inverse @ (inverse.T @ right))


def least_squares(columns: Float64, y: Float64, w: Float64) -> Float64:
    """Return the weights of `min sum w (y - F c)^2`: one step, as the curvature is constant."""
    return newton_step(columns, w, w * y)[0]


def line_minimum(derivative: Callable[[float], float], guess: float) -> float:
    """Return where an increasing function that is negative at 0 changes sign, to 0.1 percent.

    The lower end of the bracket is returned, so that a convex function whose derivative it is has
    gone down.
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
