"""Tables whose numbers have a decimal comma: 1,5 for 1.5."""

from collections.abc import Iterator, Sequence

import numpy as np

from greedynet.tables.readers.base import Block, Column, Table, TableError, text_column
from greedynet.tables.readers.texts import has_decimal_point, with_point


class CommaTable:
    """A table whose text columns may contain numbers with decimal commas.

    Parameters
    ----------
    table : Table
        The table.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.label = table.label
        self.names = table.names

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows in order, with decimal points in numbers."""
        start = 0
        for block in self.table.blocks(names):
            yield {name: self._pointed(name, cells, start) for name, cells in block.items()}
            start += len(next(iter(block.values()), ()))

    def _pointed(self, name: str, cells: Column, start: int) -> Column:
        if not isinstance(cells, np.ndarray):
            with_commas = cells.with_commas()
            if with_commas is not None:
                return with_commas
            cells = cells.texts()
        if cells.dtype == np.float64:
            return cells
        for row, cell in enumerate(cells, start + 1):
            if has_decimal_point(cell):
                raise TableError(
                    f"{self.label}: column {name!r} holds {cell!r} in data row {row}, a number "
                    'with a point, but `decimal=","` requires commas: omit it, or write such '
                    "numbers without points."
                )
        return text_column([with_point(cell) for cell in cells])
