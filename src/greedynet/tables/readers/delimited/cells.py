"""Columns of a plain text table: the places of their cells in the bytes of the file."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.readers.base import Levels, Mask, text_column
from greedynet.tables.readers.delimited.distinct import MOST, find_distinct
from greedynet.tables.readers.delimited.numbers import (
    TEXT,
    UNDECIDED,
    as_key,
    has_byte,
    read_numbers,
)
from greedynet.tables.readers.delimited.split import Bytes, Places
from greedynet.tables.readers.marks import with_point
from greedynet.tables.readers.texts import EMPTY, stripped, text_levels, text_numbers

_EMPTY_KEYS = np.array([as_key(text) for text in sorted(EMPTY) if text], dtype=np.uint64)


class Page:
    """Some rows of a file.

    Parameters
    ----------
    text : bytes
        The rows, in UTF-8.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.data: Bytes = np.frombuffer(text, dtype=np.uint8)
        self.is_ascii = text.isascii()

    @property
    def is_plain(self) -> bool:
        """Whether the bytes are UTF-8 without NUL."""
        try:
            if not self.is_ascii:
                self.text.decode()
        except UnicodeDecodeError:
            return False
        return b"\0" not in self.text


@dataclass(frozen=True, eq=False)
class PlainCells:
    """A column of a page, see `greedynet.tables.readers.base.Cells`.

    Attributes
    ----------
    page : Page
        The rows.
    starts, ends : ndarray of shape (n_rows,)
        The places of the cells, as `split` gives them.
    decimal : {".", ","}
        Decimal separator of numbers; in the texts of the cells it is a point.
    """

    page: Page
    starts: Places
    ends: Places
    decimal: str = "."

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def n_bytes(self) -> int:
        """Size of the rows that the cells are part of."""
        return len(self.page.text)

    def __getitem__(self, row: int) -> str:
        (cell,) = self._some([row])
        return cell

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.texts(), dtype=dtype)

    def with_commas(self) -> "PlainCells | None":
        """Return the cells with decimal points for decimal commas; None if any has a point."""
        if has_byte(self.page.data, self.starts, self.ends, ord(".")):
            return None
        return replace(self, decimal=",")

    def texts(self) -> NDArray[Any]:
        """Return the texts of all cells, as a column of objects."""
        return text_column(self._some(slice(None)))

    def numbers(self) -> tuple[Float64, Mask]:
        """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
        return self._numbers

    @cached_property
    def _numbers(self) -> tuple[Float64, Mask]:
        values = np.empty(len(self))
        kinds = np.empty(len(self), dtype=np.uint8)
        n_left = read_numbers(
            self.page.data, self.starts, self.ends, ord(self.decimal), _EMPTY_KEYS, values, kinds
        )
        is_text = kinds == TEXT
        if n_left:
            left = np.flatnonzero(kinds == UNDECIDED)
            cells, at = text_levels(self._some(left))
            found, found_text = text_numbers(cells)
            values[left], is_text[left] = found[at], found_text[at]
        values.flags.writeable = is_text.flags.writeable = False
        return values, is_text

    def levels(self, most: int | None = None) -> Levels | None:
        """Return the distinct texts, stripped, "" for empty; None if there are more than `most`."""
        if self._levels is not None:
            texts, codes = self._levels
        elif most is not None and self.page.is_ascii and most + len(EMPTY) < MOST:
            return None  # only texts for empty cells are the same without being equal
        else:
            texts, codes = text_levels(stripped(self._some(slice(None))))
        return None if most is not None and len(set(texts)) > most else (texts, codes)

    @cached_property
    def _levels(self) -> Levels | None:
        """The distinct texts; None if they are too many for the compiled code."""
        codes = np.empty(len(self), dtype=np.intp)
        firsts = np.empty(MOST, dtype=np.int32)
        n_texts = find_distinct(self.page.data, self.starts, self.ends, codes, firsts)
        return (stripped(self._some(firsts[:n_texts])), codes) if n_texts >= 0 else None

    def _some(self, rows: Any) -> list[str]:
        starts, ends, text = self.starts[rows].tolist(), self.ends[rows].tolist(), self.page.text
        cells = [
            text[start:end].decode() if end >= 0 else text[start:~end].decode().replace('""', '"')
            for start, end in zip(starts, ends, strict=True)
        ]
        return cells if self.decimal == "." else list(map(with_point, cells))
