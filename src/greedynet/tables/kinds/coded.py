"""Categories with many levels: the mean of the target among the rows of a level, and their number.

scikit-learn's `TargetEncoder` shrinks the means of rare levels towards that of all rows, and gives
each training row a mean of other rows. Levels that are not listed have the mean of all rows, and
the number 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Part, Problems
from greedynet.tables.readers.base import Column, looked_up

_N_FOLDS = 5


@dataclass(frozen=True)
class Coded:
    """A column of text with many distinct values, see `base.Kind`.

    Attributes
    ----------
    texts : tuple of str
        The levels that come more than once.
    rare : tuple of str
        The others.
    values : tuple of tuple of float
        For each level, and at the end for all others, the means of the target, one for each of
        several classes, and the logarithm of one plus the number of rows; empty before it is
        learned, when all features are the place of the level.
    n_means : int
        Number of means.
    """

    texts: tuple[str, ...]
    values: tuple[tuple[float, ...], ...] = ()
    n_means: int = 1
    rare: tuple[str, ...] = ()
    wanted = "categories"
    levels = None
    expression = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.n_means + 1

    def features(self, name: str) -> tuple[str, ...]:
        """Return names for the means, and for the number of rows."""
        several = self.n_means > 1
        means = (f"{name}: mean{f' {j}' if several else ''}" for j in range(self.n_means))
        return (*means, f"{name}: rows")

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the means and the number of rows."""
        others = len(self.texts)
        place = {text: i for i, text in enumerate(self.texts)} | {"": -1}
        place |= dict.fromkeys(self.rare, others)
        at = looked_up(cells, lambda text: place.get(text, others + 1))
        new, at = at > others, np.minimum(at, others)
        out[:] = self.of_places(at) if self.values else at[:, None]
        out[at == -1] = np.nan
        return {"empty": at == -1, "unknown": new}

    def of_places(self, at: NDArray[np.intp]) -> Float64:
        """Return the features of levels by their places, any for -1."""
        return np.array(self.values)[at]

    def learned(self, X: Float64, y: NDArray[Any], *, classes: bool, seed: int) -> "Coded":
        """Learn from places of levels and targets; put features of other rows in their stead."""
        from sklearn.model_selection import KFold

        empty, n = np.isnan(X[:, 0]), len(self.texts) + 1
        at = np.where(empty, n - 1, X[:, 0]).astype(np.intp)
        labels = np.unique(y)[-self.n_means :] if classes else ()
        T = np.column_stack([y == label for label in labels]) if classes else y[:, None]
        T = T.astype(np.float64)
        counts = np.bincount(at, minlength=n)
        counts[-1] = 0  # as of a level that is new
        values = np.column_stack([_means(at, T, n), np.log1p(counts)])
        X[:] = values[at]
        folds = KFold(min(_N_FOLDS, len(y)), shuffle=True, random_state=seed)
        for others, held in folds.split(at):
            X[held, :-1] = _means(at[others], T[others], n)[at[held]]
        X[empty] = np.nan
        return replace(self, values=tuple(map(tuple, values.tolist())))

    def recode(self, X: Float64) -> None:
        """Put features in the stead of places of levels."""
        empty = np.isnan(X[:, 0])
        X[:] = self.of_places(np.where(empty, -1, X[:, 0]).astype(np.intp))
        X[empty] = np.nan

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return each feature."""
        return tuple(Part(feature, (i,)) for i, feature in enumerate(self.features(name)))

    def describe(self) -> str:
        """Return the number of levels."""
        return f"one of {len(self.texts):,} levels, by the mean of the target and their rows"

    def example(self, means: Sequence[float]) -> str:
        """Return the first level."""
        return self.texts[0]

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        values = [list(row) for row in self.values]
        texts, rare = list(self.texts), list(self.rare)
        return {"type": "coded", "texts": texts, "values": values, "rare": rare}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Coded":
        """Return the kind from plain values, or raise an error for what cannot be."""
        texts, values = tuple(state["texts"]), np.array(state["values"], dtype=np.float64)
        rare = tuple(state["rare"])
        if not texts or not all(isinstance(text, str) for text in (*texts, *rare)):
            raise ValueError(f"`texts` of a column must be texts, got {texts!r:.80}.")
        if values.ndim != 2 or len(values) != len(texts) + 1 or values.shape[1] < 2:
            raise ValueError("`values` of a column must have a row for each level, and one more.")
        if not np.isfinite(values).all():
            raise ValueError("`values` of a column must be finite numbers.")
        return cls(texts, tuple(map(tuple, values.tolist())), values.shape[1] - 1, rare)


def _means(at: NDArray[np.intp], T: Float64, n: int) -> Float64:
    """Return the means of each target by level, drawn towards those of all rows."""
    from sklearn.preprocessing import TargetEncoder

    encoder = TargetEncoder(categories=[np.arange(n)], target_type="continuous")
    columns = [encoder.fit(at[:, None], t).transform(np.arange(n)[:, None]) for t in T.T]
    return np.column_stack(columns)
