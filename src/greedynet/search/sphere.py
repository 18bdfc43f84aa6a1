"""Points on the sphere: the inner weights of the dictionary (GSN 1).

A ReLU neuron `relu(a . x + b)` is positively homogeneous, so the pair `(a, b)` matters only up to a
positive factor and can be taken from the unit sphere `S^d` in `R^(d+1)`. Every function here
returns an array `(n_points, d + 1)` with unit vectors as rows, the bias in the last column.
"""

import numpy as np
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
