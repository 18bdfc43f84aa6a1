"""Compiled code: some thresholds of a direction, with many rows, by sums over blocks of rows.

With many rows, neighbouring thresholds have nearly the same score, and the refinement that follows
moves a neuron farther than their distance. So the sorted projections `p_1 >= p_2 >= ...` are
divided into blocks, of equal values if there are few values and of equal numbers of rows otherwise,
and only the thresholds `t_c` at their ends are scored. With the sums over the rows of block `c`

    l0 = sum r_i,   l1 = sum r_i (p_i - t_c),

and `S0_c = S0_{c-1} + l0`, the neuron `g = relu(p - t_c)` has

    <r, g> = S1_c = S1_{c-1} + (t_{c-1} - t_c) S0_{c-1} + l1,

which is exact, and the same for columns `q`: `|| (I - QQ') g ||^2 = || g ||^2 - sum <q, g>^2`. The
work per row is two additions; everything else is done once per block. Columns are of single
precision, as are sums over a few rows; all other sums are of double precision.

The arrays have one row for each direction: the projections `values`, largest first, and `order`,
the rows they belong to, `(m, n)`; the first positions `starts` of the blocks, and `n`,
`(m, n_blocks + 1)`, where blocks at the end may be empty; `offsets`, `p_i - t_c`, `(m, n)`; and for
each block `gaps`, `t_{c-1} - t_c`, `sizes`, `|| g ||^2`, `n_active`, the number of rows above
`t_c`, and `outside`, the squared norm outside the span of the columns so far. Columns are
orthonormal, `(n, k)`, and residuals `(n_outputs, n)`, each row times the square root of its weight.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

Float32 = NDArray[np.float32]

# Fewer columns than this are faster taken off one by one.
_FEW = 8
# Sums of so many numbers may be of single precision.
_SHORT = 64

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def divide(values: Float64, starts: NDArray[np.intp]) -> None:  # pragma: no cover - compiled
    """Divide the projections onto each direction into blocks: write to `starts`."""
    n, n_blocks = values.shape[1], starts.shape[1] - 1
    for k in range(len(values)):
        p, c = values[k], 1
        starts[k] = n
        starts[k, 0] = 0
        for j in range(1, n):
            if p[j] < p[j - 1]:
                if c == n_blocks:
                    c += 1
                    break
                starts[k, c] = j
                c += 1
        if c > n_blocks:
            for i in range(n_blocks):
                starts[k, i] = i * n // n_blocks


@_compiled
def measure(
    values: Float64,
    order: NDArray[np.uint32],
    weights: Float64,
    starts: NDArray[np.intp],
    offsets: Float32,
    gaps: Float64,
    sizes: Float64,
    n_active: NDArray[np.intp],
) -> None:  # pragma: no cover - compiled
    """Fill in what describes the blocks; the weights of the rows are empty if all are 1."""
    m, n = values.shape
    for k in range(m):
        p, rows = values[k], order[k]
        g0, g1, g2, last = 0.0, 0.0, 0.0, p[0]
        for c in range(starts.shape[1] - 1):
            end = starts[k, c + 1]
            t = p[min(end, n - 1)]
            gap = last - t
            last = t
            g2 += gap * (2.0 * g1 + gap * g0)
            g1 += gap * g0
            for j in range(starts[k, c], end):
                above = p[j] - t
                w = weights[rows[j]] if len(weights) else 1.0
                offsets[k, j] = above
                g0 += w
                g1 += w * above
                g2 += w * above * above
            gaps[k, c] = gap
            sizes[k, c] = g2
            active = end
            while active > 0 and p[active - 1] <= t:
                active -= 1
            n_active[k, c] = active


@_compiled
def take_off(
    order: NDArray[np.uint32],
    offsets: Float32,
    starts: NDArray[np.intp],
    gaps: Float64,
    columns: Float32,
    n_columns: int,
    outside: Float64,
) -> None:  # pragma: no cover - compiled
    """Subtract the components along the first `n_columns` columns from `outside`."""
    for k in range(len(order)):
        if n_columns < _FEW:
            _take_off_each(order[k], offsets[k], starts[k], gaps[k], columns, n_columns, outside[k])
        else:
            _take_off_all(order[k], offsets[k], starts[k], gaps[k], columns, n_columns, outside[k])


@_compiled
def _take_off_each(
    rows: NDArray[np.uint32],
    above: Float32,
    starts: NDArray[np.intp],
    gaps: Float64,
    columns: Float32,
    n_columns: int,
    out: Float64,
) -> None:  # pragma: no cover - compiled
    """Take a few columns off one direction, one after the other."""
    for i in range(n_columns):
        column = columns[:, i]
        a0, a1 = 0.0, 0.0
        for c in range(len(gaps)):
            l0, l1 = _sums(rows, above, starts[c], starts[c + 1], column)
            a1 += gaps[c] * a0 + l1
            a0 += l0
            out[c] -= a1 * a1


# The sums over columns may be taken in any order, so that they are vectorised.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _take_off_all(
    rows: NDArray[np.uint32],
    above: Float32,
    starts: NDArray[np.intp],
    gaps: Float64,
    columns: Float32,
    n_columns: int,
    out: Float64,
) -> None:  # pragma: no cover - compiled
    """Take many columns off one direction, all at once: one access to a row serves them all."""
    a0, a1 = np.zeros(n_columns), np.zeros(n_columns)
    l0, l1 = np.empty(n_columns, np.float32), np.empty(n_columns, np.float32)
    for c in range(len(gaps)):
        for i in range(n_columns):
            a1[i] += gaps[c] * a0[i]
        for start in range(starts[c], starts[c + 1], _SHORT):
            l0[:] = 0.0
            l1[:] = 0.0
            for j in range(start, min(start + _SHORT, starts[c + 1])):
                row, offset = columns[rows[j]], above[j]
                for i in range(n_columns):
                    l0[i] += row[i]
                    l1[i] += offset * row[i]
            for i in range(n_columns):
                a0[i] += l0[i]
                a1[i] += l1[i]
        lost = 0.0
        for i in range(n_columns):
            lost += a1[i] * a1[i]
        out[c] -= lost


@numba.njit(nogil=True, cache=True, inline="always")
def _sums(
    rows: NDArray[np.uint32],
    above: Float32,
    start: int,
    end: int,
    column: NDArray[np.floating],
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return `l0` and `l1` of one block: two halves at once, as additions wait for each other."""
    l0, l1, h0, h1 = 0.0, 0.0, 0.0, 0.0
    half = (end - start) // 2
    for j in range(start, start + half):
        lower, upper = column[rows[j]], column[rows[j + half]]
        l0 += lower
        l1 += lower * above[j]
        h0 += upper
        h1 += upper * above[j + half]
    if start + 2 * half < end:
        last = column[rows[end - 1]]
        l0 += last
        l1 += last * above[end - 1]
    return l0 + h0, l1 + h1


@_compiled
def best_blocks(
    order: NDArray[np.uint32],
    offsets: Float32,
    starts: NDArray[np.intp],
    gaps: Float64,
    residual: Float64,
    sizes: Float64,
    n_active: NDArray[np.intp],
    outside: Float64,
    min_active: int,
    dependent: float,
    scores: Float64,
    best: NDArray[np.intp],
) -> None:  # pragma: no cover - compiled
    """Find the best block end of each direction and its score, `<r, g>^2 / || (I - QQ') g ||^2`.

    At least `min_active` rows must be active and as many inactive, and more than a fraction
    `dependent` of the squared norm outside the span; a score of 0 means that there is none.
    """
    m, n = order.shape
    gains = np.empty(gaps.shape[1])
    for k in range(m):
        gains[:] = 0.0
        for o in range(len(residual)):
            s0, s1 = 0.0, 0.0
            for c in range(len(gains)):
                l0, l1 = _sums(order[k], offsets[k], starts[k, c], starts[k, c + 1], residual[o])
                s1 += gaps[k, c] * s0 + l1
                s0 += l0
                gains[c] += s1 * s1
        scores[k], best[k] = 0.0, 0
        for c in range(len(gains)):
            active, left = n_active[k, c], outside[k, c]
            allowed = active >= min_active and n - active >= min_active
            if allowed and gains[c] > scores[k] * left and left > dependent * sizes[k, c]:
                scores[k], best[k] = gains[c] / left, c
