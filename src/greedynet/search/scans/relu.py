"""Compiled code: every threshold of a direction by running sums.

A neuron is `g(x) = relu(u . x - t)`. The projections `p_i = u . x_i` are sorted in descending
order. Just below `p_j` the active rows are those with `p_i >= p_j`, and for `t = p_j - s`, down to
the next projection, with the sums over the active rows

    S0 = sum r_i,   S1 = sum r_i (p_i - p_j),      <r, g> = S1 + S0 s,
    G0 = sum w_i,   G1 = sum w_i (p_i - p_j),   G2 = sum w_i (p_i - p_j)^2,
                                                   || g ||^2 = G2 + 2 G1 s + G0 s^2.

For orthonormal columns `q` with `A0 = sum q_i`, `A1 = sum q_i (p_i - p_j)`, `|| (I - QQ') g ||^2`
has the same form, with `G0 -= A0^2, G1 -= A0 A1, G2 -= A1^2`. With several outputs `<r, g>^2` is `a
+ 2 b s + c s^2`, `a = sum S1^2`, `b = sum S1 S0`, `c = sum S0^2`. The score is a quotient of two
quadratics, and its maximum between two projections is a root of

    (b G2 - a G1) + (c G2 - a G0) s + (c G1 - b G0) s^2.

So one pass gives the best of *all* thresholds of a direction. Sums are taken about the nearest
projection, not about zero: differences of large sums would lose digits.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

_NEXT_TO = 1e-7

# Fewer columns than this are faster taken off one by one.
_FEW = 4

_compiled = numba.njit(nogil=True, cache=True)
# Otherwise LLVM leaves a call in the inner loop, which then takes a tenth longer.
_inlined = numba.njit(nogil=True, cache=True, inline="always")


@_compiled
def measure(
    values: Float64, order: NDArray[np.uint32], weights: Float64, outside: Float64
) -> None:  # pragma: no cover - compiled
    """Fill `outside` with the sums `G0, G1, G2` of every threshold.

    Parameters
    ----------
    values : ndarray of shape (m, n)
        Projections onto each direction, largest first.
    order : ndarray of shape (m, n)
        The rows they belong to.
    weights : ndarray of shape (n,) or (0,)
        Weights of the rows; empty if all are 1.
    outside : ndarray of shape (m, n, 3)
        Written to.
    """
    m, n = values.shape
    for k in range(m):
        p, rows, out = values[k], order[k], outside[k]
        g0, g1, g2, last = 0.0, 0.0, 0.0, p[0]
        for j in range(n):
            gap = last - p[j]
            last = p[j]
            g2 += gap * (2.0 * g1 + gap * g0)
            g1 += gap * g0
            g0 += weights[rows[j]] if len(weights) else 1.0
            out[j, 0] = g0
            out[j, 1] = g1
            out[j, 2] = g2


@_compiled
def take_off(
    values: Float64, order: NDArray[np.uint32], columns: Float64, n_columns: int, outside: Float64
) -> None:  # pragma: no cover - compiled
    """Subtract the components along orthonormal columns from `outside`.

    Parameters
    ----------
    values, order, outside
        As in `measure`.
    columns : ndarray of shape (n, k)
        Orthonormal columns, each row times the square root of its weight.
    n_columns : int
        How many of the columns to take off: a slice would not be contiguous, and slow.
    """
    for k in range(len(values)):
        if n_columns < _FEW:
            _take_off_each(values[k], order[k], columns, n_columns, outside[k])
        else:
            _take_off_all(values[k], order[k], columns, n_columns, outside[k])


@_compiled
def _take_off_each(
    p: Float64, rows: NDArray[np.uint32], columns: Float64, n_columns: int, out: Float64
) -> None:  # pragma: no cover - compiled
    """Take a few columns off one direction, one after the other."""
    n = len(p)
    for i in range(n_columns):
        a0, a1, last = 0.0, 0.0, p[0]
        for j in range(n):
            a1 += a0 * (last - p[j])
            last = p[j]
            a0 += columns[rows[j], i]
            out[j, 0] -= a0 * a0
            out[j, 1] -= a0 * a1
            out[j, 2] -= a1 * a1


# The sums over columns may be taken in any order, so that they are vectorised.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _take_off_all(
    p: Float64, rows: NDArray[np.uint32], columns: Float64, n_columns: int, out: Float64
) -> None:  # pragma: no cover - compiled
    """Take many columns off one direction, all at once: one access to a row serves them all."""
    a0, a1, last = np.zeros(n_columns), np.zeros(n_columns), p[0]
    for j in range(len(p)):
        gap = last - p[j]
        last = p[j]
        row = columns[rows[j]]
        g0, g1, g2 = 0.0, 0.0, 0.0
        for i in range(n_columns):
            at1 = a1[i] + a0[i] * gap
            at0 = a0[i] + row[i]
            a1[i] = at1
            a0[i] = at0
            g0 += at0 * at0
            g1 += at0 * at1
            g2 += at1 * at1
        out[j, 0] -= g0
        out[j, 1] -= g1
        out[j, 2] -= g2


@_compiled
def best_thresholds(
    values: Float64,
    order: NDArray[np.uint32],
    weights: Float64,
    residual: Float64,
    outside: Float64,
    min_active: int,
    reach: float,
    dependent: float,
    scores: Float64,
    thresholds: Float64,
) -> None:  # pragma: no cover - compiled
    """Find the best threshold of each direction and its score, `<r, g>^2 / || (I - QQ') g ||^2`.

    Parameters
    ----------
    values, order, weights, outside
        As in `measure`, with the columns of the factor subtracted from `outside`.
    residual : ndarray of shape (n_outputs, n)
        Residuals, each row times the square root of its weight.
    min_active : int
        Minimum numbers of active and of inactive rows.
    reach : float
        If positive, neurons active on all rows are allowed, with thresholds down to this distance
        below the smallest projection.
    dependent : float
        Neurons with less than this fraction of their squared norm outside the span have no score.
    scores, thresholds : ndarray of shape (m,)
        Written to; a score of 0 means that there is no neuron.
    """
    m, n = values.shape
    sums = np.empty((n, 3))
    sorted_residual = np.empty(n)
    for k in range(m):
        p, rows = values[k], order[k]
        _square_sums(p, rows, residual, sorted_residual, sums)
        scores[k], thresholds[k] = _best_threshold(
            p, rows, weights, sums, outside[k], min_active, reach, dependent
        )


@_compiled
def _best_threshold(
    p: Float64,
    rows: NDArray[np.uint32],
    weights: Float64,
    sums: Float64,
    out: Float64,
    min_active: int,
    reach: float,
    dependent: float,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the best score of one direction and its threshold."""
    n = len(p)
    best, at = 0.0, 0.0
    n0, n1, n2, last = 0.0, 0.0, 0.0, p[0]
    allowed = False
    for j in range(n):
        a, b, c = sums[j, 0], sums[j, 1], sums[j, 2]
        g0, g1, g2 = out[j, 0], out[j, 1], out[j, 2]
        if p[j] < last:
            gap = last - p[j]
            last = p[j]
            n2 += gap * (2.0 * n1 + gap * n0)
            n1 += gap * n0
            # The threshold at the projection itself, where the rows of `p_j` are inactive.
            allowed = j >= min_active and n - j >= min_active
            if allowed and a > best * g2 and g2 > dependent * n2:
                best, at = a / g2, last
        n0 += weights[rows[j]] if len(weights) else 1.0
        gap = _gap_below(p, j, min_active, reach)
        # The numerator is convex, so largest at an end: this excludes most intervals.
        if gap <= 0.0 or (g1 >= 0.0 and max(a, a + gap * (2.0 * b + gap * c)) <= best * g2):
            continue
        is_last = j == n - 1
        s = _best_place(a, b, c, g0, g1, g2, gap, allowed, is_last)
        # If an end is not allowed, try the middle too: the root may be in the span.
        for _ in range(2 if is_last or not allowed else 1):
            gain = a + s * (2.0 * b + s * c)
            left = g2 + s * (2.0 * g1 + s * g0)
            size = n2 + s * (2.0 * n1 + s * n0)
            if s > 0.0 and gain > best * left and left > dependent * size:
                best, at = gain / left, last - s
            s = 0.5 * gap
    return best, at


@_compiled
def _gap_below(
    p: Float64, j: int, min_active: int, reach: float
) -> float:  # pragma: no cover - compiled
    """Return the length of the interval of thresholds just below `p_j`; 0 if none is allowed."""
    n = len(p)
    if j == n - 1:
        return reach
    if j + 1 < min_active or n - 1 - j < min_active:
        return 0.0
    return float(p[j] - p[j + 1])


@_inlined
def _best_place(
    a: float,
    b: float,
    c: float,
    g0: float,
    g1: float,
    g2: float,
    gap: float,
    allowed: bool,
    is_last: bool,
) -> float:  # pragma: no cover - compiled
    """Return the `s` with the best score in `(0, gap]`; 0 for the upper end, if it is allowed."""
    s = _falling_root(b * g2 - a * g1, c * g2 - a * g0, c * g1 - b * g0, gap)
    if s > 0.0:
        return s
    if is_last:
        # Below all rows: at the far end, or next to the smallest projection.
        return gap if allowed else _nearer(a, b, c, g0, g1, g2, gap, _NEXT_TO * gap, 1.0)
    if allowed:
        return 0.0
    # The score decreases from an end that is not allowed: take a point next to it. If it is flat,
    # as with one active row, take one far from it, where the neuron is not tiny.
    return _nearer(a, b, c, g0, g1, g2, 0.5 * gap, _NEXT_TO * gap, 1.0 + 1e-9)


@_compiled
def _square_sums(
    p: Float64,
    rows: NDArray[np.uint32],
    residual: Float64,
    sorted_residual: Float64,
    sums: Float64,
) -> None:  # pragma: no cover - compiled
    """Fill `sums` with `a, b, c` of every threshold of one direction."""
    n = len(p)
    for o in range(len(residual)):
        column = residual[o]
        for j in range(n):
            sorted_residual[j] = column[rows[j]]
        s0, s1, last = 0.0, 0.0, p[0]
        for j in range(n):
            s1 += s0 * (last - p[j])
            last = p[j]
            s0 += sorted_residual[j]
            if o == 0:
                sums[j, 0], sums[j, 1], sums[j, 2] = s1 * s1, s1 * s0, s0 * s0
            else:
                sums[j, 0] += s1 * s1
                sums[j, 1] += s1 * s0
                sums[j, 2] += s0 * s0


@_compiled
def _nearer(
    a: float,
    b: float,
    c: float,
    g0: float,
    g1: float,
    g2: float,
    s: float,
    near: float,
    margin: float,
) -> float:  # pragma: no cover - compiled
    """Return `near` if the score there is more than `margin` times that at `s`, else `s`."""
    far_score = (a + s * (2.0 * b + s * c)) * (g2 + near * (2.0 * g1 + near * g0))
    near_score = (a + near * (2.0 * b + near * c)) * (g2 + s * (2.0 * g1 + s * g0))
    return near if near_score > far_score * margin else s


@_compiled
def _falling_root(e0: float, e1: float, e2: float, gap: float) -> float:  # pragma: no cover
    """Return where `e0 + e1 s + e2 s^2` changes from positive to negative in `(0, gap)`, or 0."""
    if e0 <= 0.0 and e1 <= 0.0 and e2 <= 0.0:
        return 0.0
    end = e0 + gap * (e1 + gap * e2)
    if e0 > 0.0 and end > 0.0 and (e2 <= 0.0 or e1 >= 0.0 or -e1 >= 2.0 * e2 * gap):
        return 0.0
    under = e1 * e1 - 4.0 * e0 * e2
    if under < 0.0:
        return 0.0
    root = np.sqrt(under)
    if e1 <= 0.0:
        below = root - e1
        s = 2.0 * e0 / below if below > 0.0 else 0.0
    else:
        s = -(e1 + root) / (2.0 * e2) if e2 != 0.0 else 0.0
    return s if 0.0 < s < gap else 0.0
