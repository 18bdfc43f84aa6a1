"""The Gauss-Newton system of the inner weights, with the outer weights eliminated.

Kaufman's form of the matrix, with the derivative `B` of the neurons, their outer weights `C` and
`P = I - F (F'F + lam)^-1 F'`, is

    S = (C C' (x) 1 1') o (B' P B),

for any number of outputs. With many rows it is the matrix of evenly spaced ones, which is enough
for the direction of a step; gradient and objective are always those of all rows.
"""

import numpy as np

from greedynet.correction.reduced_problem import Point, ReducedProblem
from greedynet.linalg.unlocked import add_square, solve_right
from greedynet.support.threads import parts_of
from greedynet.support.types import Float64

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

    def squares(part: slice) -> tuple[Float64, Float64]:
        K = np.zeros((len(C) * p, len(C) * p), order="F")
        T = np.zeros((at.F.shape[1], len(C) * p))
        for start in range(part.start, part.stop, every * _CHUNK_ROWS):
            rows = slice(start, min(part.stop, start + every * _CHUNK_ROWS), every)
            B = problem.derivatives(at, rows, block)
            B = B.reshape(len(B), -1)
            add_square(K, B.T, float(every))
            T += every * (at.F[rows].T @ B)
        return K, T

    K, T = problem.pool.sums(squares, parts_of(len(at.Z), every * _CHUNK_ROWS))
    cholesky = at.cholesky
    if every > 1:
        shown = at.F[::every]
        cholesky = problem.cholesky(every * (shown.T @ shown), ridge)
    solve_right(T.T, np.asfortranarray(cholesky))
    add_square(K, T.T, -1.0)
    K *= np.repeat(np.repeat(C @ C.T, p, axis=0), p, axis=1)
    return np.asarray(K)


def descent(problem: ReducedProblem, at: Point, ridge: float, block: slice) -> Float64:
    """Return minus half the gradient of the objective with respect to a block of neurons."""
    (pull,) = problem.pool.sums(lambda part: (problem.pull(at, part, block),), problem.parts)
    return np.asarray(pull - ridge * at.W[block])
