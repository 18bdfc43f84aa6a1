"""The interface of kinds of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.readers.base import Column, Expression

Mask = NDArray[np.bool_]
# Problems of cells by name, "empty", "text" or "unknown", each with a mask of its rows.
Problems = dict[str, Mask]

# Words behind a number that make a duration of it.
_HOURS = ("day", "days", "h", "hr", "hrs", "hour", "hours")
_MINUTES = ("min", "mins", "minute", "minutes", "sec", "secs", "second", "seconds")
DURATIONS = frozenset((*_HOURS, *_MINUTES))

# A column with at least this fraction of numbers is taken to be numeric, and so for dates.
MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Part:
    """Features of a column that vary together in a picture of their effect.

    Attributes
    ----------
    at : tuple of int
        Places of the features among those of the column.
    values : ndarray of shape (n_values, len(at)) or None
        Settings of the features; None for a single one that takes values as in the data.
    labels : sequence of str or of float, or None
        What each setting is called, or its place on an axis.
    """

    name: str
    at: tuple[int, ...]
    values: Float64 | None = None
    labels: Sequence[Any] | None = None


class Kind(Protocol):
    """What a column holds; frozen, and equal to another with the same `state`."""

    @property
    def wanted(self) -> str:
        """What cells must be, in error messages: "numbers"."""
        ...

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The categories, None for all other kinds."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...

    @property
    def expression(self) -> Expression | None:
        """What makes a number of a text cell in SQL, if that is all that `encode` does."""
        ...

    def features(self, name: str) -> tuple[str, ...]:
        """Return the names of the features of a column with this name."""
        ...

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the features to `out`, zeros of shape (n_rows, n_features); return the problems.

        Empty cells become NaN in all features, and so may cells with other problems.
        """
        ...

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return what to draw the effects of."""
        ...

    def describe(self) -> str:
        """Return what the column holds, in words: "a number"."""
        ...

    def example(self, means: Sequence[float]) -> Any:
        """Return a cell, given the means of the features: a number or a text."""
        ...

    def state(self) -> dict[str, Any]:
        """Return plain values for a file, with the `type`; `kinds.from_state` is the inverse."""
        ...


@dataclass(frozen=True)
class Wording:
    """What error messages call a column, and what they advise.

    Attributes
    ----------
    what : str
        The column, at the beginning: "data.csv: column 'x'".
    as_text : str
        How to treat its cells as text.
    remedy : str
        What to do about single cells that cannot be read.
    """

    what: str
    as_text: str
    remedy: str


class Tally:
    """Counts over all blocks, which are equal if all of them are."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)


class TextTally(Tally):
    """Counts of the texts of a column that a kind can read: `n` cells.

    `other` is the first text that cannot be read, and its row.
    """

    def __init__(self) -> None:
        self.n = 0
        self.other: tuple[str, int] | None = None
        self._n_seen = 0

    @property
    def is_hopeless(self) -> bool:
        """Whether many texts were seen, and none could be read."""
        return self.n == 0 and self._n_seen > 100

    def add(self, texts: Sequence[str], counts: Sequence[int], rows: Sequence[int]) -> None:
        """Add distinct texts, how often each comes, and the row of the first, from 1."""
        if self.is_hopeless:
            return
        self._n_seen += len(texts)
        for text, count, row in zip(texts, counts, rows, strict=True):
            if self.takes(text, count, row):
                self.n += count
            elif self.other is None or row < self.other[1]:
                self.other = (text, row)

    def takes(self, text: str, count: int, row: int) -> bool:
        """Count a text, or return False if it cannot be read."""
        raise NotImplementedError
