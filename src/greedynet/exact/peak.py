"""The neuron that is most like a vector, with a bound of all neurons.

    M = max over |w| = 1 of |F(w)|,    F(w) = sum_i t_i relu(x_i . w)

for rows `x_i` with a one at the end. `F` is piecewise linear and homogeneous, and the sphere is
covered with simplicial cones. In the cone of the unit vectors `w_1, ..., w_k`, rows with `t_i > 0`
are convex, and those with `t_i < 0` lie below a line through the middle of the cone: below `t_i z`
where `z > 0` there, below 0 elsewhere. So `F <= G` with a convex, homogeneous `G`. A unit vector of
the cone is `sum_k m_k w_k` with `m_k >= 0` and `sum_k m_k <= 1 / D`, where `D` is the distance of
the plane of the `w_k` from 0, so that

    F(w) <= max(0, max_k G(w_k)) / D.

Cones whose bound is not above the best value are dropped, the others are halved along their longest
edge: the bounds converge with the square of the size of the cones. With one column, the sphere is a
circle, and nothing needs to be covered (`arc.py`).
"""

import time
from dataclasses import dataclass
from itertools import product

import numpy as np

from greedynet.exact.arc import climbed, correlation
from greedynet.support.types import Float64

# Elements of the values of rows at the corners of cones that are computed at once.
_ELEMENTS = 2**21
# Starts that rise together, how often, and the best of them from which to climb.
_RISEN, _RISES, _CLIMBED = 64, 4, 4
# Points to return, and how close two of them may be, as one minus a cosine.
_RETURNED, _NEARNESS = 12, 1e-5


@dataclass(frozen=True, eq=False)
class Peak:
    """The largest value that was found, and a bound.

    Attributes
    ----------
    points : ndarray of shape (n_points, d + 1)
        Unit vectors with large values, the largest first.
    value : float
        `|F|` at the first of them.
    bound : float
        No unit vector has a larger value.
    """

    points: Float64
    value: float
    bound: float


def peak(
    X1: Float64,
    target: Float64,
    *,
    symmetric: bool,
    starts: Float64,
    close: float,
    seconds: float,
) -> Peak:
    """Return the neuron that is most like a vector.

    Parameters
    ----------
    X1 : ndarray of shape (n_rows, d + 1)
        Rows, with a one at the end.
    target : ndarray of shape (n_rows,)
        The `t`.
    symmetric : bool
        Whether `F(-w) = F(w)`: so it is where `t` is orthogonal to all affine functions.
    starts : ndarray of shape (n_points, d + 1)
        Unit vectors, from the best of which to climb.
    close : float
        Bound and value shall agree up to this fraction.
    seconds : float
        Time after which the bound stays what it is.
    """
    end = time.perf_counter() + seconds
    points, best = best_neurons(X1, target, starts)
    if X1.shape[1] == 2:  # one circle is all there is
        return Peak(points, best, best)
    cones, dropped = _orthants(X1.shape[1], symmetric), 0.0
    _, bounds = _evaluate(X1, target, cones)
    most = max(64, _ELEMENTS // (2 * len(X1) * X1.shape[1]))
    while time.perf_counter() < end:
        is_open = bounds > best * (1.0 + close)
        dropped = max(dropped, float(bounds[~is_open].max(initial=0.0)))
        cones, bounds = cones[is_open], bounds[is_open]
        if not len(cones):
            break
        # The widest bounds first, a part at a time, so that time can run out.
        order = np.argsort(-bounds, kind="stable")
        halves = _halved(cones[order[:most]])
        values, new = _evaluate(X1, target, halves)
        if values.max() > best * (1.0 + 1e-9):
            corner = halves.reshape(-1, X1.shape[1])[int(values.argmax())]
            point, best = climbed(X1, target, corner)
            points = np.vstack([point, points])
        cones = np.concatenate([cones[order[most:]], halves])
        bounds = np.concatenate([bounds[order[most:]], new])
    return Peak(points, best, max(best, dropped, float(bounds.max(initial=0.0))))


def best_neurons(X1: Float64, target: Float64, starts: Float64) -> tuple[Float64, float]:
    """Return unit vectors with large `|F|`, by climbing, the largest first, and its value."""
    values = correlation(X1, target, starts)
    chosen = starts[np.argsort(-values, kind="stable")[:_RISEN]]
    risen, values = _risen(X1, target, chosen)
    found = [climbed(X1, target, point) for point in risen[:_CLIMBED]]
    found.sort(key=lambda pair: -pair[1])
    points = np.vstack([*(point for point, _ in found), risen[_CLIMBED:]])
    return _apart(points)[:_RETURNED], found[0][1]


def _apart(points: Float64) -> Float64:
    """Return points without those that are close to an earlier one."""
    close = np.abs(points @ points.T) > 1.0 - _NEARNESS
    earlier = np.tril(close, -1)
    return points[~earlier.any(axis=1)]


def _risen(X1: Float64, target: Float64, points: Float64) -> tuple[Float64, Float64]:
    """Return points with larger values: the best of their linear pieces, or half-way there."""
    values = correlation(X1, target, points)
    for _ in range(_RISES):
        pulls = ((X1 @ points.T > 0) * target[:, None]).T @ X1
        signs = np.sign(np.einsum("pi,pi->p", pulls, points))
        sizes = np.maximum(np.linalg.norm(pulls, axis=1), 1e-300)
        ends = pulls * (signs / sizes)[:, None]
        for other in (ends, points + ends):
            tried = other / np.maximum(np.linalg.norm(other, axis=1), 1e-300)[:, None]
            found = correlation(X1, target, tried)
            better = found > values
            points = np.where(better[:, None], tried, points)
            values = np.where(better, found, values)
    order = np.argsort(-values, kind="stable")
    return points[order], values[order]


def _orthants(n: int, symmetric: bool) -> Float64:
    """Return cones that cover the sphere, or one half of it, `(n_cones, n, n)`."""
    signs = np.array(list(product((1.0, -1.0), repeat=n)))
    if symmetric:
        signs = signs[signs[:, 0] > 0]
    return np.asarray(signs[:, :, None] * np.eye(n))


def _evaluate(X1: Float64, target: Float64, cones: Float64) -> tuple[Float64, Float64]:
    """Return `|F|` at the corners of cones, and bounds of `|F|` in them."""
    n_cones, n, _ = cones.shape
    values, tops = np.empty((n_cones, n)), np.empty(n_cones)
    up, down = np.maximum(target, 0.0), np.minimum(target, 0.0)
    step = max(1, _ELEMENTS // (len(X1) * n))
    for start in range(0, n_cones, step):
        part = cones[start : start + step]
        Z = np.einsum("cki,ri->rck", part, X1, optimize=True)
        on = (Z.sum(axis=2) > 0)[:, :, None]  # the middle of the cone
        hidden, line = np.maximum(Z, 0.0), np.where(on, Z, 0.0)
        convex_up, convex_down = (np.tensordot(t, hidden, 1) for t in (up, down))
        line_up, line_down = (np.tensordot(t, line, 1) for t in (up, down))
        values[start : start + step] = np.abs(convex_up + convex_down)
        above, below = convex_up + line_down, -(convex_down + line_up)
        tops[start : start + step] = np.maximum(above, below).max(axis=1)
    return values, np.maximum(tops, 0.0) / _distances(cones)


def _distances(cones: Float64) -> Float64:
    """Return how far the planes through the corners of cones are from 0."""
    gram = cones @ cones.transpose(0, 2, 1)
    ones = np.ones((len(cones), cones.shape[1], 1))
    return np.asarray(1.0 / np.sqrt(np.linalg.solve(gram, ones).sum(axis=(1, 2))))


def _halved(cones: Float64) -> Float64:
    """Return the halves of cones, cut in the middle of their longest edge."""
    n = cones.shape[1]
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    lengths = np.linalg.norm(cones[:, pairs[:, 0]] - cones[:, pairs[:, 1]], axis=2)
    i, j = pairs[lengths.argmax(axis=1)].T
    at = np.arange(len(cones))
    middle = cones[at, i] + cones[at, j]
    middle /= np.linalg.norm(middle, axis=1)[:, None]
    first, second = cones.copy(), cones.copy()
    first[at, i], second[at, j] = middle, middle
    return np.concatenate([first, second])
