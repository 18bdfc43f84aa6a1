"""`Repeated`: blocks as arrays, which must be the same every time they are read."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.prepare import Raw, as_arrays

# One out of this many rows is checked.
_STEP = 1_000
# Odd, so that a change in any single column changes the checksum.
_FACTOR = 6364136223846793005


class Repeated:
    """Blocks as arrays, which must be the same every time.

    Checksums of the first row and every thousandth after it are stored, and compared in later
    passes. This takes negligible time, and detects blocks that are redrawn, reshuffled or
    rewritten. The division of rows into blocks may change.

    Parameters
    ----------
    reader : iterable of (X, y, weights or None)
        Arrays, data frames or lists.
    """

    def __init__(self, reader: Iterable[Raw]) -> None:
        self._reader = reader
        self._known: list[int] = []

    def __iter__(self) -> Iterator[Raw]:
        start = 0
        for number, block in enumerate(self._reader):
            raw = as_arrays(block, f"block {number}")
            self._compare(raw, start, number)
            start += len(raw[0])
            yield raw

    def _compare(self, raw: Raw, start: int, number: int) -> None:
        first = -start % _STEP
        found = _checksums(raw, slice(first, None, _STEP)).tolist()
        seen = (start + first) // _STEP
        known = self._known[seen : seen + len(found)]
        for i, (before, now) in enumerate(zip(known, found, strict=False)):
            if before != now:
                raise ValueError(
                    "`X` must yield the same rows every time it is read, got a different row "
                    f"{first + i * _STEP} of block {number} than before: blocks must not change "
                    "during a fit."
                )
        self._known += found[len(known) :]


def _checksums(raw: Raw, chosen: slice) -> NDArray[np.uint64]:
    """Return a checksum for each of the chosen rows."""
    bits = np.column_stack([_bits(part[chosen]) for part in raw if part is not None])
    factors = np.cumprod(np.full(bits.shape[1], _FACTOR, dtype=np.uint64))
    return np.asarray((bits * factors).sum(axis=1))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    if values.dtype.kind in "biuf":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    # The bits of texts and objects are references, which are not reproducible.
    return np.array([zlib.crc32(repr(row).encode()) for row in values.tolist()], dtype=np.uint64)
