"""Absolute values and quantiles: sums of residuals, weighted differently above and below.

    min_c  sum_i  b_i r_i^+ + a_i r_i^-,    r = y - F c,

is solved through its dual, which has as many constraints as there are columns,

    max_d  <d, y>    subject to    F' d = 0,    -a <= d <= b,

and `d` is the functional. For a row with a clearly nonzero residual, `d_i` is at a known bound:
only rows with small residuals enter the linear programme, and rows whose residuals turn out to have
the other sign are added until there are none. This is the optimum for all rows.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.base import SolvedByOutput, or_ones
from greedynet.losses.solvers import (
    least_squares,
    newton_step,
    shortest,
    solve_programme,
    unit_columns,
)
from greedynet.support.checks import is_number
from greedynet.support.types import Float64

# Residuals and distances to a bound below this are zero; targets and weights are scaled to one.
ZERO = 1e-9
# Steps of reweighted least squares that guess the sign of each residual, and their rate.
GUESSES, CLOSER = 8, 0.5


class Pinball(SolvedByOutput):
    """The sum over rows and outputs of `w_i above r_i` where `r_i > 0`, else `-w_i below r_i`."""

    exponent: ClassVar[float] = 1.0

    @property
    @abstractmethod
    def sides(self) -> tuple[float, float]:
        """What residuals below and above the fit count."""

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `above / |r|` and `below / |r|`, relative to the smallest residual."""
        size, (below, above) = np.abs(residuals), self.sides
        sides = np.where(residuals > 0, above, below)
        return np.asarray(sides * (size.min() / size))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        below, above = self.sides
        sides = np.where(residuals > 0, above, -below)
        return float(or_ones(weights, len(residuals)) @ (sides * residuals).sum(axis=1))

    def _solve(
        self, columns: Float64, y: Float64, w: Float64, start: Float64 | None
    ) -> tuple[Float64, Float64]:
        """Return a vertex: it interpolates as many rows as there are columns."""
        below, above = self.sides
        if columns.shape[1] == 0:
            return np.zeros(0), w * (above * (y > 0) - below * (y < 0))
        unit, sizes = unit_columns(columns)
        largest = w.max()
        low, high = -below * (w / largest), above * (w / largest)
        guess = None if start is None else start * sizes
        solution, functional = _optimum(
            unit, y, low, high, _guessed_residuals(unit, y, low, high, guess)
        )
        solution, functional = _polished(unit, y, low, high, solution, functional)
        return solution / sizes, functional * largest


@dataclass(frozen=True)
class Absolute(Pinball):
    """`sum_i w_i |r_i|`, over rows and outputs: median regression, robust to a few outliers.

    The functional is `w_i sign(r_i)`, and between `-w_i` and `w_i` for rows that are interpolated;
    `<functional, r> = sum w |r|`.
    """

    name: str = "absolute_error"
    sides: ClassVar[tuple[float, float]] = (1.0, 1.0)
    is_robust: ClassVar[bool] = True


@dataclass(frozen=True)
class Quantile(Pinball):
    """`sum_i w_i (quantile r_i^+ + (1 - quantile) r_i^-)`, over rows and outputs.

    The fraction `quantile` of the rows lies below the fit. The functional is `w_i quantile` where
    `r_i > 0`, `-w_i (1 - quantile)` where `r_i < 0`, and in between for rows that are interpolated;
    `<functional, r>` is the sum above.

    Attributes
    ----------
    quantile : float, default=0.5
        Between 0 and 1, both excluded: 0.5 for the median, 0.9 for a bound that nine out of ten
        rows stay below.
    """

    quantile: float = 0.5
    name: str = "quantile"

    def __post_init__(self) -> None:
        if not is_number(self.quantile) or isinstance(self.quantile, bool):
            raise TypeError(
                f"`quantile` must be a number between 0 and 1, got {self.quantile!r}: write 0.5 "
                "for the median."
            )
        if not 0 < self.quantile < 1:
            raise ValueError(
                f"`quantile` must lie strictly between 0 and 1, got {self.quantile!r}: write 0.5 "
                "for the median, or 0.9 for a bound that nine out of ten rows stay below."
            )

    @property
    def arguments(self) -> Mapping[str, str | float]:
        return {"loss": self.name, "quantile": self.quantile}

    @property
    def sides(self) -> tuple[float, float]:
        return 1.0 - self.quantile, self.quantile


def _guessed_residuals(
    columns: Float64, y: Float64, low: Float64, high: Float64, start: Float64 | None
) -> Float64:
    """Guess the residuals of the optimum by a few steps of reweighted least squares."""
    solution = least_squares(columns, y, high - low) if start is None else start
    r = y - columns @ solution
    near = float(np.median(np.abs(r)))
    for _ in range(GUESSES):
        near = max(CLOSER * near, 1e-12)
        curvature = np.where(r > 0, high, -low) / np.maximum(np.abs(r), near)
        solution = solution + newton_step(columns, curvature, curvature * r)[0]
        r = y - columns @ solution
    return r


def _optimum(
    columns: Float64, y: Float64, low: Float64, high: Float64, guess: Float64
) -> tuple[Float64, Float64]:
    """Solve the programme on rows with small residuals, adding rows until all signs agree."""
    n_rows, k = columns.shape
    order = np.argsort(np.abs(guess), kind="stable")
    free = np.zeros(n_rows, dtype=bool)
    n_free = min(n_rows, max(4 * k + 20, n_rows // 20))
    free[order[:n_free]] = True
    bound = np.where(guess > 0, high, low)
    while True:
        found = _programme(columns, y, low, high, np.where(free, 0.0, bound), free)
        if found is None:
            # The bounds of the other rows cannot be balanced: too many rows were fixed.
            n_free = min(n_rows, 2 * n_free)
            free[order[:n_free]] = True
            continue
        wrong = ~free & ((y - columns @ found[0]) * np.sign(bound) < -ZERO)
        if not wrong.any():
            return found
        free |= wrong


def _programme(
    columns: Float64,
    y: Float64,
    low: Float64,
    high: Float64,
    fixed: Float64,
    free: NDArray[np.bool_],
) -> tuple[Float64, Float64] | None:
    """Return weights and functional, given the functional of all but the free rows."""
    result = solve_programme(
        {
            "c": -y[free],
            "A_eq": columns[free].T,
            "b_eq": -columns.T @ fixed,
            "bounds": np.column_stack([low[free], high[free]]),
        }
    )
    if result is None:
        return None
    functional = fixed.copy()
    functional[free] = result.x
    # The programme minimises -<d, y>: its multipliers are minus the weights.
    return -np.asarray(result.eqlin.marginals), functional


def _polished(
    columns: Float64,
    y: Float64,
    low: Float64,
    high: Float64,
    solution: Float64,
    functional: Float64,
) -> tuple[Float64, Float64]:
    """Refine weights and functional from the solver's tolerance to rounding.

    Rows strictly between their bounds are interpolated, and balance the others.
    """
    margin = ZERO * (high - low)
    between = (functional > low + margin) & (functional < high - margin)
    r = y - columns @ solution
    solution = solution + shortest(columns[between], r[between])
    met = between | (np.abs(y - columns @ solution) <= ZERO)
    functional = functional.copy()
    functional[met] -= shortest(columns[met].T, columns.T @ functional)
    return solution, functional
