"""The interface of tables: the names of the columns, and the rows in blocks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# float64, NaN for empty cells; datetime64 or timedelta64 in microseconds, NaT for empty cells; or
# objects: the text of the cells, including "None" and "nan".
ArrayColumn = NDArray[Any]
Mask = NDArray[np.bool_]
# Distinct texts, and for each cell the place of its text among them; a text may come twice.
Levels = tuple[list[str], NDArray[np.intp]]

# Rows of a block: enough to be fast, few enough to need little memory.
ROWS = 8192


class TableError(ValueError):
    """Data that cannot be used; the message gives the reason and the remedy."""


class Cells(Protocol):
    """Text cells that have not become Python strings yet; each does where it is asked for."""

    def __len__(self) -> int: ...

    @property
    def n_bytes(self) -> int:
        """Size of the rows that the cells are part of."""
        ...

    def __getitem__(self, row: int) -> str:
        """Return the text of a cell."""
        ...

    def with_commas(self) -> "Cells | None":
        """Return the cells with decimal points for decimal commas; None if any has a point."""
        ...

    def texts(self) -> ArrayColumn:
        """Return the texts of all cells, as a column of objects."""
        ...

    def numbers(self) -> tuple[Float64, Mask]:
        """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
        ...

    def levels(self, most: int | None = None) -> Levels | None:
        """Return the distinct texts, stripped, "" for empty; None if there are more than `most`."""
        ...


Column = ArrayColumn | Cells
Block = dict[str, Column]


class Table(Protocol):
    """Named columns of equal length, which can be read in blocks repeatedly."""

    @property
    def label(self) -> str:
        """Its name in error messages, such as "data.csv"."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in their order."""
        ...

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        ...


def check_names(label: str, names: Sequence[str]) -> None:
    """Raise an error unless there are columns, and their names are distinct.

    Parameters
    ----------
    label : str
        Name of the table in error messages.
    names : sequence of str
        The names of all columns.
    """
    if not names:
        raise TableError(f"{label} has no columns: give a table with columns.")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(f"{label} has more than one column named {twice[0]!r}: rename them.")


def as_column(values: Any) -> ArrayColumn:
    """Return any values as a column: numbers, dates and durations typed, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind in "Mm":
        return array.astype(f"{array.dtype.kind}8[us]")
    return text_column([str(value) for value in array.tolist()])


def without_mask(values: Any) -> Any:
    """Return values with empty cells in place of masked ones."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return values
    if values.dtype.kind in "iuf":
        return np.ma.filled(values.astype(np.float64), np.nan)
    return np.ma.filled(values.astype(object), "")


def text_column(cells: Sequence[str]) -> ArrayColumn:
    """Return texts as a column."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def sliced(columns: dict[str, ArrayColumn], names: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of columns in memory."""
    n_rows = len(next(iter(columns.values()), ()))
    for start in range(0, n_rows, ROWS):
        yield {name: columns[name][start : start + ROWS] for name in names}
