"""Outer weights: the convex problem of GSN 4, for any width, from the triangular factor.

    min_c  || z - R c ||^2 + alpha || c_free ||^2

where `c_free` are the weights without those of the affine term. With `alpha = 0` this is back
substitution. The columns have unit norm, so `alpha` is dimensionless.
"""

import numpy as np
from scipy.linalg import solve_triangular

from greedynet.support.types import Float64


def outer_weights(R: Float64, z: Float64, alpha: float = 0.0, n_affine: int = 0) -> Float64:
    """Solve for the weights of the columns whose triangular factor is `R`.

    Parameters
    ----------
    R : ndarray of shape (k, k)
        Upper triangle of the factor.
    z : ndarray of shape (k, n_outputs)
        Projections of the target.
    alpha : float, default=0.0
        Strength of the ridge.
    n_affine : int, default=0
        The first `n_affine` weights are not penalised.

    Returns
    -------
    weights : ndarray of shape (k, n_outputs)
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
