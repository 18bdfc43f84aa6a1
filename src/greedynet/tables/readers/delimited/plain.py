"""Reading of plain text tables: bytes -> columns whose cells are places in the bytes."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from greedynet.tables.readers.base import ROWS
from greedynet.tables.readers.delimited.cells import Page, PlainCells
from greedynet.tables.readers.delimited.split import Places, split

_BOM = b"\xef\xbb\xbf"
PIECE = 2**19
# Of a block, which has fewer rows if they are very long: places must fit into 32 bits.
_MOST_BYTES = 2**28


@dataclass
class Rows:
    """Consecutive rows of a plain file.

    Attributes
    ----------
    page : Page
        Their bytes.
    starts, ends : ndarray of shape (n_rows, n_cells)
        The places of the cells.
    """

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
    they begin at byte `position`, which is 0 if the header is not plain.

    Parameters
    ----------
    file : binary file
        The file, at its beginning.
    separator : str
        Separator of the cells, one ASCII character.
    n_cells : int
        Number of cells of each row.
    piece : int
        Bytes to read at a time.
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

    def blocks(self) -> Iterator[Rows]:
        """Yield the rows below the header, several thousand at a time, while they are plain."""
        self._read()
        if self._buffer.startswith(_BOM):
            self._advance(len(_BOM))
        if self._next(1) is None:
            self.is_plain, self.position = False, 0
            return
        while (rows := self._next(ROWS)) is not None:
            yield rows

    def _next(self, most: int) -> Rows | None:
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
        return Rows(page, starts, ends)

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
