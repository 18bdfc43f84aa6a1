"""The maximum norm of the residuals.

    min_{c, t}  t    subject to    -t <= y - F c <= t

The optimum is determined by few rows: one more than the number of columns. The linear programme is
solved on the rows with the largest residuals; rows whose residuals exceed `t` at its solution are
added until there are none. This is the optimum for all rows, since the optimum on fewer rows is
never larger.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.base import SolvedByOutput
from greedynet.losses.power import power_fit
from greedynet.losses.solvers import shortest, solve_programme, unit_columns
from greedynet.support.types import Float64

# A residual may exceed the bound by this much; targets are scaled to one.
ZERO = 1e-10
# The power whose fit predicts the rows with the largest residuals, if there is no other guess.
HIGH_POWER = 65.0


@dataclass(frozen=True)
class Chebyshev(SolvedByOutput):
    """`max_i |r_i|`, summed over the outputs: the uniform norm. Sample weights have no effect.

    The functional of an output has the signs of its largest residuals, is zero elsewhere, and its
    absolute values sum to 1; `<functional, r>` is the norm.
    """

    name: str = "chebyshev"
    exponent: ClassVar[float] = np.inf
    singles_out_rows: ClassVar[bool] = True

    def _solve(
        self, columns: Float64, y: Float64, w: Float64, start: Float64 | None
    ) -> tuple[Float64, Float64]:
        """Return a vertex: one row more than there are columns attain the largest residual."""
        if columns.shape[1] == 0:
            return np.zeros(0), _norming(y)
        unit, sizes = unit_columns(columns)
        if start is None:
            start = power_fit(columns, y, np.ones_like(y), None, p=HIGH_POWER)[0]
        solution, functional = _optimum(unit, y, np.abs(y - columns @ start))
        solution, functional = _polished(unit, y, solution, functional)
        return solution / sizes, functional

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `|r| / max |r|`: one step of Lawson's algorithm from equal weights."""
        size = np.abs(residuals)
        return np.asarray(size / size.max())

    def reweighting(self) -> "Lawson":
        return Lawson()

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        return float(np.abs(residuals).max(axis=0, initial=0.0).sum())


class Lawson:
    """Row weights by which least squares converge to the minimax fit: `v <- v |r|`."""

    def __init__(self) -> None:
        self._weights: Float64 | None = None

    def __call__(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return the weights of the next round, with mean 1; sample weights have no effect."""
        size = np.abs(residuals)
        before = np.ones_like(size) if self._weights is None else self._weights
        self._weights = before * size / size.max()
        return np.asarray(self._weights / self._weights.mean())


def _norming(y: Float64) -> Float64:
    """Spread the functional evenly over all rows with the largest value."""
    largest = np.abs(y) == np.abs(y).max()
    return np.asarray(np.sign(y) * largest / largest.sum())


def _optimum(columns: Float64, y: Float64, guess: Float64) -> tuple[Float64, Float64]:
    """Solve the programme on rows with large residuals, adding rows until all are feasible."""
    k = columns.shape[1]
    rows = np.argsort(-guess, kind="stable")[: 2 * k + 20]
    while True:
        solution, allowed, functional = _programme(columns, y, rows)
        residuals = np.abs(y - columns @ solution)
        residuals[rows] = 0.0
        beyond = np.flatnonzero(residuals > allowed + ZERO)
        if not len(beyond):
            return solution, functional
        worst = beyond[np.argsort(-residuals[beyond], kind="stable")[: k + 10]]
        rows = np.concatenate([rows, worst])


def _programme(
    columns: Float64, y: Float64, rows: NDArray[np.intp]
) -> tuple[Float64, float, Float64]:
    """Return weights, largest residual and functional for the given rows."""
    some, ones = columns[rows], np.ones((len(rows), 1))
    k = columns.shape[1]
    result = solve_programme(
        {
            "c": np.append(np.zeros(k), 1.0),
            "A_ub": np.block([[-some, -ones], [some, -ones]]),
            "b_ub": np.concatenate([-y[rows], y[rows]]),
            "bounds": np.column_stack(
                [np.append(np.full(k, -np.inf), 0.0), np.full(k + 1, np.inf)]
            ),
        }
    )
    if result is None:  # t = max |y| always is feasible
        raise RuntimeError("The linear programme of loss='chebyshev' was reported as infeasible.")
    functional = np.zeros(len(y))
    below, above = np.split(np.asarray(result.ineqlin.marginals), 2)
    # A multiplier is the derivative of `t` with respect to its bound: not positive.
    functional[rows] = above - below
    return result.x[:-1], float(result.x[-1]), functional


def _polished(
    columns: Float64, y: Float64, solution: Float64, functional: Float64
) -> tuple[Float64, Float64]:
    """Refine weights and functional from the solver's tolerance to rounding.

    Rows with a nonzero functional attain the largest residual exactly, `F c + sign t = y`; the
    functional is orthogonal to the columns and sums to 1 with those signs.
    """
    rows = np.flatnonzero(np.abs(functional) > ZERO)
    if not len(rows):
        return solution, functional
    signs = np.sign(functional[rows])
    r = y - columns @ solution
    level = float(np.mean(signs * r[rows]))
    equations = np.column_stack([columns[rows], signs])
    closer = solution + shortest(equations, r[rows] - level * signs)[:-1]
    if np.abs(y - columns @ closer).max() <= np.abs(r).max():
        solution = closer
    functional = functional.copy()
    wanted = np.append(np.zeros(columns.shape[1]), 1.0)
    functional[rows] += shortest(equations.T, wanted - equations.T @ functional[rows])
    return solution, functional
