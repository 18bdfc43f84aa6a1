"""Points on the sphere, inner weights of the dictionary (GSN 1), and directions to search along.

A ReLU neuron `relu(a . x + b)` is positively homogeneous, so the pair `(a, b)` matters only up to a
positive factor and can be taken from the unit sphere `S^d` in `R^(d+1)`. The functions for the
dictionary return an array `(n_points, d + 1)` with unit vectors as rows, the bias in the last
column.

The continuous search has thresholds in place of the bias, and begins with directions in `R^d`. With
an affine term `u` and `-u` are equivalent: `relu(u . x - t)` and `relu(t - u . x)` differ by an
affine function.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils import check_random_state

from greedynet.support.checks import check_count
from greedynet.support.types import Float64

RandomState = int | np.random.RandomState | None
Points = Float64

POINTS_PER_DIMENSION = 10_000


def circle(n_points: int, random_state: RandomState = None) -> Points:
    """Spread points evenly over the circle S^1.

    With angles `theta = 2 pi i / n` the points are `(a, b) = (sin theta, cos theta)`.

    A seed or generator as `random_state` rotates them; None is for the paper's points.

    Examples
    --------
    >>> from greedynet.search.sphere import circle
    >>> circle(4).round(3) + 0.0
    array([[ 0.,  1.],
           [ 1.,  0.],
           [ 0., -1.],
           [-1.,  0.]])
    """
    check_count(n_points, "n_points")
    theta = np.linspace(0.0, 2.0 * np.pi, n_points, endpoint=False)
    return _turned(np.column_stack([np.sin(theta), np.cos(theta)]), random_state)


def golden_spiral(n_points: int, random_state: RandomState = None) -> Points:
    """Spread points evenly over the sphere S^2 along the golden spiral.

    With the golden ratio `g = (1 + sqrt 5) / 2` and `i = 0, 1, ..., n - 1` shifted by `1 / g`,

        phi = 2 pi g i,    cos psi = 1 - 2 i / n,

    and the point is `(sin phi sin psi, cos phi sin psi, cos psi)`.

    A seed or generator as `random_state` rotates them; None is for the paper's points.
    """
    check_count(n_points, "n_points")
    i = np.arange(n_points) + 2.0 / (1.0 + np.sqrt(5.0))
    phi = np.pi * (1.0 + np.sqrt(5.0)) * i % (2.0 * np.pi)
    # With one point the shifted index passes the south pole: hence the clip.
    psi = np.arccos(np.clip(1.0 - 2.0 * i / n_points, -1.0, 1.0))
    spiral = [np.sin(phi) * np.sin(psi), np.cos(phi) * np.sin(psi), np.cos(psi)]
    return _turned(np.column_stack(spiral), random_state)


def gaussian(n_points: int, n_features: int, random_state: RandomState = None) -> Points:
    """Draw points uniformly from S^d as Gaussian vectors, sorted by the first coordinate."""
    check_count(n_points, "n_points")
    check_count(n_features, "n_features")
    vectors = check_random_state(random_state).randn(n_points, n_features + 1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors[np.argsort(vectors[:, 0], kind="stable")]


def sample_sphere(
    n_features: int, n_points: int | None = None, random_state: RandomState = None
) -> Points:
    """Return points on S^d as in the paper: circle, golden spiral or Gaussian, by dimension.

    Without `n_points`, there are the paper's `10,000 d`. Without `random_state`, the points for
    `d <= 2` are the paper's, and those for larger `d`, where it draws at random, different each
    time.
    """
    check_count(n_features, "n_features")
    if n_points is None:
        n_points = POINTS_PER_DIMENSION * n_features
    if n_features == 1:
        return circle(n_points, random_state)
    if n_features == 2:
        return golden_spiral(n_points, random_state)
    return gaussian(n_points, n_features, random_state)


def _turned(points: Points, random_state: RandomState) -> Points:
    """Rotate the points by a random orthogonal matrix; without a seed, return them unchanged."""
    if random_state is None:
        return points
    k = points.shape[1]
    rotation, triangle = np.linalg.qr(check_random_state(random_state).randn(k, k))
    return points @ (rotation * np.sign(np.diag(triangle)))


N_SPREAD = 32
N_PAIRS = 32
MAX_AXES = 128


def directions(X: NDArray[np.floating], seed: int) -> Float64:
    """Return unit vectors, one per row, along which the continuous search begins.

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
