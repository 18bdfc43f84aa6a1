"""Reading of plain text tables: bytes -> columns whose cells are places in the bytes."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.readers.base import (
    EMPTY,
    ROWS,
    Levels,
    Mask,
    stripped,
    text_column,
    text_levels,
    text_numbers,
)
from greedynet.tables.readers.delimited.compiled import (
    MOST,
    TEXT,
    UNDECIDED,
    Bytes,
    Places,
    as_key,
    find_distinct,
    has_byte,
    read_numbers,
    split,
)
from greedynet.tables.readers.marks import with_point

_BOM = b"\xef\xbb\xbf"
PIECE = 2**19
# Of a block, which has fewer rows if they are very long: places must fit into 32 bits.
_MOST_BYTES = 2**28
_EMPTY_KEYS = np.array([as_key(text) for text in sorted(EMPTY) if text], dtype=np.uint64)


class Page:
    """Some rows of a file, as bytes of UTF-8."""

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

    `starts` and `ends` are the places of the cells, as `split` gives them. `decimal` is the decimal
    mark of numbers; in the texts of the cells it is a point.
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


@dataclass
class PlainBlock:
    """Consecutive rows of a plain file, with the places of their cells, `(n_rows, n_cells)`."""

    page: Page
    starts: Places
    ends: Places

    def __len__(self) -> int:
        return len(self.starts)

    def column(self, place: int) -> PlainCells:
        """Return one of the columns."""
        return PlainCells(self.page, self.starts[:, place], self.ends[:, place])


class PlainRows:
    """The rows of a file in UTF-8, as far as they are plain.

    Plain are rows with the right number of cells, without NUL bytes and similar surprises. Rows
    that are not, and all rows below, are left to the careful reader: then `is_plain` is False, and
    they begin at byte `position`, which is 0 if the header is not plain. The file is read in pieces
    of `piece` bytes.
    """

    def __init__(self, file: IO[bytes], separator: str, n_cells: int, piece: int = PIECE) -> None:
        self._file = file
        self._piece = piece
        self._separator = ord(separator)
        self._n_cells = n_cells
        self._longest = min(csv.field_size_limit(), 2**30)
        self._buffer = b""
        self._is_complete = False
        self.position = 0
        self.is_plain = True

    def blocks(self) -> Iterator[PlainBlock]:
        """Yield the rows below the header, several thousand at a time, while they are plain."""
        self._read()
        if self._buffer.startswith(_BOM):
            self._advance(len(_BOM))
        if self._next(1) is None:
            self.is_plain, self.position = False, 0
            return
        while (rows := self._next(ROWS)) is not None:
            yield rows

    def _next(self, most: int) -> PlainBlock | None:
        """Return up to `most` rows; None if there are none left, or they are not plain."""
        found: list[tuple[Places, Places]] = []
        n_rows = at = 0
        while n_rows < most:
            starts, ends, at, self.is_plain = self._split(at, most - n_rows)
            found.append((starts, ends))
            n_rows += len(starts)
            if not self.is_plain or n_rows == most or (n_rows and at >= _MOST_BYTES):
                break
            if self._is_complete or len(self._buffer) > 4 * _MOST_BYTES:
                # A quote that never ends is explained by the careful reader.
                self.is_plain = self._is_complete and at == len(self._buffer)
                break
            self._read()
        page = Page(self._buffer[:at])
        self.is_plain = self.is_plain and page.is_plain
        if not self.is_plain or not n_rows:
            return None
        self._advance(at)
        starts, ends = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return PlainBlock(page, starts, ends)

    def _split(self, at: int, most: int) -> tuple[Places, Places, int, bool]:
        """Return the places of the cells, where their rows end, and whether they are plain."""
        n_bytes = self._buffer.rfind(b"\n") + 1
        # A row has a byte at the end of each cell.
        shape = min(most, max(n_bytes - at, 0) // self._n_cells + 1), self._n_cells
        starts, ends = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        data = np.frombuffer(self._buffer, dtype=np.uint8, count=n_bytes)
        n_rows, at, is_plain = split(data, at, self._separator, self._longest, starts, ends)
        return starts[:n_rows], ends[:n_rows], at, is_plain

    def _read(self) -> None:
        """Read on; twice as much each time, for rows that are longer than a piece."""
        piece = self._file.read(max(self._piece, len(self._buffer)))
        self._is_complete = not piece
        if self._is_complete and self._buffer and not self._buffer.endswith(b"\n"):
            piece = b"\n"
        self._buffer += piece

    def _advance(self, n_bytes: int) -> None:
        self._buffer = self._buffer[n_bytes:]
        self.position += n_bytes
