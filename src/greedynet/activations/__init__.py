"""Activations: what a neuron does with `z = a . x + b`.

Each is one small object with `name`, `value(z)` and `slope(z)`, and with one thing that says how to
search for its neurons:

* `degree`, if it is positively homogeneous, `value(s z) = s**degree value(z)` for every `s > 0`.
  Then the length of `(a, b)` says nothing: there are only directions and thresholds to search.
* `scales`, if it is not: lengths of `a` worth trying, for inputs that span [-1, 1] along `a`.

The rest of the library asks an activation for nothing else.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

Array = NDArray[np.floating]


@runtime_checkable
class Activation(Protocol):
    """What the library asks of an activation, beside its `degree` or its `scales`."""

    @property
    def name(self) -> str:
        """The name under which it is saved and found."""
        ...

    def value(self, z: Array) -> Array:
        """Return the activation of `z`, elementwise."""
        ...

    def slope(self, z: Array) -> Array:
        """Return the derivative at `z`, elementwise; at a kink, the derivative from the left."""
        ...


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
    """`max(z, 0)**degree`: splines of that degree in place of broken lines."""

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
    """`z` where it is positive, `negative_slope z` elsewhere."""

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
        """Return `s (1 - s)`, `s` the value."""
        return np.asarray(expit(z) * expit(-z))


@dataclass(frozen=True)
class GELU:
    """`z Phi(z)`, `Phi` the normal distribution function (not its approximation by tanh)."""

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
    # A wave of nearly the right length fits only a few periods: frequencies lie evenly, and close.
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


ACTIVATIONS: dict[str, Activation] = {
    activation.name: activation
    for activation in (
        ReLU(),
        ReLUPower("relu2", 2),
        ReLUPower("relu3", 3),
        LeakyReLU(),
        Abs(),
        Tanh(),
        Sigmoid(),
        GELU(),
        Softplus(),
        Sin(),
        Gaussian(),
    )
}

_WHAT_IT_HAS = "`name`, `value(z)`, `slope(z)` and either `degree` or `scales`"


def get_activation(activation: str | Activation) -> Activation:
    """Find an activation by name; an activation object is checked and returned as it is."""
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {sorted(ACTIVATIONS)} or an object with "
                f"{_WHAT_IT_HAS}, got {activation!r}."
            )
        return ACTIVATIONS[activation]
    if isinstance(activation, type):
        raise TypeError(
            f"`activation` must be an object, got the class {activation.__name__}: write "
            f"{activation.__name__}()."
        )
    missing = [what for what in ("name", "value", "slope") if not hasattr(activation, what)]
    if missing:
        advice = "give it `def slope(self, z)`, the derivative of `value` for every z."
        raise TypeError(
            f"`activation` must be a name such as 'relu' or an object with {_WHAT_IT_HAS}, got "
            f"{type(activation).__name__} without {' and '.join(f'`{what}`' for what in missing)}"
            + (f": {advice}" if missing == ["slope"] else ".")
        )
    if ACTIVATIONS.get(activation.name) != activation:
        _check(activation)
    return activation


def degree_of(activation: Activation) -> int | None:
    """Return the degree of homogeneity, or None."""
    return getattr(activation, "degree", None)


def shared_degree(activation: Activation) -> int:
    """Return the power with which the length of inner weights could go into the outer ones."""
    return degree_of(activation) or 0


def scales_of(activation: Activation) -> tuple[float, ...]:
    """Return the lengths of inner weights to search; one, if the length says nothing."""
    if degree_of(activation) is not None:
        return (1.0,)
    return tuple(float(scale) for scale in activation.scales)  # type: ignore[attr-defined]


def halves(activation: Activation) -> tuple[float, float]:
    """Return `p, m` of a homogeneous activation `p relu(z)**k + m relu(-z)**k`."""
    up, down = activation.value(np.array([1.0, -1.0]))
    return float(up), float(down)


def odd_part(activation: Activation) -> float | None:
    """Return the `s` of `sigma(z) - sigma(-z) = s z`, not zero; None if it is no such function.

    Two neurons of such an activation make a linear function, so that beside an affine term the
    neurons of `(a, b)` and `(-a, -b)` are the same.
    """
    z = np.array([1.0, 0.125, 0.7, 3.0, 17.0])
    with np.errstate(all="ignore"):
        ratio = (activation.value(z) - activation.value(-z)) / z
    s = float(ratio[0])
    return s if s != 0 and np.allclose(ratio, s, rtol=1e-12, atol=0) else None


def activate(activation: Activation, z: Array) -> Array:
    """Return the activation of `z`, written over it."""
    if isinstance(activation, ReLU):
        return np.maximum(z, 0, out=z)
    z[...] = activation.value(z)
    return z


def _power(z: Array, k: int) -> Array:
    """`z**k` by products: the general power is ten times slower."""
    power = z if k else np.ones_like(z)
    for _ in range(k - 1):
        power = power * z
    return power


def _check(activation: Activation) -> None:
    """Refuse an activation whose parts do not go together."""
    z = np.array([-2.3, -1.1, -0.4, 0.3, 0.9, 2.7])
    value = _numbers(activation, "value", z)
    slope = _numbers(activation, "slope", z)
    step = 1e-6
    ahead, behind = (_numbers(activation, "value", z + s) for s in (step, -step))
    if not np.allclose((ahead - behind) / (2 * step), slope, rtol=1e-4, atol=1e-4):
        raise ValueError(
            f"`activation` must have in `slope` the derivative of `value`, got {activation!r}, "
            f"whose value changes by {(ahead - behind) / (2 * step)} per unit at {z}, with the "
            f"slope {slope}."
        )
    degree, scales = (getattr(activation, what, None) for what in ("degree", "scales"))
    if degree is None:
        lengths = () if scales is None else tuple(scales)
        if not lengths or not all(0 < length < np.inf for length in lengths):
            raise ValueError(
                f"`activation` must have a `degree` or `scales`, got {activation!r} with degree "
                f"None and scales {scales!r}: write `degree = k` if value(s z) = s**k value(z) for "
                "every s > 0, else `scales = (1.0, 2.0, 4.0, 8.0)`, the inner weights to try for "
                "inputs in [-1, 1]."
            )
    elif not isinstance(degree, int) or degree < 1:
        raise ValueError(
            f"`activation` must have a whole number of at least 1 as `degree`, got {degree!r}: "
            "leave `degree` out and give `scales` instead."
        )
    elif not np.allclose(_numbers(activation, "value", 3 * z), 3.0**degree * value, rtol=1e-9):
        raise ValueError(
            f"`activation` must be homogeneous of its `degree`, value(3 z) = {3**degree} value(z), "
            f"got {activation!r}: leave `degree` out and give `scales` instead."
        )


def _numbers(activation: Activation, what: str, z: Array) -> Array:
    """The value or slope at some numbers, which must be numbers."""
    numbers = np.asarray(getattr(activation, what)(z.copy()))
    if numbers.shape != z.shape or not np.isfinite(numbers).all():
        raise ValueError(
            f"`activation` must give one finite number for each z in `{what}`, got {numbers!r} "
            f"for {z}."
        )
    return numbers
