"""The activations: homogeneous ones, `value(s z) = s**degree value(z)`, and those with `scales`.

Of the first, ReLU and its family, the norm of the inner weights does not matter; of the others,
smooth ones and the ramp, it does.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from greedynet.activations.base import Activation, Array


@dataclass(frozen=True)
class ReLU:
    """`max(z, 0)`, the activation of the paper."""

    name: str = "relu"
    degree: int = 1

    def value(self, z: Array) -> Array:
        return np.maximum(z, 0)

    def slope(self, z: Array) -> Array:
        return (z > 0).astype(z.dtype)


@dataclass(frozen=True)
class ReLUPower:
    """`max(z, 0)**degree`: splines of that degree instead of piecewise linear functions."""

    name: str
    degree: int

    def value(self, z: Array) -> Array:
        return _power(np.maximum(z, 0), self.degree)

    def slope(self, z: Array) -> Array:
        return self.degree * _power(np.maximum(z, 0), self.degree - 1)


@dataclass(frozen=True)
class LeakyReLU:
    """`z` if it is positive, `negative_slope z` otherwise."""

    negative_slope: float = 0.01
    name: str = "leaky_relu"
    degree: int = 1

    def value(self, z: Array) -> Array:
        return np.where(z > 0, z, self.negative_slope * z)

    def slope(self, z: Array) -> Array:
        return np.where(z > 0, 1.0, self.negative_slope).astype(z.dtype)


@dataclass(frozen=True)
class Abs:
    """`|z|`."""

    name: str = "abs"
    degree: int = 1

    def value(self, z: Array) -> Array:
        return np.abs(z)

    def slope(self, z: Array) -> Array:
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


@dataclass(frozen=True)
class Tanh:
    """`tanh(z)`."""

    name: str = "tanh"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        return np.tanh(z)

    def slope(self, z: Array) -> Array:
        return 1 - np.tanh(z) ** 2


@dataclass(frozen=True)
class Sigmoid:
    """`1 / (1 + exp(-z))`."""

    name: str = "sigmoid"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

    def value(self, z: Array) -> Array:
        return np.asarray(expit(z))

    def slope(self, z: Array) -> Array:
        return np.asarray(expit(z) * expit(-z))


@dataclass(frozen=True)
class GELU:
    """`z Phi(z)` with the normal distribution function `Phi` (not the tanh approximation)."""

    name: str = "gelu"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        return np.asarray(z * ndtr(z))

    def slope(self, z: Array) -> Array:
        return np.asarray(ndtr(z) + z * np.exp(-0.5 * z * z) / float(np.sqrt(2 * np.pi)))


@dataclass(frozen=True)
class Softplus:
    """`log(1 + exp(z))`."""

    name: str = "softplus"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

    def value(self, z: Array) -> Array:
        return np.logaddexp(0, z)

    def slope(self, z: Array) -> Array:
        return np.asarray(expit(z))


@dataclass(frozen=True)
class Sin:
    """`sin(z)`."""

    name: str = "sin"
    # A slightly wrong frequency fits only a few periods: frequencies are evenly and closely spaced.
    scales: tuple[float, ...] = tuple(np.pi / 4 * k for k in range(1, 33))

    def value(self, z: Array) -> Array:
        return np.sin(z)

    def slope(self, z: Array) -> Array:
        return np.cos(z)


@dataclass(frozen=True)
class Gaussian:
    """`exp(-z**2)`, a ridge across the inputs."""

    name: str = "gaussian"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        return np.exp(-z * z)

    def slope(self, z: Array) -> Array:
        return -2 * z * np.exp(-z * z)


@dataclass(frozen=True)
class Ramp:
    """`min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1`: it rises between two plateaus.

    Networks are constructed with it, and delivered with ReLUs: see `fitting/forms.py`.
    """

    name: str = "ramp"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)

    def value(self, z: Array) -> Array:
        return np.clip(z, -1.0, 1.0)

    def slope(self, z: Array) -> Array:
        return np.asarray((z > -1.0) & (z <= 1.0), dtype=np.float64)
