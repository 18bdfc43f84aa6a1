"""Positive definite matrices, given by lower triangles: damped steps, inverses, traces."""

import numpy as np
from scipy.linalg import lapack

from greedynet.linalg import unlocked
from greedynet.support.types import Float64


def damped_step(S: Float64, gradient: Float64, ridge: float, damping: float) -> Float64 | None:
    """Return the solution of `(S + ridge + damping diag(S)) step = gradient`; None if singular.

    Parameters
    ----------
    S : ndarray of shape (k p, k p)
        Its lower triangle.
    gradient : ndarray of shape (k, p)
    ridge, damping : float
    """
    steepness = S.diagonal().copy()
    floor = 1e-9 * steepness.max(initial=0.0) + 1e-300
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
