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
    """Fill `out` with the histogram of a column along each direction.

    `nodes` (m, n): along each direction, the grid point below the projection of each row.
    `shares` (m, n): fraction assigned to the next grid point.
    `column` (n,): the column; empty for ones.
    `out` (m, n_nodes): written to.
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

    `values` (n,): projections, largest first.
    `column` (n,): the column, in the order of the projections.
    `k`: degree.
    `beyond` (b,): distances of the thresholds below the smallest projection and above the largest.
    `down`, `up` (n + 2 b,): written to: thresholds at the projections, then below, then above them.
    """
    n, b = len(values), len(beyond)
    moments = np.zeros(k + 1)
    down[n + b :] = 0.0
    last = values[0]
    for j in range(n):
        _shift(moments, last - values[j])
        last = values[j]
        down[j] = moments[k]
        moments[0] += column[j]
    before = 0.0
    for i in range(b):
        _shift(moments, beyond[i] - before)
        before = beyond[i]
        down[n + i] = moments[k]
    moments[:] = 0.0
    up[n : n + b] = 0.0
    last = values[n - 1]
    for j in range(n - 1, -1, -1):
        _shift(moments, values[j] - last)
        last = values[j]
        up[j] = moments[k]
        moments[0] += column[j]
    before = 0.0
    for i in range(b):
        _shift(moments, beyond[i] - before)
        before = beyond[i]
        up[n + b + i] = moments[k]


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

    `values`, `order` (m, n): projections onto each direction, largest first, and the rows they
        belong to.
    `columns` (c, n): the columns `v`, sample weights included.
    `k`, `halves`, `beyond`: the activation's degree and its `p` and `m`, and the thresholds outside
        of the rows.
    `factor`: 1 or -1.
    `total` (m, 2, n + 2 b): written to; for each direction the neurons, then their mirror images.
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
