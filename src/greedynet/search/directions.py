"""Initial directions of the continuous search: axes, points on the sphere, pairs of rows.

A neuron `relu(u . x - t)` and its mirror image `relu(t - u . x)` differ by an affine function, so
with an affine term `u` and `-u` are equivalent.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from greedynet.support.types import Float64

N_SPREAD = 32
N_PAIRS = 32
MAX_AXES = 128


def directions(X: NDArray[np.floating], seed: int) -> Float64:
    """Return unit vectors, one per row, along which to search for neurons.

    The axes; `N_SPREAD` vectors evenly spread over the sphere; and `N_PAIRS` differences of two
    rows, along which the data vary. In one dimension there is only one direction.
    """
    n_features = X.shape[1]
    if n_features == 1:
        return np.ones((1, 1))
    rng = np.random.default_rng(seed)
    found = np.concatenate(
        [_axes(n_features, rng), spread(n_features, N_SPREAD, rng), _pairs(X, rng)]
    )
    # A constant column is scaled to zeros: neurons along it are constant.
    found = found[:, :] * X.any(axis=0)
    length = np.linalg.norm(found, axis=1)
    found = found[length > 0] / length[length > 0, None]
    return found if len(found) else np.eye(1, n_features)


def spread(n_features: int, n: int, rng: np.random.Generator) -> Float64:
    """Return `n` vectors spread evenly over directions, not normalised.

    On the circle, equal angles; in more dimensions, the points of the low-discrepancy sequence
    `frac(offset + i g)`, `g = (1/phi, 1/phi^2, ...)` with `phi^(d+1) = phi + 1`, mapped to Gaussian
    vectors. In very high dimensions, where few points cannot be evenly spread, they are random.
    """
    offset = rng.random(n_features)
    if n_features == 2:
        angles = np.pi * (np.arange(n) + offset[0]) / n
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if n_features > 32:
        return rng.standard_normal((n, n_features))
    phi = 2.0
    for _ in range(32):
        phi = (1.0 + phi) ** (1.0 / (n_features + 1))
    steps = phi ** -np.arange(1.0, n_features + 1)
    cube = (offset + np.arange(1, n + 1)[:, None] * steps) % 1.0
    return np.asarray(ndtri(np.clip(cube, 1e-9, 1 - 1e-9)))


def _axes(n_features: int, rng: np.random.Generator) -> Float64:
    chosen = np.arange(n_features)
    if n_features > MAX_AXES:
        chosen = np.sort(rng.choice(n_features, MAX_AXES, replace=False))
    axes = np.zeros((len(chosen), n_features))
    axes[np.arange(len(chosen)), chosen] = 1.0
    return axes


def _pairs(X: NDArray[np.floating], rng: np.random.Generator) -> Float64:
    first, second = rng.integers(0, len(X), (2, N_PAIRS))
    return np.asarray(X[first] - X[second], dtype=np.float64)
