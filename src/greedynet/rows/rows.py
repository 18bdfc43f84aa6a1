"""Rows: validated arrays in canonical order.

For a fit, a sample weight of two is equivalent to a repeated row, and the order of the rows has no
effect. This is ensured here: rows of weight zero are dropped, equal rows are merged and their
weights added, and the result is sorted. It is done for up to `CANONICAL_ROWS` rows, where the cost
is negligible; larger data keep their order. Equal rows of different groups stay apart.
"""

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.columns import CanonicalColumns
from greedynet.support.types import Float64

CANONICAL_ROWS = 10_000
# Relative to the largest: a smaller weight has no influence, but its square could be zero.
SMALLEST_WEIGHT = 2.0**-200


@dataclass(frozen=True, eq=False)
class Rows:
    """Data in the form used by the algorithm.

    Attributes
    ----------
    X : ndarray of shape (n_rows, d)
        Inputs, float64 or float32.
    Y : ndarray of shape (n_rows, n_outputs)
        Outputs, float64.
    weights : ndarray of shape (n_rows,) or None
        Positive sample weights with mean 1; None if all are equal.
    effective_size : float or None
        Number of rows of equal weight that carry as much information; None for `len(rows)`.
    start : int
        Position of the first row among all rows, if these are a block of them.
    columns : CanonicalColumns or None
        Order and signs of the columns by which rows are sorted; None for those given.
    groups : ndarray of int of shape (n_rows,) or None
        Rows of the same number belong together: their errors are alike. None if each is on its own.
    """

    X: NDArray[np.floating]
    Y: Float64
    weights: Float64 | None = None
    effective_size: float | None = None
    start: int = 0
    columns: CanonicalColumns | None = None
    groups: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return int(self.X.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.Y.shape[1])

    @property
    def digest(self) -> str:
        """Digest of all numbers in order, which identifies the rows."""
        found = blake2b(digest_size=8)
        for part in (self.X, self.Y, self.weights, self.groups):
            if part is not None:
                found.update(f"{part.dtype} {part.shape}".encode())
                found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()

    @property
    def n_independent(self) -> float:
        """Effective sample size, for noise and degrees of freedom."""
        return float(len(self)) if self.effective_size is None else self.effective_size

    @property
    def row_scale(self) -> Float64 | None:
        """Square roots of the weights, the factors of the rows in least squares."""
        return None if self.weights is None else np.sqrt(self.weights)

    def weighted(self, values: Float64) -> Float64:
        """Return the rows of `values` times the square roots of the weights."""
        return values if self.weights is None else values * np.sqrt(self.weights)[:, None]

    @property
    def n_weighted(self) -> int:
        """Number of rows with a positive weight."""
        return len(self) if self.weights is None else int(np.count_nonzero(self.weights))

    def take(self, chosen: NDArray[np.intp]) -> "Rows":
        """Return the chosen rows."""
        weights = None if self.weights is None else self.weights[chosen]
        groups = None if self.groups is None else self.groups[chosen]
        return Rows(self.X[chosen], self.Y[chosen], weights, columns=self.columns, groups=groups)

    def of_positive_weight(self) -> "Rows":
        """Return the rows of positive weight."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def canonical(self, merged_up_to: int = CANONICAL_ROWS) -> "Rows":
        """Return the rows of positive weight; merged and sorted, unless there are too many."""
        rows = self.of_positive_weight()
        if len(rows) <= merged_up_to:
            rows = rows._merged()._rounded_weights()
        return rows._mean_one()

    def _merged(self) -> "Rows":
        weights = np.ones(len(self)) if self.weights is None else self.weights
        groups = np.zeros(len(self), dtype=np.intp) if self.groups is None else self.groups
        # Weights are the last key: those of equal rows are then always added in the same order.
        order = np.lexsort(np.column_stack([*self._sorting_keys(), groups, weights]).T[::-1])
        rows, groups = self.take(order), groups[order]
        X, Y, new = rows.X, rows.Y, np.ones(len(rows), dtype=bool)
        new[1:] = (X[1:] != X[:-1]).any(axis=1) | (Y[1:] != Y[:-1]).any(axis=1)
        new[1:] |= groups[1:] != groups[:-1]
        starts = np.flatnonzero(new)
        return replace(rows.take(starts), weights=np.add.reduceat(weights[order], starts))

    def _sorting_keys(self) -> tuple[NDArray[np.floating], Float64]:
        """Return inputs and outputs whose lexicographic order is that of the rows."""
        by = self.columns
        if by is None:
            return self.X, self.Y
        return (self.X * by.signs)[:, by.order], self.Y * by.output_signs

    def _mean_one(self) -> "Rows":
        if self.weights is None or (self.weights == self.weights[0]).all():
            return replace(self, weights=None)
        # Divide by the largest first: the sum of huge weights could overflow.
        largest = self.weights.max()
        relative = np.maximum(self.weights / largest, SMALLEST_WEIGHT)
        if (relative > SMALLEST_WEIGHT).all():
            return replace(self, weights=self.weights / rounded(largest * relative.mean()))
        return replace(self, weights=relative / rounded(relative.mean()))

    def _rounded_weights(self) -> "Rows":
        """Return the rows with weights relative to the largest: the same numbers in any unit."""
        if self.weights is None:
            return self
        relative = np.maximum(self.weights / self.weights.max(), SMALLEST_WEIGHT)
        return replace(self, weights=rounded(relative))


def rounded(value: Any) -> Any:
    """Round to twelve digits, to which sums of the same numbers in any order agree.

    Data scaled by them are then bitwise the same, however the rows are stored.
    """
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)
