"""What the library asks of an activation, and what follows from it."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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
