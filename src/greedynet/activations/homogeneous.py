"""Positively homogeneous activations, `value(s z) = s**degree value(z)`: ReLU and its family."""

from dataclasses import dataclass

import numpy as np

from greedynet.activations.base import Activation, Array


@dataclass(frozen=True)
class ReLU:
    """`max(z, 0)`, the activation of the paper."""

    name: str = "relu"
    degree: int = 1

    def value(self, z: Array) -> Array:
        """Return `max(z, 0)`."""
        return np.maximum(z, 0)

    def slope(self, z: Array) -> Array:
        """Return 1 where `z > 0`, else 0."""
        return (z > 0).astype(z.dtype)


@dataclass(frozen=True)
class ReLUPower:
    """`max(z, 0)**degree`: splines of that degree instead of piecewise linear functions."""

    name: str
    degree: int

    def value(self, z: Array) -> Array:
        """Return `max(z, 0)**degree`."""
        return _power(np.maximum(z, 0), self.degree)

    def slope(self, z: Array) -> Array:
        """Return `degree max(z, 0)**(degree - 1)`."""
        return self.degree * _power(np.maximum(z, 0), self.degree - 1)


@dataclass(frozen=True)
class LeakyReLU:
    """`z` if it is positive, `negative_slope z` otherwise."""

    negative_slope: float = 0.01
    name: str = "leaky_relu"
    degree: int = 1

    def value(self, z: Array) -> Array:
        """Return `z` or `negative_slope z`."""
        return np.where(z > 0, z, self.negative_slope * z)

    def slope(self, z: Array) -> Array:
        """Return 1 or `negative_slope`."""
        return np.where(z > 0, 1.0, self.negative_slope).astype(z.dtype)


@dataclass(frozen=True)
class Abs:
    """`|z|`."""

    name: str = "abs"
    degree: int = 1

    def value(self, z: Array) -> Array:
        """Return `|z|`."""
        return np.abs(z)

    def slope(self, z: Array) -> Array:
        """Return 1 where `z > 0`, else -1."""
        return np.where(z > 0, 1.0, -1.0).astype(z.dtype)


def activate(activation: Activation, z: Array) -> Array:
    """Return the activation of `z`, computed in place."""
    if isinstance(activation, ReLU):
        return np.maximum(z, 0, out=z)
    z[...] = activation.value(z)
    return z


def _power(z: Array, k: int) -> Array:
    """Return `z**k` by products: the general power is ten times slower."""
    power = z if k else np.ones_like(z)
    for _ in range(k - 1):
        power = power * z
    return power
