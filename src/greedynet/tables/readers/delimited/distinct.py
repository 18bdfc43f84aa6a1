"""Compiled code: the distinct texts of a column of bytes."""

import numba
import numpy as np
from numpy.typing import NDArray

from greedynet.tables.readers.delimited.split import Bytes, Places

# Cells with the same bytes are found by a hash table with this many slots.
_SLOTS = 8192
MOST = _SLOTS // 4

_FNV_START, _FNV_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SLOT = np.uint64(_SLOTS - 1)
_HALF = np.uint64(32)

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _is_space(byte: int) -> bool:  # pragma: no cover - compiled
    """Whether `str.strip` removes it; every space in ASCII."""
    return 9 <= byte <= 13 or 28 <= byte <= 32


@_compiled
def find_distinct(
    data: Bytes, starts: Places, ends: Places, codes: NDArray[np.intp], firsts: Places
) -> int:  # pragma: no cover - compiled
    """Number the distinct texts of cells, without the spaces around them.

    Parameters
    ----------
    data : ndarray of uint8
        Bytes of the file.
    starts, ends : ndarray of shape (n_rows,)
        The places of the cells, as `split` gives them.
    codes : ndarray of shape (n_rows,)
        Written to: the number of each cell's text.
    firsts : ndarray of shape (MOST,)
        Written to: the first row of each text.

    Returns
    -------
    n_texts : int
        Their number, or -1 if there are more than `MOST`.
    """
    slots = np.full(_SLOTS, -1, dtype=np.int32)
    n_texts = 0
    places = np.empty((len(firsts), 2), dtype=np.int32)
    has_quotes = np.empty(len(firsts), dtype=np.bool_)
    for row in range(len(starts)):
        start, end = starts[row], ends[row]
        is_negative = end < 0
        end = ~end if is_negative else end
        while start < end and _is_space(data[start]):
            start += 1
        while start < end and _is_space(data[end - 1]):
            end -= 1
        key = _FNV_START
        for i in range(start, end):
            key = (key ^ np.uint64(data[i])) * _FNV_FACTOR
        slot = (key ^ (key >> _HALF)) & _SLOT
        while True:
            code = slots[slot]
            if code < 0:
                if n_texts == len(firsts):
                    return -1
                slots[slot] = code = n_texts
                firsts[code] = row
                places[code, 0], places[code, 1] = start, end
                has_quotes[code] = is_negative
                n_texts += 1
                break
            other = places[code, 0]
            if places[code, 1] - other == end - start and has_quotes[code] == is_negative:
                i = 0
                while start + i < end and data[start + i] == data[other + i]:
                    i += 1
                if start + i == end:
                    break
            slot = (slot + np.uint64(1)) & _SLOT
        codes[row] = code
    return n_texts
