"""Rows: validated arrays in canonical order, and classes as numbers.

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

from greedynet.support.types import Float64

# Statistics of the same numbers, summed in any order and in any units, agree to more digits.
_BITS = 26
_ZERO = 2.0**-_BITS
# Scaled numbers are rounded to multiples of this: the rounding errors of units lie far below it.
GRID = 2.0**-30


@dataclass(frozen=True, eq=False)
class CanonicalColumns:
    """The canonical order and signs of inputs, and signs of outputs."""

    order: NDArray[np.intp]  # (d,): positions of the canonical columns among the given ones
    signs: Float64  # (d,): 1 or -1 for each given column
    output_signs: Float64  # (n_outputs,): 1 or -1 for each output; only rows are sorted by them

    @staticmethod
    def of(Z: Float64, T: Float64, weights: Float64 | None) -> "CanonicalColumns":
        """Return the canonical order of standardised columns.

        With weighted means `E` over the rows, `a = |z|^2` over all inputs and `b = |t|^2` over all
        outputs, columns are compared by

            E z_j^4, E z_j^2 b, sum_k (E z_j t_k)^2, E z_j^2 a, sum_k (E z_j^2 t_k)^2,

        and by the absolute values of the following, whose first nonzero one gives the sign:

            E z_j^3, E z_j b, E z_j a, E z_j t_1, E z_j t_2, ...

        Columns that agree in all of them keep their given order, and a column for which the latter
        are all zero keeps its sign. As a rule such columns are equal, or exchanging or reflecting
        them maps the rows onto themselves; then the network may be the mirror image.

        Both `Z` and the outputs `T` have mean 0 and standard deviation 1, constant columns zeros.
        """
        share = np.full(len(Z), 1.0 / len(Z)) if weights is None else weights / weights.sum()
        output_signs = _signs((share @ T**3)[None, :])
        T = T * output_signs
        a, b = np.einsum("ij,ij->i", Z, Z), np.einsum("ij,ij->i", T, T)
        square = Z * Z
        with_a, with_b, with_T = (share[:, None] * v for v in (a[:, None], b[:, None], T))
        cube = np.einsum("i,ij,ij->j", share, square, Z)
        odd = np.vstack([cube, with_b.T @ Z, with_a.T @ Z, with_T.T @ Z])
        even = np.vstack(
            [
                np.einsum("i,ij,ij->j", share, square, square),
                with_b.T @ square,
                np.sum((with_T.T @ Z) ** 2, axis=0),
                with_a.T @ square,
                np.sum((with_T.T @ square) ** 2, axis=0),
            ]
        )
        keys = _to_few_bits(np.vstack([even, np.abs(odd)]))
        # Constant columns, whose statistics are zero, come last.
        return CanonicalColumns(np.lexsort(-keys[::-1]), _signs(odd), output_signs)


def _signs(statistics: Float64) -> Float64:
    """Return the sign of the first nonzero statistic of each column; 1 if all are zero."""
    clear = np.where(np.abs(statistics) > _ZERO, np.sign(statistics), 0.0)
    first = np.take_along_axis(clear, np.argmax(clear != 0, axis=0)[None, :], axis=0)[0]
    return np.where(first == 0, 1.0, first)


def _to_few_bits(values: Float64) -> Float64:
    """Round to 26 bits, so that numbers compare equal that differ by rounding errors only.

    Below the last bit of 1 they are zero.
    """
    mantissa, exponent = np.frexp(values)
    few = np.ldexp(np.round(mantissa / _ZERO) * _ZERO, exponent)
    return np.where(np.abs(values) > _ZERO, few, 0.0)


def on_grid(values: NDArray[np.floating]) -> Float64:
    """Round scaled numbers to multiples of 2^-30, so that they are the same in all units."""
    # Adding zero turns -0 into 0.
    return np.asarray(np.rint(values / GRID) * GRID + 0.0, dtype=np.float64)


CANONICAL_ROWS = 10_000
# Relative to the largest: a smaller weight has no influence, but its square could be zero.
SMALLEST_WEIGHT = 2.0**-200


@dataclass(frozen=True, eq=False)
class Rows:
    """Data in the form used by the algorithm."""

    X: NDArray[np.floating]  # (n_rows, d): inputs, float64 or float32
    Y: Float64  # (n_rows, n_outputs): outputs, float64
    # (n_rows,): positive sample weights with mean 1; None if all are equal.
    weights: Float64 | None = None
    # Number of rows of equal weight that carry as much information; None for `len(rows)`.
    effective_size: float | None = None
    start: int = 0  # position of the first row among all rows, if these are a block of them
    # Order and signs of the columns by which rows are sorted; None for those given.
    columns: CanonicalColumns | None = None
    # (n_rows,): rows of the same number belong together: their errors are alike. None if each is on
    # its own.
    groups: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_outputs(self) -> int:
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
        weights = None if self.weights is None else self.weights[chosen]
        groups = None if self.groups is None else self.groups[chosen]
        return Rows(self.X[chosen], self.Y[chosen], weights, columns=self.columns, groups=groups)

    def of_positive_weight(self) -> "Rows":
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


# Columns with more distinct values are not treated as categories.
MOST_LEVELS = 100


def most_levels(n_rows: int) -> int:
    """Return the largest number of levels of a column of categories."""
    return min(MOST_LEVELS, max(10, n_rows // 2))


def class_numbers(Y: Float64) -> NDArray[np.intp]:
    """Return the class numbers for unit vectors, or for one column of 0 and 1."""
    found = Y[:, 0] > 0.5 if Y.shape[1] == 1 else Y.argmax(axis=1)
    return found.astype(np.intp)


def unit_vectors(labels: NDArray[Any], classes: NDArray[Any]) -> Float64:
    """Return classes as unit vectors; for two classes, one column with 1 for the second."""
    at = np.searchsorted(classes, labels)
    if len(classes) == 2:
        return at[:, None].astype(np.float64)
    return np.asarray(np.eye(len(classes))[at])
