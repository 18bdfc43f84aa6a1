"""Compiled code for plain text tables: places of cells in bytes, numbers and distinct texts.

Numbers are rounded exactly as Python rounds them. A number `w 10^q` of at most 19 digits is exact
in floating point if `w` and `10^|q|` are; otherwise the product of `w` with 128 bits of `5^q`
decides its 53 bits (D. Lemire, *Number parsing at a gigabyte per second*, 2021). The few cells that
this does not decide are left to Python.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

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

    Each cell is `data[start:end]`, without the quotes around it. If it has quotes inside, which are
    doubled, `~end` takes the place of `end`: it is negative. The first row begins at `at`; the last
    byte of `data` is a line feed, and no cell may have more than `longest` bytes.

    Returns the number of rows, which is smaller if the bytes end before; where the next row begins;
    and whether the rows are as expected: False for a row with another number of cells, a text after
    a quote, a cell that is too long, or a lone carriage return.
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


# Cells with the same bytes are found by a hash table with this many slots.
_SLOTS = 8192
MOST = _SLOTS // 4

_FNV_START, _FNV_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SLOT = np.uint64(_SLOTS - 1)
_HALF = np.uint64(32)


@_compiled
def _is_space(byte: int) -> bool:  # pragma: no cover - compiled
    """Whether `str.strip` removes it; every space in ASCII."""
    return 9 <= byte <= 13 or 28 <= byte <= 32


@_compiled
def find_distinct(
    data: Bytes, starts: Places, ends: Places, codes: NDArray[np.intp], firsts: Places
) -> int:  # pragma: no cover - compiled
    """Number the distinct texts of cells, without the spaces around them.

    Writes the number of each cell's text to `codes`, and the first row of each text to `firsts`.
    Returns the number of texts, or -1 if there are more than `MOST`.
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


NUMBER, EMPTY_CELL, TEXT, UNDECIDED = 0, 1, 2, 3

_LEAST, _MOST = -342, 308  # exponents of ten of finite numbers with 19 digits
_EXACT_TENS = 10.0 ** np.arange(23)


def _powers_of_five() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the first 64 bits of `5^q`, and the next 64; rounded down, and up for `q < 0`."""
    tops = []
    for q in range(_LEAST, _MOST + 1):
        if q >= 0:
            shift = (5**q).bit_length() - 128
            tops.append(5**q >> shift if shift > 0 else 5**q << -shift)
        else:
            top = (1 << 2 * (5**-q).bit_length() + 128) // 5**-q + 1
            tops.append(top >> top.bit_length() - 128)
    first = np.array([top >> 64 for top in tops], dtype=np.uint64)
    return first, np.array([top & 2**64 - 1 for top in tops], dtype=np.uint64)


_FIRST, _NEXT = _powers_of_five()

# Numba makes a float of an unsigned and a signed integer: every operand is unsigned.
_U0, _U1, _U3, _U9, _U10, _U32, _U52, _U63 = map(np.uint64, (0, 1, 3, 9, 10, 32, 52, 63))
_LOW = np.uint64(2**32 - 1)
_ONES = np.uint64(2**64 - 1)
_EXACT = np.uint64(2**53)
_LAST_NINE = np.uint64(2**9 - 1)
_SIGN = np.uint64(2**63)


@_compiled
def _product(
    a: np.uint64, b: np.uint64
) -> tuple[np.uint64, np.uint64]:  # pragma: no cover - compiled
    """Return the upper and the lower 64 bits of a product."""
    a1, a0, b1, b0 = a >> _U32, a & _LOW, b >> _U32, b & _LOW
    low, middle, cross, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    carry = (low >> _U32) + (middle & _LOW) + cross
    return high + (middle >> _U32) + (carry >> _U32), (carry << _U32) | (low & _LOW)


@_compiled
def _rounded(w: np.uint64, q: int) -> np.uint64:  # pragma: no cover - compiled
    """Return the bits of the float nearest to `w 10^q`, 0 where this is not decided."""
    if q < _LEAST or q > _MOST:
        return _U0
    shift, top = 0, w
    while top < _SIGN:
        top <<= _U1
        shift += 1
    high, low = _product(top, _FIRST[q - _LEAST])
    if high & _LAST_NINE == _LAST_NINE:
        more, _ = _product(top, _NEXT[q - _LEAST])
        low += more
        if low < more:
            high += _U1
    if low == _ONES:
        return _U0  # a carry from further bits could change the result
    upper = high >> _U63
    bits = high >> (upper + _U9)
    # floor(log2(10) q), by a fraction that is exact in this range.
    exponent = ((217706 * q) >> 16) + 63 + np.int64(upper) - shift + 1023
    if exponent <= 0 or exponent >= 2046:
        return _U0  # subnormal, or close to the largest
    # A number halfway between two floats is possible for these powers only: to even.
    if low <= _U1 and -4 <= q <= 23 and bits & _U3 == _U1 and bits << (upper + _U9) == high:
        bits &= ~_U1
    bits = (bits + (bits & _U1)) >> _U1
    # Rounded up to a power of two, the carry raises the exponent by itself.
    return bits - (_U1 << _U52) + (np.uint64(exponent) << _U52)


@_compiled
def _number(
    data: Bytes, i: int, end: int, point: int
) -> tuple[int, np.uint64, int, bool]:  # pragma: no cover - compiled
    """Read `data[i:end]` as a sign, digits, a `point` or a comma, and an exponent.

    What follows the cell is a separator, a space, a quote or a line's end: only a comma could be
    taken for a part of the number.

    Returns whether it is a `NUMBER`, `TEXT`, or `UNDECIDED` since it has too many digits; `w`; `q`;
    and whether it is negative.
    """
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    first = i
    while data[i] == 48:
        i += 1
    w, q, n_digits, n_significant = _U0, 0, i - first, 0
    first = i
    while 48 <= data[i] <= 57:
        w = w * _U10 + np.uint64(data[i] - 48)
        i += 1
    n_significant = i - first
    if i < end and data[i] == point:
        i += 1
        fraction = i
        while w == _U0 and data[i] == 48:
            i += 1
        n_digits += i - fraction
        first = i
        while 48 <= data[i] <= 57:
            w = w * _U10 + np.uint64(data[i] - 48)
            i += 1
        n_significant += i - first
        q = fraction - i
    n_digits += n_significant
    if n_digits == 0:
        return TEXT, w, q, negative
    if data[i] == 101 or data[i] == 69:
        i += 1
        lower = data[i] == 45
        if lower or data[i] == 43:
            i += 1
        first, exponent = i, 0
        while 48 <= data[i] <= 57:
            exponent = min(10 * exponent + int(data[i]) - 48, 100_000)
            i += 1
        if i == first:
            return TEXT, w, q, negative
        q += -exponent if lower else exponent
    if i != end:
        return TEXT, w, q, negative
    # More digits than `w` can hold, or so many zeros that the bound on the exponent matters.
    is_long = n_significant > 19 or n_digits > 1000
    return (UNDECIDED if is_long else NUMBER), w, q, negative


@_compiled
def _other(
    data: Bytes, start: int, end: int, empty: NDArray[np.uint64]
) -> int:  # pragma: no cover - compiled
    """Say what a cell is that is no decimal number: empty, text, or undecided."""
    key, three = _U0, 0
    for i in range(start, end):
        if data[i] < 32 or data[i] >= 127:
            return UNDECIDED  # other spaces and digits
        key = (key << np.uint64(8)) | np.uint64(data[i])
    if end - start <= 8:
        for i in range(len(empty)):
            if key == empty[i]:
                return EMPTY_CELL
    if data[start] == 43 or data[start] == 45:
        start += 1
    if end - start == 3 or end - start == 8:
        for i in range(start, start + 3):
            three = 256 * three + (data[i] | 32)
        if three == 0x6E616E or three == 0x696E66:  # nan, inf
            return UNDECIDED
    return TEXT


@_compiled
def read_numbers(
    data: Bytes,
    starts: Places,
    ends: Places,
    point: int,
    empty: NDArray[np.uint64],
    values: Float64,
    kinds: NDArray[np.uint8],
) -> int:  # pragma: no cover - compiled
    """Write the numbers in cells to `values`, NaN where there is none, and what each cell is.

    `empty` are texts that stand for an empty cell, as `as_key` gives them. Writes `NUMBER`,
    `EMPTY_CELL`, `TEXT` or `UNDECIDED`, which is left to Python, to `kinds`, and returns the number
    of cells that are left.
    """
    bits, n_left = values.view(np.uint64), 0
    for row in range(len(starts)):
        start, end = starts[row], ends[row]
        if end < 0:  # it has quotes inside
            values[row], kinds[row] = np.nan, TEXT
            continue
        while start < end and (data[start] == 32 or data[start] == 9):
            start += 1
        while start < end and (data[end - 1] == 32 or data[end - 1] == 9):
            end -= 1
        values[row] = np.nan
        if start == end:
            kinds[row] = EMPTY_CELL
            continue
        kind, w, q, negative = _number(data, start, end, point)
        if kind == TEXT:
            kind = _other(data, start, end, empty)
        elif kind == NUMBER:
            if w <= _EXACT and -22 <= q <= 22:
                tens = _EXACT_TENS[abs(q)]
                values[row] = np.float64(w) / tens if q < 0 else np.float64(w) * tens
            elif w == _U0:
                values[row] = 0.0
            else:
                found = _rounded(w, q)
                if found == _U0:
                    kind = UNDECIDED
                else:
                    bits[row] = found
            if negative and kind == NUMBER:
                bits[row] |= _SIGN
        kinds[row] = kind
        n_left += kind == UNDECIDED
    return n_left


@_compiled
def has_byte(
    data: Bytes, starts: Places, ends: Places, byte: int
) -> bool:  # pragma: no cover - compiled
    """Whether a byte occurs in any of the cells without quotes inside."""
    for row in range(len(starts)):
        for i in range(starts[row], ends[row]):
            if data[i] == byte:
                return True
    return False


def as_key(text: str) -> int:
    """Return a text of at most eight ASCII characters as a number, for comparison."""
    return int.from_bytes(text.encode("ascii"), "big")
