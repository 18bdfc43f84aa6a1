"""Compiled code: the places of the cells in the bytes of a plain table."""

import numba
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int32]

_LINE_FEED, _RETURN, _QUOTE = 10, 13, 34


_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _is_line_end(data: Bytes, i: int) -> bool:  # pragma: no cover - compiled
    """Whether a line feed begins here, or a carriage return with a line feed."""
    if data[i] == _RETURN:
        return i + 1 < len(data) and data[i + 1] == _LINE_FEED
    return data[i] == _LINE_FEED


@_compiled
def split(
    data: Bytes, at: int, separator: int, longest: int, starts: Places, ends: Places
) -> tuple[int, int, bool]:  # pragma: no cover - compiled
    """Find the cells of as many rows as `starts` holds, and skip empty lines.

    Parameters
    ----------
    data : ndarray of uint8
        Bytes of the file, up to a line feed.
    at : int
        Where the first row begins.
    separator : int
        The byte between two cells.
    longest : int
        Longest cell, in bytes.
    starts, ends : ndarray of shape (n_rows, n_cells)
        Written to: each cell is `data[start:end]`, without the quotes around it. If it has quotes
        inside, which are doubled, `~end` takes the place of `end`: it is negative.

    Returns
    -------
    n_rows : int
        Number of rows; fewer than `starts` holds if the bytes end before.
    at : int
        Where the next row begins.
    is_plain : bool
        Whether the rows are as expected: False for a row with another number of cells, a text
        after a quote, a cell that is too long, or a lone carriage return.
    """
    most, n_cells = starts.shape
    n, row, column = len(data), 0, 0
    ends_cell = np.zeros(256, dtype=np.bool_)
    ends_cell[_LINE_FEED] = ends_cell[_RETURN] = ends_cell[separator] = True
    i = first = at
    while row < most and i < n:
        if column == 0 and _is_line_end(data, i):
            i += 1 if data[i] == _LINE_FEED else 2
            first = i
            continue
        if column == n_cells:
            return row, first, False
        is_quoted, has_quotes = data[i] == _QUOTE, False
        start = i = i + is_quoted
        if is_quoted:
            # The last byte is a line feed: a quote has a next byte.
            while i < n and (data[i] != _QUOTE or data[i + 1] == _QUOTE):
                if data[i] == _QUOTE:
                    has_quotes = True
                    i += 1
                i += 1
        else:
            while not ends_cell[data[i]]:
                i += 1
        end = i
        i += is_quoted
        if i >= n:
            return row, first, True
        if end - start > longest or not (data[i] == separator or _is_line_end(data, i)):
            return row, first, False
        starts[row, column], ends[row, column] = start, ~end if has_quotes else end
        column += 1
        if data[i] == separator:
            i += 1
            continue
        if column != n_cells:
            return row, first, False
        row += 1
        column = 0
        i += 1 if data[i] == _LINE_FEED else 2
        first = i
    return row, first, True
