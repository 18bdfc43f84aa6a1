"""What every table offers: the names of its columns, and its rows in blocks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# float64, NaN where a cell is empty; or objects: text as it stands, "None" and "nan" too.
Column = NDArray[Any]
Block = dict[str, Column]

# Rows of a block: enough to be quick, few enough to forget about memory.
ROWS = 8192


class TableError(ValueError):
    """Data that cannot be used as they are; the message says what is wrong and what to do."""


class Table(Protocol):
    """Named columns of equal length, read in blocks as often as one likes."""

    @property
    def label(self) -> str:
        """What errors call it, such as "data.csv"."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in their order."""
        ...

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows in order, some thousand at a time, of these columns."""
        ...


def check_names(label: str, names: Sequence[str]) -> None:
    """Demand that there are columns, and that each has a name of its own.

    Parameters
    ----------
    label : str
        What errors call the table.
    names : sequence of str
        The names of all columns.
    """
    if not names:
        raise TableError(f"{label} has no columns: give a table that has some.")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(f"{label} has more than one column named {twice[0]!r}: rename them.")


def as_column(values: Any) -> Column:
    """Return any values as a column: numbers as float64, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind in "Mm":
        array = array.astype(str)
    return text_column([str(value) for value in array.tolist()])


def text_column(cells: Sequence[str]) -> Column:
    """Return texts as a column."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def sliced(columns: Block, names: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of columns that are in memory."""
    n_rows = len(next(iter(columns.values()), ()))
    for start in range(0, n_rows, ROWS):
        yield {name: columns[name][start : start + ROWS] for name in names}
