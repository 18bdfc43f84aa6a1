"""Two passes over a table, of which the second need not read the file again."""

from collections.abc import Iterator, Sequence

import numpy as np

from greedynet.tables.readers import Block, Table

# Bytes that are kept at most: of the rows, and of what is known of their cells.
MOST_BYTES = 2**28
# The places of a cell in the text, 8 bytes, its number, and whether it is one.
_OF_CELL = 17


class TwoPasses:
    """A table whose second pass over the same columns yields the blocks of the first one.

    Only text that compiled code has read is kept: it takes little memory, and its numbers are not
    read twice. The second pass discards the blocks; another one reads the file again.

    Parameters
    ----------
    table : Table
        The table.
    most_bytes : float
        Memory for the rows to keep; of a larger table, none are, and every pass reads it.
    """

    def __init__(self, table: Table, most_bytes: float = MOST_BYTES) -> None:
        self._table = table
        self._most_bytes = most_bytes
        self._kept: list[Block] | None = None
        self._is_too_large = False
        self.label = table.label
        self.names = table.names

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        if self._is_too_large:
            yield from self._table.blocks(names)
            return
        kept, self._kept = self._kept, None
        if kept and kept[0].keys() >= set(names):
            for i in range(len(kept)):
                block, kept[i] = kept[i], {}
                yield block
            return
        kept, n_bytes = [], 0.0
        for block in self._table.blocks(names):
            yield block
            n_bytes += self._size(block)
            if n_bytes <= self._most_bytes:
                kept.append(block)
            else:
                kept.clear()
                self._is_too_large = True
        self._kept = None if self._is_too_large else kept

    def _size(self, block: Block) -> float:
        cells = next(iter(block.values()))
        if isinstance(cells, np.ndarray):
            return self._most_bytes + 1
        return cells.n_bytes + _OF_CELL * len(block) * len(cells)
