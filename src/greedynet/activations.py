"""Activations: what a neuron does with `z = a . x + b`.

Each is one small object with four things: `name`, `degree` of positive homogeneity, `value(z)` and
`slope(z)`. The rest of the library asks an activation for nothing else.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@runtime_checkable
class Activation(Protocol):
    """What the library asks of an activation."""

    @property
    def name(self) -> str:
        """The name under which it is saved and found."""
        ...

    @property
    def degree(self) -> int:
        """The k of `value(s z) = s**k value(z)` for every s > 0."""
        ...

    def value(self, z: Array, out: Array | None = None) -> Array:
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

    def value(self, z: Array, out: Array | None = None) -> Array:
        """Return `max(z, 0)`."""
        return np.maximum(z, 0, out=out)

    def slope(self, z: Array) -> Array:
        """Return 1 where `z > 0`, else 0."""
        return (z > 0).astype(z.dtype)


ACTIVATIONS: dict[str, Activation] = {"relu": ReLU()}


def get_activation(activation: str | Activation) -> Activation:
    """Find an activation by name; an activation object is returned as it is."""
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {sorted(ACTIVATIONS)} or an object with `name`, "
                f"`degree`, `value` and `slope`, got {activation!r}."
            )
        return ACTIVATIONS[activation]
    if isinstance(activation, type):
        raise TypeError(
            f"`activation` must be an object, got the class {activation.__name__}: write "
            f"{activation.__name__}()."
        )
    if not isinstance(activation, Activation):
        raise TypeError(
            f"`activation` must be a name such as 'relu' or an object with `name`, `degree`, "
            f"`value` and `slope`, got {type(activation).__name__}."
        )
    return activation
