"""Rows of a large table to learn from, which can be read again for every pass.

Reading text takes much longer than reading numbers. So the first pass over a table writes its rows
as numbers to a temporary file, `8 (d + 1)` bytes for each, from which later passes read. Where
there is no room for it, every pass reads the table.
"""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import BlockSizes
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import Missing
from greedynet.tables.hold_out import CheckSum, HoldOut, packed_record
from greedynet.tables.readers import Table
from greedynet.tables.training import TrainingRows, training_blocks

# On many systems /tmp is memory; this folder is not.
_ON_DISK = Path("/var/tmp")
# Several blocks are in memory at a time: one is read ahead, and others are filled and scaled.
_SIZES = BlockSizes(read_bytes=2**23)


class LargeRows:
    """The rows that have a target, in their order, in blocks.

    They are kept as numbers in a temporary file, unless `spill` is False.
    """

    def __init__(
        self, table: Table, types: ColumnTypes, missing: Missing, *, spill: bool = True
    ) -> None:
        self._table, self._types, self._missing = table, types, missing
        width = sum(column.n_features for column in types.inputs.inputs) + 1
        self._file = NumbersFile.opened(width) if spill else None
        self.n_rows = self.n_left_out = 0
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[TrainingRows]:
        if self._file is None:
            yield from training_blocks(self._table, self._types, self._missing)
            return
        for numbers in self._file.blocks():
            yield TrainingRows(numbers[:, :-1], self._labels(numbers[:, -1]), 0)

    def _begin(self) -> None:
        """Count the rows, and write them to a file; without room for it, count only."""
        for rows in training_blocks(self._table, self._types, self._missing):
            self.n_rows += len(rows)
            self.n_left_out += rows.n_left_out
            if self._file is not None and not self._file.append(rows.X, self._numbers(rows.y)):
                self._file = None

    def close(self) -> None:
        """Remove the temporary file."""
        if self._file is not None:
            self._file.close()

    def _numbers(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return targets as numbers: classes by their places."""
        classes = self._types.classes
        return y if classes is None else np.searchsorted(classes, y)

    def _labels(self, numbers: NDArray[Any]) -> NDArray[Any]:
        classes = self._types.classes
        return numbers if classes is None else classes[numbers.astype(np.intp)]


class NumbersFile:
    """Rows of `width` numbers in a temporary file, which is gone when it is closed."""

    def __init__(self, file: Any, width: int) -> None:
        self._file, self._width = file, width
        self._n_rows = 0
        self._lock = threading.Lock()

    @staticmethod
    def opened(width: int) -> "NumbersFile | None":
        """Return an empty file; None if none can be made."""
        try:
            return NumbersFile(tempfile.TemporaryFile(dir=_folder()), width)
        except OSError:
            return None

    def append(self, X: NDArray[Any], last: NDArray[Any]) -> bool:
        """Write rows; return False, and remove the file, if there is no room for them."""
        numbers = np.column_stack([X, last]).astype(np.float64, copy=False)
        try:
            self._file.write(np.ascontiguousarray(numbers).data)
            self._file.flush()
        except OSError:
            self.close()
            return False
        self._n_rows += len(numbers)
        return True

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Yield the rows in order, as many at a time as are read fast."""
        step = _SIZES.read_rows(self._width)
        for start in range(0, self._n_rows, step):
            numbers = np.empty((min(step, self._n_rows - start), self._width))
            # A pass may begin while another one is read ahead.
            with self._lock:
                self._file.seek(8 * self._width * start)
                n_bytes = self._file.readinto(numbers.data.cast("B"))
            if n_bytes != numbers.nbytes:
                raise OSError("The temporary file of the rows has become shorter during the fit.")
            yield numbers

    def close(self) -> None:
        """Remove the file."""
        with suppress(OSError):  # of what could not be written
            self._file.close()


def _folder() -> Path | None:
    """Return the folder of the file: the one that was chosen, or one that is not memory."""
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return None
    return _ON_DISK if os.access(_ON_DISK, os.W_OK) else None


# A multiple of eight, so that the bits of cells are whole bytes.
CELL = 2**16


class Division:
    """The division of rows into those to learn from and those set aside."""

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
