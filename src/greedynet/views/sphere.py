"""Neurons as points of the circle or the sphere, and the sphere as flat discs.

A neuron `sigma(a . x + b)` is the point `(a, b)`, divided by its norm. Discs are Lambert's
equal-area projection from the poles `b = 1` and `b = -1`: a point at the height `b` lies at the
radius `sqrt(1 - |b|)` in the direction of `a`.
"""

import numpy as np

from greedynet.support.types import Float64


def neurons_on_sphere(inner_weights: Float64, biases: Float64, domain: Float64) -> Float64:
    """Return the neurons as points, for inputs scaled from the domain, `(2, d)`, to [-1, 1].

    A neuron without weights and bias stays at zero.
    """
    middle, half = (domain[0] + domain[1]) / 2, (domain[1] - domain[0]) / 2
    points = np.column_stack([inner_weights * half, biases + inner_weights @ middle])
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(lengths > 0, lengths, 1.0))


def upper_half(x: Float64, y: Float64) -> Float64:
    """Return the points with `b >= 0` that are drawn at `(x, y)` in the unit disc, `(n, 3)`."""
    square = x**2 + y**2
    # b = 1 - r^2, hence |a| = r sqrt(2 - r^2).
    stretch = np.sqrt(2 - square)
    return np.column_stack([stretch * x, stretch * y, 1 - square])


def places_on_disc(points: Float64) -> Float64:
    """Return where points of the sphere, or their antipodes with `b >= 0`, are drawn, `(n, 2)`."""
    upper = points * np.where(points[:, 2:] < 0, -1.0, 1.0)
    length = np.linalg.norm(upper[:, :2], axis=1)
    radius = np.sqrt(1 - upper[:, 2])
    return np.asarray(upper[:, :2] * (radius / np.where(length > 0, length, 1.0))[:, None])
