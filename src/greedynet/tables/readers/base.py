"""The interface of tables: names of columns, rows in blocks, and cells as numbers or texts.

A column of a block is an array of float64 (NaN for empty cells), of datetime64 or timedelta64 (NaT
for empty cells), an array of texts, or `Cells`, texts that are still bytes of a file.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """Raise an error unless there are columns, and their names are distinct."""
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


# Texts that stand for an empty cell.
EMPTY = frozenset(
    ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "NaT")
)


def text_numbers(cells: Iterable[str]) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the texts as numbers, NaN where there is none, and a mask of those that are text."""
    plain = ["nan" if cell in EMPTY else cell for cell in cells]
    # Python reads 1_000 as a number; in a table it is a name.
    if not any("_" in cell for cell in plain):
        try:
            return np.array(plain, dtype=np.float64), np.zeros(len(plain), dtype=np.bool_)
        except ValueError:
            pass
    values = np.full(len(plain), np.nan)
    text = np.zeros(len(plain), dtype=np.bool_)
    for i, cell in enumerate(plain):
        if cell.strip() in EMPTY:
            continue
        try:
            if "_" in cell:
                raise ValueError
            values[i] = float(cell)
        except ValueError:
            text[i] = True
    return values, text


def stripped(cells: Iterable[str]) -> list[str]:
    """Return the texts without spaces around them, "" for empty cells."""
    bare = (cell.strip() for cell in cells)
    return ["" if cell in EMPTY else cell for cell in bare]


def text_levels(texts: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts, and for each text its place among them."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(codes, dtype=np.intp)


def is_typed(cells: Column, kind: str) -> bool:
    """Whether a column is an array of this kind of NumPy: "f", "M" or "m"."""
    return isinstance(cells, np.ndarray) and cells.dtype.kind == kind


def cell_texts(cells: Column) -> NDArray[Any]:
    """Return cells as text, without spaces around it; numbers as `number_text` writes them."""
    column = cells if isinstance(cells, np.ndarray) else cells.texts()
    if column.dtype == np.float64:
        return np.array([number_text(value) for value in column.tolist()], dtype=object)
    return np.array([str(text).strip() for text in column.tolist()], dtype=object)


def parse_numbers(cells: Column) -> tuple[Float64, Mask]:
    """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
    if not isinstance(cells, np.ndarray):
        return cells.numbers()
    if cells.dtype == np.float64:
        return cells, np.zeros(len(cells), dtype=np.bool_)
    if cells.dtype.kind in "Mm":
        return np.full(len(cells), np.nan), ~np.isnat(cells)
    return text_numbers(cells)


def empty_mask(cells: Column) -> Mask:
    """Return which cells are empty."""
    values, text = parse_numbers(cells)
    return np.isnan(values) & ~text


def as_text(cells: Column) -> NDArray[Any]:
    """Return the cells as stripped text, "" for empty cells."""
    if not isinstance(cells, np.ndarray):
        cells = cells.texts()
    if cells.dtype == np.float64:
        return text_column(["" if x != x else number_text(x) for x in cells.tolist()])
    if cells.dtype.kind in "Mm":
        return text_column(["" if x is None else str(x) for x in cells.tolist()])
    return text_column(stripped(cells))


def distinct_texts(cells: Column, most: int | None = None) -> Levels | None:
    """Return the distinct texts, as `Cells.levels` does; None if there are more than `most`."""
    if not isinstance(cells, np.ndarray):
        return cells.levels(most)
    levels = text_levels(as_text(cells))
    return None if most is not None and len(levels[0]) > most else levels


def looked_up(cells: Column, find: Callable[[str], int]) -> NDArray[np.intp]:
    """Return for each cell what `find` says of its text, stripped, "" for empty."""
    levels = distinct_texts(cells)
    assert levels is not None  # there is no limit
    texts, codes = levels
    return np.array([find(text) for text in texts], dtype=np.intp)[codes]


def number_text(value: float) -> str:
    """Return a number in its usual notation: 3 for 3.0."""
    return str(int(value)) if value.is_integer() else repr(value)


def label_text(label: Any) -> str:
    """Return a class as the text of its cells."""
    return number_text(label) if isinstance(label, float) else str(label)
