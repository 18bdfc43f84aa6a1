"""How much memory a table may take as a matrix of numbers; a larger one is read in blocks.

The matrix of `n` rows and `d` features takes `8 n (d + 1)` bytes. A fit in memory holds it about
three times (`benchmarks/largetables.py`): as it is read, with empty cells filled, and in parts in
the work of the fit. So the limit is a sixth of the memory that the process may use.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from greedynet.tables.readers import Block, Table, TableError

_SHARE = 1 / 6
# Where the system does not tell how much memory there is.
_UNKNOWN = 2**32
# Files of Linux with the limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def matrix_bytes(n_rows: int, n_features: int) -> int:
    """Return the size of the inputs and the target of rows as numbers."""
    return 8 * n_rows * (n_features + 1)


def limit_of(asked: Any) -> float:
    """Return the bytes of the largest matrix to hold in memory; None for a sixth of the memory."""
    if asked is None:
        return usable_memory() * _SHARE
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not asked >= 0:
        raise TableError(
            f"`memory_limit` must be a number of bytes, or None for a sixth of the memory, got "
            f"{asked!r}: write 2e9 for 2 GB, for example."
        )
    return float(asked)


def usable_memory() -> int:
    """Return the memory of the machine, or less if the process may use less."""
    known = [_of_machine(), *_of_process(), *filter(None, map(_of_container, _LIMITS))]
    return min(known)


def _of_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return _UNKNOWN


def _of_process() -> list[int]:
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return []
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in limits if limit != resource.RLIM_INFINITY]


def _of_container(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None


# Bytes that are kept at most: of the rows, and of what is known of their cells.
MOST_BYTES = 2**28
# The places of a cell in the text, 8 bytes, its number, and whether it is one.
_OF_CELL = 17


class TwoPasses:
    """A table whose second pass over the same columns yields the blocks of the first one.

    Only text that compiled code has read is kept: it takes little memory, and its numbers are not
    read twice. The second pass discards the blocks; another one reads the file again. Of a table
    with more than `most_bytes`, none are kept, and every pass reads it.
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
