"""The Gauss-Newton system of the inner weights, with the outer weights eliminated.

Kaufman's form of the matrix, with the derivative `B` of the neurons, their outer weights `C` and
`P = I - F (F'F + lam)^-1 F'`, is

    S = (C C' (x) 1 1') o (B' P B),

for any number of outputs. With many rows it is the matrix of evenly spaced ones, which is enough
for the direction of a step; gradient and objective are always those of all rows.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from greedynet.correction.reduced_problem import Point, ReducedProblem
from greedynet.support.types import Float64

# Rows on a kink count as inactive, irrespective of rounding.
EDGE = 1e-12
# Number of rows whose derivatives are stored at once.
_CHUNK_ROWS = 1_024
# Rows of the matrix `S`: so many, and so many for each inner weight in it.
_SYSTEM_ROWS = 1_024
_ROWS_PER_WEIGHT = 4


def spacing(n_rows: int, n_weights: int) -> int:
    """Return the distance between the rows of the matrix `S` of some inner weights.

    Rows in canonical order are sorted, so that evenly spaced ones represent all parts of the data.
    """
    return max(1, n_rows // max(_SYSTEM_ROWS, _ROWS_PER_WEIGHT * n_weights))


def system(
    problem: ReducedProblem, at: Point, ridge: float, block: slice, every: int = 1
) -> Float64:
    """Return the lower triangle of the matrix `S` of a block of neurons.

    Parameters
    ----------
    problem : ReducedProblem
    at : Point
    ridge : float
    block : slice
        The neurons.
    every : int, default=1
        Distance between the rows that are used; see `spacing`.
    """
    C, p = at.outer[block], problem.scaled_X1.shape[1]
    K = np.zeros((len(C) * p, len(C) * p), order="F")
    T = np.zeros((at.F.shape[1], len(C) * p))
    for start in range(0, len(at.Z), every * _CHUNK_ROWS):
        rows = slice(start, start + every * _CHUNK_ROWS, every)
        slope = problem.activation.slope(at.Z[rows, block] - EDGE)
        B = (slope[:, :, None] * problem.scaled_X1[rows, None, :]).reshape(len(slope), -1)
        K = dsyrk(float(every), B.T, beta=1.0, c=K, lower=1, overwrite_c=1)
        T += every * (at.F[rows].T @ B)
    cholesky = at.cholesky
    if every > 1:
        shown = at.F[::every]
        cholesky = problem.cholesky(every * (shown.T @ shown), ridge)
    half = solve_triangular(cholesky, T, lower=True, check_finite=False)
    K = dsyrk(-1.0, half.T, beta=1.0, c=K, lower=1, overwrite_c=1)
    K *= np.repeat(np.repeat(C @ C.T, p, axis=0), p, axis=1)
    return np.asarray(K)


def descent(problem: ReducedProblem, at: Point, ridge: float, block: slice) -> Float64:
    """Return minus half the gradient of the objective with respect to a block of neurons."""
    slope = problem.activation.slope(at.Z[:, block] - EDGE)
    pull = slope * (at.residual @ at.outer[block].T)
    return np.asarray(pull.T @ problem.scaled_X1 - ridge * at.W[block])
