"""Weights of columns by triangular factors: for any width, of given signs, and with fewer columns.

    min_c  || z - R c ||^2 + alpha || c_free ||^2

where `c_free` are the weights without those of the affine term. With `alpha = 0` this is back
substitution. The columns have unit norm, so `alpha` is dimensionless.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from greedynet.linalg import unlocked
from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64


def damped_step(S: Float64, gradient: Float64, ridge: float, damping: float) -> Float64 | None:
    """Return the solution of `(S + ridge + damping diag(S)) step = gradient`; None if singular.

    Of `S`, `(k p, k p)`, only the lower triangle is read.
    """
    steepness = S.diagonal().copy()
    floor = 1e-9 * steepness.max(initial=0.0) + TINY
    damped = S.copy(order="F")
    np.einsum("ii->i", damped)[:] += ridge + damping * steepness + floor
    if not unlocked.cholesky(damped):
        return None
    return np.asarray(lapack.dpotrs(damped, gradient.ravel(), lower=1)[0].reshape(gradient.shape))


def trace_of_inverse(cholesky: Float64, start: int = 0) -> float:
    """Trace of the inverse of a matrix, from row `start` on, by its lower Cholesky factor."""
    inverse = cholesky.copy(order="F")
    unlocked.invert(inverse)
    return float(np.sum(inverse.diagonal()[start:]))


def inverse_of(cholesky: Float64) -> Float64:
    """Inverse of a matrix from its lower Cholesky factor, both triangles filled."""
    inverse = cholesky.copy(order="F")
    unlocked.invert(inverse)
    return np.tril(inverse) + np.tril(inverse, -1).T


def outer_weights(R: Float64, z: Float64, alpha: float = 0.0, n_affine: int = 0) -> Float64:
    """Solve for the weights of the columns whose triangular factor is `R`.

    `z` are the projections of the target, `(k, n_outputs)`; the first `n_affine` weights are not
    penalised.
    """
    if len(z) == 0:
        return np.zeros_like(z)
    if alpha == 0.0:
        weights: Float64 = solve_triangular(R, z, check_finite=False)
        return weights
    # As least squares with [R; sqrt(alpha)]: normal equations would square the condition number of
    # R.
    penalty = np.full(len(z), np.sqrt(alpha))
    penalty[:n_affine] = 0.0
    Q, triangle = np.linalg.qr(np.vstack([R, np.diag(penalty)]))
    solved: Float64 = solve_triangular(triangle, Q[: len(z)].T @ z, check_finite=False)
    return solved


def misfit(R: Float64, z: Float64, weights: Float64) -> float:
    """Return `|| z - R c ||^2`: the part of the residual that is due to the ridge."""
    return float(np.sum((z - R @ weights) ** 2))


def columns_left(
    cholesky: Float64, weights: Float64, n_columns: int, n_fixed: int = 0
) -> list[int]:
    """Remove columns one at a time, each the one that costs least; return those that are left.

    The first `n_fixed` columns stay and are not counted. With the normal equations `M c = b`, the
    squared error rises by `c_j^2 / (M^-1)_jj` without column j.
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


_ROUNDING = 1e-12
_PATIENCE = 3
# Exchanges of single weights end, but after how many is known only to be finite.
_MOST_EXCHANGES = 2_000


def signed_weights(M: Float64, b: Float64, signs: Float64) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the weights of given signs, and which of them are free.

    The signs are 1 or -1 for weights that must not be negative or positive, 0 for any. The weights
    that minimise `c' M c - 2 b' c`, `M` positive definite, with `s_i c_i >= 0` wherever `s_i` is
    not zero, are those with

        s_i c_i >= 0,    s_i (M c - b)_i >= 0,    c_i (M c - b)_i = 0

    there, and `(M c - b)_i = 0` elsewhere. Weights are exchanged between those that are free and
    those that are exactly zero until all of this holds (block principal pivoting; Judice and Pires,
    1994): all that violate it at once, and one at a time where that does not make progress, which
    always ends.
    """
    free = np.ones(len(b), dtype=bool)
    # By the diagonal, so that rounding is the same for all columns.
    scale = 1.0 / np.sqrt(np.diagonal(M))
    M, b = M * np.outer(scale, scale), b * scale
    tolerance = _ROUNDING * max(float(np.abs(b).max(initial=0.0)), TINY)
    fewest, patience = len(b) + 1, _PATIENCE
    weights = np.zeros(len(b))
    for _ in range(_MOST_EXCHANGES):
        weights = _weights_of(M, b, free)
        violation = signs * np.where(free, weights, M @ weights - b)
        wrong = np.flatnonzero(violation < -tolerance)
        if len(wrong) == 0:
            break
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        else:
            patience -= 1
        exchanged = wrong if patience > 0 else wrong[-1:]
        free[exchanged] = ~free[exchanged]
    # Rounding must not leave a weight of the wrong sign.
    weights[signs * weights < 0] = 0.0
    return weights * scale, free


def _weights_of(M: Float64, b: Float64, free: NDArray[np.bool_]) -> Float64:
    """Return the weights that are free, the others being zero."""
    weights = np.zeros(len(b))
    at = np.flatnonzero(free)
    if len(at):
        triangle = cho_factor(M[np.ix_(at, at)], check_finite=False)
        weights[at] = cho_solve(triangle, b[at], check_finite=False)
    return weights
