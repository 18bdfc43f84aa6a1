"""Least squares with weights of given signs, from the normal equations.

The weights that minimise `c' M c - 2 b' c`, `M` positive definite, with `s_i c_i >= 0` wherever
`s_i` is not zero, are those with

    s_i c_i >= 0,    s_i (M c - b)_i >= 0,    c_i (M c - b)_i = 0

there, and `(M c - b)_i = 0` elsewhere. Weights are exchanged between those that are free and those
that are zero until all of this holds (block principal pivoting; Judice and Pires, 1994): all that
violate it at once, and one at a time where that does not make progress, which always ends.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64

_ROUNDING = 1e-12
_PATIENCE = 3
# Exchanges of single weights end, but after how many is known only to be finite.
_MOST_EXCHANGES = 2_000


def signed_weights(M: Float64, b: Float64, signs: Float64) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the weights of given signs, and which of them are free.

    `M` is symmetric and positive definite; the signs are 1 or -1 for weights that must not be
    negative or positive, 0 for any. Weights that are not free are exactly zero.
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
