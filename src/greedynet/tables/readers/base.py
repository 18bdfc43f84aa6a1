"""Cells of tables as numbers or texts, and what they are in SQL.

A column of a block is an array of float64 (NaN for empty cells), of datetime64 or timedelta64 (NaT
for empty cells), or an array of texts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# float64, NaN for empty cells; datetime64 or timedelta64 in microseconds, NaT for empty cells;
# places of levels, -1 for empty cells; or objects: the text of the cells, with "None" and "nan".
Column = NDArray[Any]
Mask = NDArray[np.bool_]
Block = dict[str, Column]
# From the SQL of a text cell to that of its number, null where it has none.
Expression = Callable[[str], str]


@dataclass(frozen=True)
class AsNumbers:
    """How texts become numbers: by an expression, but for `gaps`, which are empty cells."""

    expression: Expression
    gaps: tuple[str, ...] = ()


# Rows of a block: enough to be fast, few enough to need little memory.
ROWS = 2**14


class TableError(ValueError):
    """Data that cannot be used; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Marks:
    """Marks of numbers that the user has promised; None for those that are not known."""

    decimal: str | None = None
    thousands: str | None = None

    def __bool__(self) -> bool:
        return self != Marks()


def check_names(label: str, names: Sequence[str]) -> None:
    """Raise an error unless there are columns, and their names are distinct."""
    if not names:
        raise TableError(f"{label} has no columns: give a table with columns.")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(f"{label} has more than one column named {twice[0]!r}: rename them.")


def as_column(values: Any) -> Column:
    """Return any values as a column: numbers, dates and durations typed, all else as text."""
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind in "Mm":
        return array.astype(f"{array.dtype.kind}8[us]")
    return text_column([str(value) for value in array.tolist()])


def without_mask(values: Any) -> Any:
    """Return values with empty cells in place of masked ones."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind in "iuf":
        return np.ma.filled(values.astype(np.float64), np.nan)
    if values.dtype.kind in "Mm":
        return np.where(np.ma.getmaskarray(values), np.array("NaT", values.dtype), values.data)
    return np.ma.filled(values.astype(object), "")


def text_column(cells: Sequence[str]) -> Column:
    """Return texts as a column."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


# Texts that stand for an empty cell.
EMPTY = frozenset(
    ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "NaT")
)
# Texts that do so where the other cells of the column are numbers, dates or the like.
GAPS = frozenset(("n/a", "n.a.", "na", "-", "--", "?", ".", "..", "...", "none", "missing", "*"))


def plain_number(cell: str) -> float | None:
    """Return the number in a text such as -1.5e3; None if there is none."""
    if not cell.isascii() or "_" in cell:  # names such as 1_000
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def plain_sql(cell: str) -> str:
    """Return the SQL of `plain_number`."""
    return f"case when {no_number_sql(cell)} then null else try_cast({cell} as double) end"


def no_number_sql(cell: str) -> str:
    """Return the SQL of whether DuckDB might take a text for a number that is none."""
    return f"contains({cell}, '_') or {cell}[1:2] = '+-'"


def text_numbers(cells: Iterable[str]) -> tuple[Float64, Mask]:
    """Return the texts as numbers, NaN where there is none, and a mask of those that are text."""
    texts, codes = text_levels(cells)
    values, is_text = np.full(len(texts), np.nan), np.zeros(len(texts), dtype=np.bool_)
    for i, cell in enumerate(stripped(texts)):
        number = plain_number(cell) if cell else np.nan
        is_text[i] = number is None
        values[i] = np.nan if number is None else number
    return values[codes], is_text[codes]


def stripped(cells: Iterable[str]) -> list[str]:
    """Return the texts without spaces around them, "" for empty cells."""
    bare = (cell.strip() for cell in cells)
    return ["" if cell in EMPTY else cell for cell in bare]


def text_levels(texts: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts, and for each text its place among them."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(codes, dtype=np.intp)


def parse_numbers(cells: Column) -> tuple[Float64, Mask]:
    """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
    if cells.dtype == np.float64:
        return cells, np.zeros(len(cells), dtype=np.bool_)
    if cells.dtype.kind in "Mm":
        return np.full(len(cells), np.nan), ~np.isnat(cells)
    return text_numbers(cells.tolist())


def empty_mask(cells: Column) -> Mask:
    """Return which cells are empty."""
    if cells.dtype == np.float64:
        return np.isnan(cells)
    if cells.dtype.kind in "Mm":
        return np.isnat(cells)
    if cells.dtype.kind == "i":  # places of levels
        return np.asarray(cells < 0)
    return np.array([not cell for cell in stripped(cells.tolist())], dtype=np.bool_)


def as_text(cells: Column) -> Column:
    """Return the cells as stripped text, "" for empty cells."""
    if cells.dtype == np.float64:
        return text_column(["" if x != x else number_text(x) for x in cells.tolist()])
    if cells.dtype.kind in "Mm":
        return text_column(["" if x is None else str(x) for x in cells.tolist()])
    return text_column(stripped(cells.tolist()))


def without(cells: Column, gaps: Collection[str]) -> Column:
    """Return the cells with empty ones in place of some texts."""
    if not gaps or cells.dtype != object:
        return cells
    return text_column(["" if text.strip() in gaps else text for text in cells.tolist()])


def distinct_texts(cells: Column) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts, stripped, "" for empty, and for each cell the place of its own."""
    return text_levels(as_text(cells).tolist())


def looked_up(cells: Column, find: Callable[[str], int]) -> NDArray[np.intp]:
    """Return for each cell what `find` says of its text, stripped, "" for empty."""
    texts, codes = distinct_texts(cells)
    return np.array([find(text) for text in texts], dtype=np.intp)[codes]


def number_text(value: float) -> str:
    """Return a number in its usual notation: 3 for 3.0."""
    return str(int(value)) if value.is_integer() else repr(value)


def label_text(label: Any) -> str:
    """Return a class as the text of its cells."""
    return number_text(label) if isinstance(label, float) else str(label)
