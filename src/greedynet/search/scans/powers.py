"""Compiled code: sums of powers for neurons of any homogeneous activation.

A homogeneous activation of degree `k` is `p relu(z)^k + m relu(-z)^k`. Along a direction with the
sorted projections `p_i`, for a column `v` and every threshold `t`,

    D(t) = sum_{p_i > t} v_i (p_i - t)^k,    U(t) = sum_{p_i < t} v_i (t - p_i)^k,

give `<v, g> = p D + m U` for the neuron `sigma(u . x - t)`, and `p U + m D` for its mirror image
`sigma(t - u . x)`. When the threshold moves down by `h`, the moments about it change by

    M_i <- sum_{l <= i} binomial(i, l) h^(i - l) M_l,

so that one pass gives `D` at every projection, and beyond the last one.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64


@numba.njit(nogil=True, cache=True)
def histogram(
    nodes: NDArray[np.uint16], shares: NDArray[np.float32], column: Float64, out: Float64
) -> None:  # pragma: no cover - compiled
    """Fill `out`, `(m, n_nodes)`, with the histogram of a column along each direction.

    Along a direction, `nodes` are the grid points below the projections of the rows, and `shares`
    what is assigned to the next one; the column is empty for ones.
    """
    m, n = nodes.shape
    out[:] = 0.0
    for i in range(m):
        for j in range(n):
            value = column[j] if len(column) else 1.0
            share = shares[i, j]
            out[i, nodes[i, j]] += (1.0 - share) * value
            out[i, nodes[i, j] + 1] += share * value


_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def sums(
    values: Float64, column: Float64, k: int, beyond: Float64, down: Float64, up: Float64
) -> None:  # pragma: no cover - compiled
    """Fill `down` with `D` and `up` with `U` at every threshold of a direction.

    Thresholds are at the projections, largest first, then at distances `beyond`, `(b,)`, below the
    smallest, then above the largest. The column is in the order of the projections.
    """
    n, b = len(values), len(beyond)
    down[n + b :] = 0.0
    _sums_above(values, column, k, beyond, down[:n], down[n : n + b])
    up[n : n + b] = 0.0
    _sums_above(-values[::-1], column[::-1], k, beyond, up[:n][::-1], up[n + b :])


@_compiled
def _sums_above(
    values: Float64, column: Float64, k: int, beyond: Float64, at_rows: Float64, after: Float64
) -> None:  # pragma: no cover - compiled
    """Fill in `D` at falling projections, and at distances beyond the last one."""
    moments = np.zeros(k + 1)
    last = values[0]
    for j in range(len(values)):
        _shift(moments, last - values[j])
        last = values[j]
        at_rows[j] = moments[k]
        moments[0] += column[j]
    before = 0.0
    for i in range(len(beyond)):
        _shift(moments, beyond[i] - before)
        before = beyond[i]
        after[i] = moments[k]


@_compiled
def _shift(moments: Float64, h: float) -> None:  # pragma: no cover - compiled
    """Shift the point about which the moments are taken by `h`, away from the rows."""
    if h == 0.0:
        return
    for i in range(len(moments) - 1, 0, -1):
        total, binomial, power = 0.0, 1.0, 1.0
        for lower in range(i, -1, -1):
            total += binomial * power * moments[lower]
            binomial *= lower / (i - lower + 1)
            power *= h
        moments[i] = total


@_compiled
def add_squares(
    values: Float64,
    order: NDArray[np.uint32],
    columns: Float64,
    k: int,
    halves: tuple[float, float],
    beyond: Float64,
    factor: float,
    total: Float64,
) -> None:  # pragma: no cover - compiled
    """Add `factor <v, g>^2` of every neuron and column to `total`.

    `order`, `(m, n)`, are the rows that the projections belong to, and the columns `(c, n)` include
    sample weights. In `total`, `(m, 2, n + 2 b)`, the mirror images follow the neurons.
    """
    m, n = values.shape
    plus, minus = halves
    column = np.empty(n)
    down, up = np.empty(total.shape[2]), np.empty(total.shape[2])
    for i in range(m):
        for c in range(len(columns)):
            for j in range(n):
                column[j] = columns[c, order[i, j]]
            sums(values[i], column, k, beyond, down, up)
            for j in range(len(down)):
                total[i, 0, j] += factor * (plus * down[j] + minus * up[j]) ** 2
                total[i, 1, j] += factor * (plus * up[j] + minus * down[j]) ** 2


@_compiled
def sizes(
    values: Float64,
    order: NDArray[np.uint32],
    weights: Float64,
    k: int,
    halves: tuple[float, float],
    beyond: Float64,
    size: Float64,
) -> None:  # pragma: no cover - compiled
    """Fill `size` with `|| g ||^2`, for neurons as in `add_squares`; `weights` may be empty."""
    m, n = values.shape
    plus, minus = halves
    column = np.ones(n)
    down, up = np.empty(size.shape[2]), np.empty(size.shape[2])
    for i in range(m):
        if len(weights):
            for j in range(n):
                column[j] = weights[order[i, j]]
        sums(values[i], column, 2 * k, beyond, down, up)
        for j in range(len(down)):
            size[i, 0, j] = plus * plus * down[j] + minus * minus * up[j]
            size[i, 1, j] = plus * plus * up[j] + minus * minus * down[j]
