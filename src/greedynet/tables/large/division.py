"""Rows of a large table that are set aside, chosen in cells of consecutive rows.

Which rows these are is known by one bit for each; their choice needs the targets of one cell at a
time. Within each cell, rows are chosen as `HoldOut` chooses them among all rows of a small table:
evenly spaced in random order, and with the proportions of the classes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.tables.holding import CheckSum, HoldOut, packed_record
from greedynet.tables.large.rows import LargeRows
from greedynet.tables.training import TrainingRows

# A multiple of eight, so that the bits of cells are whole bytes.
CELL = 2**16


class Division:
    """The division of rows into those to learn from and those set aside.

    Parameters
    ----------
    rows : LargeRows
    hold : HoldOut or None
        Which rows are set aside, at random or the last ones; None for none.
    seed : int
    classes : bool
        Whether the targets are classes.
    """

    def __init__(self, rows: LargeRows, hold: HoldOut | None, seed: int, *, classes: bool) -> None:
        self._rows = rows
        self._bits: NDArray[np.uint8] | None = None
        self.record: dict[str, Any] | None = None
        if hold is None:
            return
        check, parts, start = CheckSum(), [], 0
        for number, y in enumerate(_cells(rows)):
            check.add(y)
            parts.append(np.packbits(_chosen(hold, y, start, len(rows), [seed, number], classes)))
            start += len(y)
        self._bits = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint8)
        n_held = int(np.unpackbits(self._bits, count=len(rows)).sum())
        hold.check_sizes(len(rows), n_held)
        self.record = packed_record(hold, self._bits, n_held, len(rows), check.value)

    def learned(self) -> Iterator[TrainingRows]:
        """Yield the rows to learn from."""
        return self._parts(False)

    def set_aside(self) -> Iterator[TrainingRows]:
        """Yield the rows that were set aside."""
        return self._parts(True)

    def _parts(self, aside: bool) -> Iterator[TrainingRows]:
        start = 0
        for rows in self._rows:
            mask = self._mask(start, len(rows))
            start += len(rows)
            yield rows.taken(mask if aside else ~mask) if aside or mask.any() else rows

    def _mask(self, start: int, n: int) -> NDArray[np.bool_]:
        """Return which of `n` rows are set aside."""
        if self._bits is None:
            return np.zeros(n, dtype=np.bool_)
        first = start // 8
        bits = np.unpackbits(self._bits[first : (start + n + 7) // 8])
        return bits[start - 8 * first :][:n].astype(np.bool_)


def _chosen(
    hold: HoldOut, y: NDArray[Any], start: int, n_rows: int, seed: list[int], classes: bool
) -> NDArray[np.bool_]:
    """Return which rows of a cell are set aside."""
    if hold.last:
        return np.arange(start, start + len(y)) >= n_rows - round(hold.share * n_rows)
    return hold.random_rows(y if classes else np.zeros(len(y)), np.random.default_rng(seed))


def _cells(rows: LargeRows) -> Iterator[NDArray[Any]]:
    """Yield the targets of `CELL` rows at a time."""
    left: list[NDArray[Any]] = []
    for block in rows:
        y = np.concatenate([*left, block.y])
        n_whole = len(y) // CELL * CELL
        yield from np.split(y[:n_whole], n_whole // CELL) if n_whole else ()
        left = [y[n_whole:]]
    if left and len(left[0]):
        yield left[0]
