"""Neurons in corners, which no training row activates.

With the direction `a` from the nearest training row to a row in a corner, the neuron

    relu(a . x - max_i a . x_i)

is zero at all training rows, and can move the output in the corner without changing any of theirs.
If the corner does not lie beyond all rows, the kink is half-way to it.
"""

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from greedynet.support.types import Float64


def corner_neurons(X: Float64, corners: Float64) -> Float64:
    """Return inner weights of unit length, bias last, `(n_neurons, d + 1)`.

    Parameters
    ----------
    X : ndarray of shape (n_rows, d)
        Scaled training rows.
    corners : ndarray of shape (n, d)
        Scaled rows in corners; those that are training rows have no neuron.
    """
    nearest = X[pairwise_distances_argmin(corners, X)]
    directions = corners - nearest
    lengths = np.linalg.norm(directions, axis=1)
    apart = lengths > 0
    directions = directions[apart] / lengths[apart, None]
    corners, nearest = corners[apart], nearest[apart]
    farthest = (X @ directions.T).max(axis=0, initial=-np.inf)
    there, here = np.sum(corners * directions, axis=1), np.sum(nearest * directions, axis=1)
    kinks = np.where(farthest < there, farthest, (here + there) / 2)
    return np.column_stack([directions, -kinks])
