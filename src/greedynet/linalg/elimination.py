"""Backward elimination: the columns that a penalised fit can do without.

The weights `c = M^-1 F'y`, `M = F'F + lam`, minimise `|| y - F c ||^2 + lam || c ||^2`. Without
column `j` the minimum is larger by

    |c_j|^2 / (M^-1)_jj,

and with the row `m` of `M^-1` divided by `(M^-1)_jj`, the other weights change by `-m c_j` and the
inverse by `-m (M^-1)_j`. So no column is fitted again.
"""

import numpy as np

from greedynet.linalg.cholesky import inverse_of
from greedynet.support.types import Float64


def columns_left(
    cholesky: Float64, weights: Float64, n_columns: int, n_fixed: int = 0
) -> list[int]:
    """Remove columns one at a time, each the one that costs least; return those that are left.

    Parameters
    ----------
    cholesky : ndarray of shape (n_fixed + k, n_fixed + k)
        Lower Cholesky factor of `M`.
    weights : ndarray of shape (n_fixed + k, n_outputs)
        The weights `c`.
    n_columns : int
        Number of columns to leave.
    n_fixed : int, default=0
        The first `n_fixed` columns stay, and are not counted.

    Returns
    -------
    left : list of int
        Positions among the `k` columns, ascending.
    """
    inverse, weights = inverse_of(cholesky), weights.copy()
    left = list(range(len(weights) - n_fixed))
    while len(left) > n_columns:
        at = np.arange(n_fixed, n_fixed + len(left))
        costs = np.sum(weights[at] ** 2, axis=1) / inverse[at, at]
        j = n_fixed + int(np.argmin(costs))
        row = inverse[j] / inverse[j, j]
        weights -= np.outer(row, weights[j])
        inverse -= np.outer(row, inverse[j])
        weights = np.delete(weights, j, axis=0)
        inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1)
        del left[j - n_fixed]
    return left
