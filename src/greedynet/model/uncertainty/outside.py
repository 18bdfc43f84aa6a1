"""`TrainingSample`: what the training inputs were like, and `Outside`: which new rows are unlike.

A network says nothing about rows that are far from all those it has seen. For single columns, their
smallest and largest values decide. Combinations of columns are measured by the distance to the
nearest of up to 256 training rows,

    |(x - m) A|,    A = diag(1 / deviations) V diag(1 / sqrt(max(v, 0.01))),

where `V` and `v` are eigenvectors and eigenvalues of the correlations of the columns: with it, a
row that breaks a strong correlation is far, although each of its values is usual. The unit is the
distance that 99 % of the training rows do not exceed, each without itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.support.magnitudes import LARGEST_SCORE
from greedynet.support.phrases import plural
from greedynet.support.types import Float64

MOST_ROWS = 256
# A row beyond this multiple of the unit is a combination that was not seen.
FAR = 1.5
# Training rows by which the unit is measured, and the share of them within it.
_MEASURED, _WITHIN = 4_096, 0.99
# With more columns, the directions of the largest eigenvalues are used.
_MOST_AXES = 64
_WIDE = 4_096  # columns, above which their correlations take too much memory
_SMALLEST = 0.01
_SMALLEST_UNIT = 2.0**-1000
_BLOCK = 8_192


@dataclass(frozen=True, eq=False)
class TrainingSample:
    """A sample of the training rows, in coordinates without scales and correlations."""

    center: Float64  # (d,): the `m`
    axes: Float64  # (d, k): the matrix `A`
    # (n_rows, k): the coordinates of up to 256 training rows, drawn at random.
    rows: NDArray[np.float32]
    unit: float  # the distance to the nearest of them that 99 % of the training rows do not exceed

    @staticmethod
    def of(X: NDArray[np.floating]) -> "TrainingSample":
        drawn = np.random.default_rng(0).permutation(len(X))[: MOST_ROWS + _MEASURED]
        sample: Float64 = np.asarray(X[drawn], dtype=np.float64)
        center, axes = _whitening(sample)
        coordinates = _within((sample - center) @ axes)
        rows = coordinates[:MOST_ROWS].astype(np.float32)
        near = _nearest(coordinates, rows.astype(np.float64), itself=True)
        return TrainingSample(center, axes, rows, _unit(near))

    def distance(self, X: Float64) -> Float64:
        """Return how far rows are from the nearest training row, in units."""
        found = _nearest(_within((X - self.center) @ self.axes), self.rows.astype(np.float64))
        return found / self.unit


@dataclass(frozen=True, eq=False)
class Outside:
    """Where rows are outside the training data.

    Attributes
    ----------
    columns : ndarray of bool, of shape (n_rows, n_columns)
        Whether a value is smaller or larger than all of the training data.
    distance : ndarray of shape (n_rows,)
        Distance to the nearest of a sample of training rows, in units that 99 % of the training
        rows do not exceed.
    names : tuple of str
        Names of the columns.
    """

    columns: NDArray[np.bool_]
    distance: Float64
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.distance)

    @property
    def rows(self) -> NDArray[np.bool_]:
        """Whether a row is outside: some value is, or its distance is larger than 1.5."""
        return np.asarray(self.columns.any(axis=1) | (self.distance > FAR))

    def describe(self) -> list[str]:
        """Return for each row the columns beyond what was seen, "combination", or ""."""
        unseen = np.where(self.rows, "combination", "").tolist()
        for i in np.flatnonzero(self.columns.any(axis=1)).tolist():
            unseen[i] = ", ".join(np.array(self.names)[self.columns[i]].tolist())
        return list(unseen)

    def __str__(self) -> str:
        return outside_sentence(
            len(self),
            int(self.rows.sum()),
            dict(zip(self.names, self.columns.sum(axis=0).tolist(), strict=True)),
        )


def outside_sentence(n_rows: int, n_outside: int, beyond: dict[str, int]) -> str:
    """Return how many rows are outside, and the columns with most values beyond their range."""
    if n_outside == 0:
        return f"All of {plural(n_rows, 'row')} are within what the training data show."
    most = sorted((name for name in beyond if beyond[name]), key=lambda name: -beyond[name])
    listed = ", ".join(f"{name} ({beyond[name]:,})" for name in most[:3])
    more = ", ..." if len(most) > 3 else ""
    where = f"beyond the range of {listed}{more}" if most else "as combinations of columns"
    verb = "is" if n_outside == 1 else "are"
    return f"{n_outside:,} of {plural(n_rows, 'row')} {verb} outside the training data, {where}."


def columns_outside(X: Float64, input_range: Float64) -> NDArray[np.bool_]:
    """Return whether values are outside the range of the training data, `(n_rows, d)`."""
    low, high = input_range
    return np.asarray((low > X) | (high < X))


def share_ahead(pairs: Sequence[tuple[Float64, Float64]]) -> float:
    """Return the share of rows that are outside those which came before them.

    Columns in which every row is beyond all that came before, such as time itself, are left out:
    they say nothing about one row or the other.
    """
    beyond = [
        columns_outside(after, np.array([X.min(axis=0), X.max(axis=0)])) for X, after in pairs
    ]
    kept = ~np.all([outside.all(axis=0) for outside in beyond], axis=0)
    if not kept.any():
        return 0.0
    found = [
        outside[:, kept].any(axis=1)
        | (TrainingSample.of(X[:, kept]).distance(after[:, kept]) > FAR)
        for (X, after), outside in zip(pairs, beyond, strict=True)
    ]
    return float(np.concatenate(found).mean())


def _whitening(X: Float64) -> tuple[Float64, Float64]:
    """Return the mean of rows, and the matrix `A`."""
    unit = 2.0 ** np.frexp(np.abs(X).max(axis=0))[1]
    scaled = X / unit
    center, deviation = scaled.mean(axis=0), scaled.std(axis=0)
    # Below the smallest unit, the reciprocal would overflow.
    varies = (deviation > 1e-12) & (unit > _SMALLEST_UNIT)
    scale = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    Z = (scaled - center) * scale
    values, vectors = _principal(Z)
    axes = (scale / unit)[:, None] * vectors / np.sqrt(np.maximum(values, _SMALLEST))
    return center * unit, axes


def _principal(Z: Float64) -> tuple[Float64, Float64]:
    """Return the largest variances of rows, and their axes as columns."""
    n_rows, d = Z.shape
    if d <= max(n_rows, _WIDE):
        values, vectors = np.linalg.eigh(Z.T @ Z / n_rows)
        return values[::-1][:_MOST_AXES], vectors[:, ::-1][:, :_MOST_AXES]
    # The same axes from products of rows: `d x d` would not fit into memory. Rows span no others.
    values, inner = np.linalg.eigh(Z @ Z.T / n_rows)
    values, inner = values[::-1][:_MOST_AXES], inner[:, ::-1][:, :_MOST_AXES]
    kept = values > _SMALLEST
    return values[kept], Z.T @ inner[:, kept] / np.sqrt(n_rows * values[kept])


def _within(coordinates: Float64) -> Float64:
    return np.clip(coordinates, -LARGEST_SCORE, LARGEST_SCORE)


def _nearest(Z: Float64, rows: Float64, *, itself: bool = False) -> Float64:
    """Return distances to the nearest row; with `itself`, the first of `Z` are these rows."""
    found = np.empty(len(Z))
    for start in range(0, len(Z), _BLOCK):
        part = Z[start : start + _BLOCK]
        squares = (part**2).sum(axis=1)[:, None] - 2 * part @ rows.T + (rows**2).sum(axis=1)
        if itself and start == 0:
            own = np.arange(min(len(rows), len(part)))
            squares[own, own] = np.inf
        found[start : start + _BLOCK] = np.sqrt(np.maximum(squares.min(axis=1), 0.0))
    return found


def _unit(near: Float64) -> float:
    """Return the distance within which most rows are; of a single row, or of equal ones, 1."""
    near = near[np.isfinite(near)]
    if not len(near):
        return 1.0
    unit = float(np.quantile(near, _WITHIN))
    return unit if unit > 1e-6 else 1.0
