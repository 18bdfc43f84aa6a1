"""Tables whose marks are promised: decimal commas, 1,5 for 1.5, or marks between thousands."""

from collections.abc import Iterator, Sequence

import numpy as np

from greedynet.tables.readers.base import Block, Column, Table, TableError, text_column
from greedynet.tables.readers.marks import read_marked, with_point, without_thousands

MARKS = (",", ".", " ", "'")


class MarksTable:
    """A table whose numbers are rewritten with decimal points, without marks between thousands.

    Parameters
    ----------
    table : Table
        The table.
    decimal : {".", ","}
        The decimal mark of its numbers in text.
    thousands : {",", ".", " ", "'"} or None
        The mark between their groups of three digits; None if it is not known.
    """

    def __init__(self, table: Table, decimal: str, thousands: str | None = None) -> None:
        self.table = table
        self.label = table.label
        self.names = table.names
        self._decimal, self._thousands = decimal, thousands

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows in order, with decimal points in numbers."""
        start = 0
        for block in self.table.blocks(names):
            yield {name: self._rewritten(name, cells, start) for name, cells in block.items()}
            start += len(next(iter(block.values()), ()))

    def _rewritten(self, name: str, cells: Column, start: int) -> Column:
        if not isinstance(cells, np.ndarray):
            compiled = cells.with_commas() if self._thousands is None else None
            if compiled is not None:
                return compiled
            cells = cells.texts()
        if cells.dtype != object:
            return cells
        if self._decimal == ",":
            self._refuse_points(name, cells.tolist(), start)
        return text_column([self._as_plain(cell) for cell in cells.tolist()])

    def _refuse_points(self, name: str, cells: list[str], start: int) -> None:
        """Raise an error for decimal points where commas are promised."""
        for row, cell in enumerate(cells, start + 1):
            found = read_marked(cell) if "." in cell else None
            if found is None or not found.has_point:
                continue
            if self._thousands == "." and with_point(cell) != cell:
                continue  # 1.500, of which the point separates thousands
            raise TableError(
                f"{self.label}: column {name!r} holds {cell!r} in data row {row}, a number with a "
                'point, but `decimal=","` requires commas: write `decimal="."`, or '
                '`thousands="."` if points separate thousands.'
            )

    def _as_plain(self, cell: str) -> str:
        """Return a number with a decimal point and no thousands, other texts unchanged."""
        mark = self._thousands
        if self._decimal == ",":
            cell = with_point(cell)
            mark = "," if mark == "." else mark
        return cell if mark is None else without_thousands(cell, mark)
