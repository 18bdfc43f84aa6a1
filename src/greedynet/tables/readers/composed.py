"""Tables made of tables: parts one after the other, and numbers written with other marks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from greedynet.tables.readers.base import Block, Column, Table, TableError, text_column
from greedynet.tables.readers.marks import read_marked, with_point, without_thousands


class PartsTable:
    """The rows of all parts, in their order; one part is in memory at a time.

    `parts` yields the same parts every time, and `opened` opens one as a table.
    """

    def __init__(self, parts: Iterable[Any], opened: Callable[[Any], Table]) -> None:
        if iter(parts) is parts:
            raise TypeError(
                f"`source` must yield its parts again for every pass, got a {type(parts).__name__},"
                " which is exhausted after one: pass a list, or an object whose `__iter__` starts "
                "again."
            )
        self._parts, self._opened = parts, opened
        first = next(self._tables(), None)
        if first is None:
            raise TableError("`source` must yield at least one part, got none.")
        self.first, self.names = first, first.names
        self.label = f"{first.label} and the parts after it"

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        for number, table in enumerate(self._tables()):
            absent = sorted(set(names) - set(table.names))
            if absent:
                raise TableError(
                    f"Every part must have the columns of the first, but part {number} "
                    f"({table.label}) has no {absent[0]!r}: add it, or leave the part out."
                )
            yield from table.blocks(names)

    def _tables(self) -> Iterator[Table]:
        for number, part in enumerate(self._parts):
            if isinstance(part, tuple):
                raise TypeError(
                    "`source` must yield tables, such as data frames or mappings from names to "
                    f"columns, got a tuple as part {number}: blocks `(X, y)` have no names; pass "
                    "them to the `fit` of an estimator."
                )
            yield self._opened(part)


MARKS = (",", ".", " ", "'")


class MarksTable:
    """A table whose numbers are rewritten with decimal points, without marks between thousands.

    The marks are promised: `decimal` is "." or ","; `thousands` is None if it is not known.
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
