"""L-BFGS, for functions that are cheap to evaluate.

With the last `m` steps `S` and differences of gradients `Y` as rows, the inverse Hessian is
approximated by (Byrd, Nocedal and Schnabel, 1994)

    H g = gamma g + S' q - gamma Y' p,      p = R^-1 S g,   q = R^-T (D p + gamma (Y Y' p - Y g)),

where `R` is the upper triangle of `S Y'`, `D` its diagonal and `gamma = s . y / y . y` of the last
step. These are a few products of matrices: for small networks SciPy's loop would take longer than
the function. With bounds, it is SciPy's.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.optimize import Bounds, OptimizeResult, minimize

from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64

Objective = Callable[[Float64], tuple[float, Float64]]

# The decrease must be this share of what the slope promises, and the slope must fall to this share.
_ARMIJO, _WOLFE = 1e-4, 0.9
_LEAST_STEPS = 3
# Number of steps of which little progress is a sign of convergence: single ones may be short.
_WINDOW = 5


def minimised(
    objective: Objective,
    start: Float64,
    n_steps: int,
    memory: int,
    tolerance: float,
    is_late: Callable[[], bool] = lambda: False,
    enough: float = 0.0,
) -> Float64:
    """Return a point at which a function is smaller, and flat if steps suffice.

    The last steps, as many as `memory`, approximate the Hessian. Ends where no entry of the
    gradient is larger than the tolerance, or the value falls by less than a tenth of this fraction;
    where several steps together lower it by less than the fraction `enough`; and after the first
    few steps if it is late.
    """
    x, (value, gradient) = start, objective(start)
    values = [value]
    curvature = _Curvature(len(start), memory)
    for n_done in range(n_steps):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            break
        if n_done >= _LEAST_STEPS and is_late():
            break
        step = -curvature.times(gradient)
        if not gradient @ step < 0:
            curvature = _Curvature(len(start), memory)
            step = -curvature.times(gradient)
        found = _searched(objective, x, value, gradient, step)
        if found is None:
            break
        before = value
        curvature.append(found[0] - x, found[2] - gradient)
        x, value, gradient = found
        values.append(value)
        if before - value <= 0.1 * tolerance * max(abs(before), abs(value), 1.0):
            break
        if len(values) > _WINDOW and values[-1 - _WINDOW] - value < enough * abs(value):
            break
    return x


def minimised_within(
    limits: tuple[Float64, Float64],
    objective: Objective,
    start: Float64,
    n_steps: int,
    memory: int,
    tolerance: float,
    is_late: Callable[[], bool] = lambda: False,
    enough: float = 0.0,
) -> Float64:
    """Return a point within limits at which a function is smaller; otherwise as `minimised`."""
    values: list[float] = []

    def ends(intermediate_result: OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        fell = values[-1 - _WINDOW] - values[-1] if len(values) > _WINDOW else np.inf
        if fell < enough * abs(values[-1]) or (len(values) >= _LEAST_STEPS and is_late()):
            raise StopIteration

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(*limits),
        callback=ends,
        options={
            "maxiter": n_steps,
            "maxcor": memory,
            "gtol": tolerance,
            "ftol": 0.1 * tolerance,
        },
    )
    return np.clip(found.x, *limits)


def _searched(
    objective: Objective, x: Float64, value: float, gradient: Float64, step: Float64
) -> tuple[Float64, float, Float64] | None:
    """Return the point, value and gradient after a step of suitable length; None if there is none.

    Shorter while the value does not fall enough, by the minimum of a parabola; longer while it
    falls as steeply as at the beginning.
    """
    slope, length = float(gradient @ step), 1.0
    best = None
    for _ in range(10):
        point = x + length * step
        reached, steepness = objective(point)
        if np.isfinite(reached) and reached <= value + _ARMIJO * length * slope:
            if best is not None and reached >= best[1]:
                break
            best = point, reached, steepness
            if steepness @ step >= _WOLFE * slope:
                break
            length *= 2.0
        elif best is not None:
            break
        else:
            excess = reached - value - length * slope
            shorter = -0.5 * slope * length / excess if np.isfinite(excess) else 0.1
            length *= min(0.5, max(0.1, shorter))
    return best


class _Curvature:
    """The inverse Hessian of so many unknowns, by as many of the last steps as `memory`."""

    def __init__(self, size: int, memory: int) -> None:
        self._memory, self._end = memory, 0
        # Twice the memory, so that rows are rarely moved.
        self._S, self._Y = np.empty((2 * memory, size)), np.empty((2 * memory, size))
        self._SY, self._YY = np.zeros((0, 0)), np.zeros((0, 0))

    def append(self, s: Float64, y: Float64) -> None:
        """Record a step and the difference of gradients along it, if the function is convex there.

        The oldest is dropped if there are too many.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # infinite ones are of no use
            # Steps along which the gradient hardly grows say nothing about the curvature.
            is_convex = s @ y > 1e-10 * np.sqrt((s @ s) * (y @ y))
        if not is_convex:
            return
        if self._end == len(self._S):
            for rows in (self._S, self._Y):
                rows[: self._memory] = rows[-self._memory :]
            self._end = self._memory
        self._S[self._end], self._Y[self._end] = s, y
        self._end += 1
        S, Y = self._kept()
        self._SY = _bordered(self._SY, S @ y, np.zeros(len(S)))
        self._YY = _bordered(self._YY, Y @ y, Y @ y)

    def _kept(self) -> tuple[Float64, Float64]:
        first = max(0, self._end - self._memory)
        return self._S[first : self._end], self._Y[first : self._end]

    def times(self, g: Float64) -> Float64:
        """Return the product with a gradient; before any step, one of length at most 1."""
        if self._end == 0:
            return np.asarray(g * min(1.0, 1.0 / max(np.abs(g).sum(), TINY)))
        (S, Y), R, YY = self._kept(), self._SY, self._YY
        diagonal = R.diagonal()
        gamma = diagonal[-1] / YY[-1, -1]
        p = dtrtrs(R, S @ g)[0]
        q = dtrtrs(R, diagonal * p + gamma * (YY @ p - Y @ g), trans=1)[0]
        return np.asarray(gamma * g + q @ S - gamma * (p @ Y))


def _bordered(M: Float64, column: Float64, row: Float64) -> Float64:
    """Return a matrix with a new last column and row, without its first ones if it is full."""
    n = len(column)
    grown = np.empty((n, n))
    grown[:-1, :-1] = M[len(M) - n + 1 :, len(M) - n + 1 :]
    grown[-1], grown[:, -1] = row, column
    return grown
