"""Cells of a column, of any kind, as numbers or as texts.

A column of a block is an array of float64 (NaN for empty cells), of datetime64 or timedelta64 (NaT
for empty cells), an array of texts, or `Cells`, texts that are still bytes of a file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.readers import Column
from greedynet.tables.readers.base import Levels, Mask, text_column
from greedynet.tables.readers.texts import stripped, text_levels, text_numbers


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
