"""`Ramps`: a first layer of ramps along single columns, between knots.

A column `x` with the knots `t_0 < ... < t_K` has `K` ramps, which rise from 0 to 1 between two of
them,

    r_i(x) = clip((x - t_i) / (t_{i+1} - t_i), 0, 1),    i = 0, ..., K - 1,

except that the first one goes on below `t_0` and the last one above `t_K`, as straight lines. They
span the continuous, piecewise linear functions of `x` with kinks at the inner knots, as do `x` and
the `K - 1` hinges `relu(x - t_i)` there: this many ReLU nodes are what they cost.

The weight of a ramp is the rise of a curve between two knots, that of a hinge a change of slope. A
penalty on rises prefers curves that are flat where the data do not say otherwise.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.support.types import Float64


class RampTable(NamedTuple):
    """Ramps one by one, `clip((x_j - start) / width, low, high)`."""

    columns: NDArray[np.intp]  # (n_ramps,): the `j` of the ramps, in ascending order
    starts: NDArray[np.floating]  # (n_ramps,)
    widths: NDArray[np.floating]
    low: NDArray[np.floating]  # (n_ramps,): 0 and 1; infinite at the ends of a column
    high: NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Ramps:
    """Knots of columns; inputs are lifted to the columns themselves and the ramps of all.

    A column has no knots, or at least three, in ascending order.
    """

    n_features: int
    features: NDArray[np.intp]  # (n_knots,): column of each knot, in ascending order
    knots: Float64

    def __post_init__(self) -> None:
        for name, dtype in (("features", np.intp), ("knots", np.float64)):
            array = np.array(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not np.isfinite(self.knots).all():
            raise ValueError("`knots` must be finite, got NaN or infinity.")
        same = np.diff(self.features) == 0
        if (np.diff(self.features) < 0).any() or (np.diff(self.knots)[same] <= 0).any():
            raise ValueError("`knots` must ascend within each column, and columns must ascend.")
        named, counts = np.unique(self.features, return_counts=True)
        if (counts < 3).any() or (named < 0).any() or (named >= self.n_features).any():
            raise ValueError(
                f"`features` must name each of {self.n_features} columns never, or at least three "
                f"times, got {dict(zip(named.tolist(), counts.tolist(), strict=True))} times."
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickle restores arrays as writable.
        Ramps.__init__(self, state["n_features"], state["features"], state["knots"])

    @staticmethod
    def at_quantiles(X: NDArray[np.floating], weights: Float64 | None, n_ramps: int) -> "Ramps":
        """Return up to `n_ramps` ramps for each column, between quantiles of its values.

        Columns with two values have none: a line has all there is. The quantiles of `-x` are those
        of `x`, mirrored, and a weight of two is equivalent to a repeated row.
        """
        features, knots = [], []
        for j, x in enumerate(np.asarray(X, dtype=np.float64).T):
            found = _quantiles(x, weights, np.linspace(0, 1, n_ramps + 1))
            # A quantile may lie between the two values of a column.
            there = x if weights is None else x[weights > 0]
            if len(found) > 2 and len(np.unique(there)) > 2:
                features += [j] * len(found)
                knots += found.tolist()
        return Ramps(X.shape[1], np.array(features, dtype=np.intp), np.array(knots))

    @cached_property
    def _columns(self) -> list[tuple[int, Float64]]:
        used = np.unique(self.features).tolist()
        return [(j, self.knots[self.features == j]) for j in used]

    @property
    def n_ramps(self) -> int:
        return len(self.knots) - len(self._columns)

    @property
    def n_hinges(self) -> int:
        """Number of inner knots: of the ReLU nodes that, with the columns, span the same."""
        return len(self.knots) - 2 * len(self._columns)

    @property
    def n_lifted(self) -> int:
        return self.n_features + self.n_ramps

    @property
    def lifted_from(self) -> NDArray[np.intp]:
        """The column of every lifted column, of which it is an increasing function."""
        return np.append(np.arange(self.n_features), self.table.columns)

    @cached_property
    def table(self) -> RampTable:
        """The ramps one by one, in the order of `lift`."""
        return ramp_table(self.features, self.knots)

    def lift(self, X: ArrayLike) -> Float64:
        """Return the columns and their ramps, `(n_rows, n_lifted)`."""
        X = np.asarray(X, dtype=np.float64)
        columns, starts, widths, low, high = self.table
        lifted = np.empty((len(X), self.n_lifted))
        lifted[:, : self.n_features] = X
        rises = X[:, columns]  # a copy
        rises -= starts
        with np.errstate(over="ignore"):  # far beyond the last knot, a ramp goes on to infinity
            rises /= widths
        np.clip(rises, low, high, out=lifted[:, self.n_features :])
        return lifted

    @cached_property
    def _inner(self) -> NDArray[np.intp]:
        first = np.append(True, np.diff(self.features) != 0)
        last = np.append(np.diff(self.features) != 0, True)
        return np.flatnonzero(~(first[: len(self.knots)] | last[: len(self.knots)]))

    def hinges(self) -> tuple[NDArray[np.intp], Float64]:
        """Return the columns and the knots of the hinges `relu(x_j - t)` that span the same."""
        return self.features[self._inner], self.knots[self._inner]

    def as_hinges(self, weights: Float64) -> tuple[Float64, Float64]:
        """Convert weights of the lifted columns into those of the columns and the hinges.

        With the rises `v_i` and the slopes `s_i = v_i / (t_{i+1} - t_i)` between knots,

            sum_i v_i r_i(x) = s_0 (x - t_0) + sum_{i>0} (s_i - s_{i-1}) relu(x - t_i).

        Returns the weights and the constants, `t_0` times the slopes of the first ramps.
        """
        d = self.n_features
        plain, constants, hinges = weights[:, :d].copy(), np.zeros(len(weights)), []
        at = d
        for j, knots in self._columns:
            slopes = weights[:, at : at + len(knots) - 1] / np.diff(knots)
            plain[:, j] += slopes[:, 0]
            constants -= slopes[:, 0] * knots[0]
            hinges.append(np.diff(slopes, axis=1))
            at += len(knots) - 1
        return np.column_stack([plain, *hinges]), constants

    def state(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "features": self.features, "knots": self.knots}


def ramp_table(features: NDArray[np.intp], knots: NDArray[np.floating]) -> RampTable:
    """Return the ramps between successive knots of the same column, in the type of the knots."""
    inside = np.diff(features) == 0
    columns, starts, ends = features[:-1][inside], knots[:-1][inside], knots[1:][inside]
    first, last = np.diff(columns, prepend=-1) > 0, np.diff(columns, append=np.inf) > 0
    low, high = np.where(first, -np.inf, 0), np.where(last, np.inf, 1)
    return RampTable(columns, starts, ends - starts, *(b.astype(knots.dtype) for b in (low, high)))


def _quantiles(x: Float64, weights: Float64 | None, shares: Float64) -> Float64:
    """Return the distinct quantiles of a column, those of `-x` mirrored.

    The mean of the smallest and the largest value that divide the weight in the given share.
    """
    order = np.argsort(x, kind="stable")
    x = x[order]
    weight = np.full(len(x), 1.0 / len(x)) if weights is None else weights[order] / weights.sum()
    # Rounded: sums of the same weights in another order must find the same rows.
    below, shares = np.round(np.cumsum(weight), 12), np.round(shares, 12)
    low = x[np.minimum(np.searchsorted(below, shares, side="left"), len(x) - 1)]
    high = x[np.minimum(np.searchsorted(below, shares, side="right"), len(x) - 1)]
    return np.asarray(np.unique(low / 2 + high / 2))
