"""Compiled code: columns as histograms over the projections.

The value of each row is divided between the two grid points next to its projection, on an even
grid. For a function `phi` of the projection, `sum_b H_b phi(x_b)` is then the sum over the rows of
the piecewise linear interpolant of `phi`: one pass over the rows serves many functions.
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

    Parameters
    ----------
    nodes : ndarray of shape (m, n)
        Along each direction, the grid point below the projection of each row.
    shares : ndarray of shape (m, n)
        Fraction assigned to the next grid point.
    column : ndarray of shape (n,)
        The column; empty for ones.
    out : ndarray of shape (m, n_nodes)
        Written to.
    """
    m, n = nodes.shape
    out[:] = 0.0
    for i in range(m):
        for j in range(n):
            value = column[j] if len(column) else 1.0
            share = shares[i, j]
            out[i, nodes[i, j]] += (1.0 - share) * value
            out[i, nodes[i, j] + 1] += share * value
