"""Activations for which the norm of the inner weights matters: smooth ones, and the ramp."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from greedynet.activations.base import Array


@dataclass(frozen=True)
class Tanh:
    """`tanh(z)`."""

    name: str = "tanh"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        """Return `tanh(z)`."""
        return np.tanh(z)

    def slope(self, z: Array) -> Array:
        """Return `1 - tanh(z)**2`."""
        return 1 - np.tanh(z) ** 2


@dataclass(frozen=True)
class Sigmoid:
    """`1 / (1 + exp(-z))`."""

    name: str = "sigmoid"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

    def value(self, z: Array) -> Array:
        """Return `1 / (1 + exp(-z))`."""
        return np.asarray(expit(z))

    def slope(self, z: Array) -> Array:
        """Return `s (1 - s)`, where `s` is the value."""
        return np.asarray(expit(z) * expit(-z))


@dataclass(frozen=True)
class GELU:
    """`z Phi(z)` with the normal distribution function `Phi` (not the tanh approximation)."""

    name: str = "gelu"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        """Return `z Phi(z)`."""
        return np.asarray(z * ndtr(z))

    def slope(self, z: Array) -> Array:
        """Return `Phi(z) + z phi(z)`."""
        return np.asarray(ndtr(z) + z * np.exp(-0.5 * z * z) / float(np.sqrt(2 * np.pi)))


@dataclass(frozen=True)
class Softplus:
    """`log(1 + exp(z))`."""

    name: str = "softplus"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

    def value(self, z: Array) -> Array:
        """Return `log(1 + exp(z))`."""
        return np.logaddexp(0, z)

    def slope(self, z: Array) -> Array:
        """Return `1 / (1 + exp(-z))`."""
        return np.asarray(expit(z))


@dataclass(frozen=True)
class Sin:
    """`sin(z)`."""

    name: str = "sin"
    # A slightly wrong frequency fits only a few periods: frequencies are evenly and closely spaced.
    scales: tuple[float, ...] = tuple(np.pi / 4 * k for k in range(1, 33))

    def value(self, z: Array) -> Array:
        """Return `sin(z)`."""
        return np.sin(z)

    def slope(self, z: Array) -> Array:
        """Return `cos(z)`."""
        return np.cos(z)


@dataclass(frozen=True)
class Gaussian:
    """`exp(-z**2)`, a ridge across the inputs."""

    name: str = "gaussian"
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

    def value(self, z: Array) -> Array:
        """Return `exp(-z**2)`."""
        return np.exp(-z * z)

    def slope(self, z: Array) -> Array:
        """Return `-2 z exp(-z**2)`."""
        return -2 * z * np.exp(-z * z)


@dataclass(frozen=True)
class Ramp:
    """`min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1`: it rises between two plateaus.

    Networks are constructed with it, and delivered with ReLUs: see `fitting/forms.py`.
    """

    name: str = "ramp"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)

    def value(self, z: Array) -> Array:
        """Return `min(max(z, -1), 1)`."""
        return np.clip(z, -1.0, 1.0)

    def slope(self, z: Array) -> Array:
        """Return 1 between the plateaus, 0 on them."""
        return np.asarray((z > -1.0) & (z <= 1.0), dtype=np.float64)
