"""Outer weights: the convex problem of GSN 4, for any width, from the triangle of the factor.

    min_c  || z - R c ||^2 + alpha || c_free ||^2

where `c_free` leaves out the columns of the affine term. With `alpha = 0` this is back
substitution. Columns are normalised, so `alpha` is a pure number: 1 is as strong as an atom is
long.
"""

import numpy as np
from scipy.linalg import solve_triangular

from greedynet.support.types import Float64


def outer_weights(R: Float64, z: Float64, alpha: float = 0.0, n_affine: int = 0) -> Float64:
    """Solve for the weights of the columns behind `R`.

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
    # As least squares of [R; sqrt(alpha)]: the normal equations would square the condition of R.
    penalty = np.full(len(z), np.sqrt(alpha))
    penalty[:n_affine] = 0.0
    Q, triangle = np.linalg.qr(np.vstack([R, np.diag(penalty)]))
    solved: Float64 = solve_triangular(triangle, Q[: len(z)].T @ z, check_finite=False)
    return solved


def misfit(R: Float64, z: Float64, weights: Float64) -> float:
    """Return `|| z - R c ||^2`: what the ridge leaves of the part the columns could explain."""
    return float(np.sum((z - R @ weights) ** 2))
