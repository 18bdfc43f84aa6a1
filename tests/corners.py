"""All corners of the linear pieces of small networks, by brute force: extremes are among them."""

from itertools import combinations, pairwise, product

import numpy as np


def corners(network, low, high, sums=None):
    """Return all rows of a box at which pieces of a network of one or two columns have corners.

    With `sums`, a function of the first columns that gives the sums of the neurons, and of anything
    else that has kinks, the box is one of these columns.
    """
    low, high = np.asarray(low, float), np.asarray(high, float)
    sums = sums or (lambda X: sums_of(network, X))
    rows = [_cell_corners(sums, *cell) for cell in _cells(network, low, high)]
    return np.unique(np.concatenate(rows), axis=0)


def _cells(network, low, high):
    """Yield the boxes between knots."""
    sides = []
    for j, (start, stop) in enumerate(zip(low, high, strict=True)):
        ramps = network.ramps
        knots = [] if ramps is None else ramps.knots[ramps.features == j]
        stops = [start, *(t for t in knots if start < t < stop), stop]
        sides.append(list(pairwise(stops)))
    for cell in product(*sides):
        yield np.array(cell)[:, 0], np.array(cell)[:, 1]


def sums_of(network, X):
    """Return the sums `a_n . u + b_n` of the neurons."""
    return network.lift(X) @ network.inner_weights.T + network.biases


def _cell_corners(sums, low, high):
    """Return the corners in a box on which the sums of the neurons are affine."""
    d = len(low)
    at_low = sums(low[None])[0]
    ends = np.where(np.eye(d) == 1, high, low)
    slopes = (sums(ends) - at_low).T
    # Planes `a . v + b = 0` in the unit box: the kinks, and its faces.
    planes = [(a, b) for a, b in zip(slopes, at_low, strict=True) if np.abs(a).max(initial=0) > 0]
    planes += [(np.eye(d)[j], -float(end)) for j in range(d) for end in (0, 1)]
    found = [np.array(end, float) for end in product((0, 1), repeat=d)]
    for chosen in combinations(planes, d):
        A, b = np.array([p[0] for p in chosen]), np.array([p[1] for p in chosen])
        if abs(np.linalg.det(A / np.abs(A).max(axis=1)[:, None])) > 1e-9:
            v = np.linalg.solve(A, -b)
            if (v > -1e-12).all() and (v < 1 + 1e-12).all():
                found.append(np.clip(v, 0, 1))
    return low + np.array(found) * (high - low)
