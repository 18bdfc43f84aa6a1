"""Categories with many levels: the mean of the target among the rows of a level, and their number.

See `rows.level_means`. Levels that are not listed have the mean of all rows, and the number 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.level_means import Folds, code_names, level_features
from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Kind, Problems, check_levels, place_sql, places, require
from greedynet.tables.readers.base import Column


@dataclass(frozen=True)
class Coded(Kind):
    """A column of text with many distinct values.

    Attributes
    ----------
    texts : tuple of str
        The levels that come more than once.
    rare : tuple of str
        The others.
    codes : tuple of tuple of float
        For each level, and at the end for all others, the means of the target, one for each of
        several classes, and the logarithm of one plus the number of rows; empty before it is
        learned, when all features are the place of the level.
    n_targets : int
        Number of targets: more than one for several classes.
    """

    texts: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    codes: tuple[tuple[float, ...], ...] = ()
    n_targets: int = 1
    name: ClassVar[str] = "coded"
    nouns: ClassVar[str] = "categories"

    def expression(self, cell: str) -> str:
        """Return the SQL of the place of the level."""
        return place_sql(cell, (*self.texts, *self.rare))

    def features(self, name: str) -> tuple[str, ...]:
        """Return names for the means, and for the number of rows."""
        return tuple(code_names(name, self.n_targets))

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the means and the number of rows."""
        at, new = places(cells, self.texts, self.rare)
        out[:] = np.array(self.codes)[at] if self.codes else at[:, None]
        out[at == -1] = np.nan
        return {"empty": at == -1, "unknown": new}

    def unit_columns(self, X: Float64) -> Float64:
        """Return a feature for each level, the last for all that come once, of their places."""
        n = len(self.texts) + bool(self.rare)
        at, empty = _places(X, n), np.isnan(X[:, 0])
        found = np.eye(n)[at]
        found[empty] = np.nan
        return found

    def learned(self, X: Float64, Y: Float64, folds: Folds, weights: Float64 | None) -> "Coded":
        """Learn from places of levels; put features in their stead that know nothing of the row.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            What `encode` wrote.
        Y : ndarray of shape (n_rows, n_targets)
            Targets.
        folds
            See `level_features`.
        """
        n = len(self.texts) + 1
        values, own = level_features(_places(X, n), Y, n, folds, weights)
        X[:] = np.where(np.isnan(X), np.nan, own)
        return replace(self, codes=tuple(map(tuple, values.tolist())))

    def recode(self, X: Float64) -> None:
        """Put features in the stead of places of levels."""
        values = np.array(self.codes)
        X[:] = np.where(np.isnan(X), np.nan, values[_places(X, len(values))])

    def describe(self) -> str:
        """Return the number of levels."""
        return f"one of {len(self.texts):,} levels, by the mean of the target and their rows"

    def example(self, means: Sequence[float]) -> str:
        """Return the first level."""
        return self.texts[0]

    def check(self) -> None:
        """Raise an error for fields that cannot be."""
        check_levels(self.texts, self.rare)
        n = self.n_targets
        require(isinstance(n, int) and 0 < n < 10**6, "`n_targets` must be a number of means", n)
        values = np.array(self.codes, dtype=np.float64)
        is_right = values.shape == (len(self.texts) + 1, n + 1) and np.isfinite(values).all()
        require(bool(is_right), "`codes` must be finite, in a row for each level and one more", n)


def _places(X: Float64, n: int) -> NDArray[np.intp]:
    """Return the places of levels; that of new ones for empty cells."""
    return np.where(np.isnan(X[:, 0]), n - 1, X[:, 0]).astype(np.intp)
