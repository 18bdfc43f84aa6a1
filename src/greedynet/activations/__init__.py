"""Activations: the function `sigma(z)` that a neuron applies to `z = a . x + b`.

May import `support`. Each activation is a small object with `name`, `value(z)` and `slope(z)`, and
one attribute that determines how to search for its neurons:

* `degree`, if it is positively homogeneous, `value(s z) = s**degree value(z)` for every `s > 0`.
  Then the norm of `(a, b)` does not matter: the search is over directions and thresholds only.
  `scales`, if it is not: norms of `a` to try, for inputs that span [-1, 1] along `a`.

The rest of the library uses nothing else of an activation.
"""

from greedynet.activations.base import (
    INTERFACE,
    Activation,
    Array,
    check_activation,
    degree_of,
    halves,
    has_small_slopes,
    is_convex,
    odd_part,
    scales_of,
    shared_degree,
)
from greedynet.activations.family import (
    GELU,
    Abs,
    Gaussian,
    LeakyReLU,
    ReLU,
    ReLUPower,
    Sigmoid,
    Sin,
    Softplus,
    Tanh,
    activate,
)

__all__ = [
    "ACTIVATIONS",
    "GELU",
    "Abs",
    "Activation",
    "Array",
    "Gaussian",
    "LeakyReLU",
    "ReLU",
    "ReLUPower",
    "Sigmoid",
    "Sin",
    "Softplus",
    "Tanh",
    "activate",
    "degree_of",
    "get_activation",
    "halves",
    "has_small_slopes",
    "is_convex",
    "odd_part",
    "saved_name",
    "scales_of",
    "shared_degree",
]

_FAMILY = (
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
# By the names under which they are selected, saved and exported.
ACTIVATIONS: dict[str, Activation] = {activation.name: activation for activation in _FAMILY}


def get_activation(activation: str | Activation) -> Activation:
    """Return an activation by name; an activation object is checked and returned unchanged."""
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {sorted(ACTIVATIONS)} or an object with "
                f"{INTERFACE}, got {activation!r}."
            )
        return ACTIVATIONS[activation]
    if isinstance(activation, type):
        raise TypeError(
            f"`activation` must be an object, got the class {activation.__name__}: write "
            f"{activation.__name__}()."
        )
    missing = [what for what in ("name", "value", "slope") if not hasattr(activation, what)]
    if missing:
        advice = "add `def slope(self, z)`, the derivative of `value` for every z."
        raise TypeError(
            f"`activation` must be a name such as 'relu' or an object with {INTERFACE}, got "
            f"{type(activation).__name__} without {' and '.join(f'`{what}`' for what in missing)}"
            + (f": {advice}" if missing == ["slope"] else ".")
        )
    if ACTIVATIONS.get(activation.name) != activation:
        check_activation(activation)
    return activation


def saved_name(activation: Activation) -> str:
    """Return the name under which a registered activation is saved; raise an error for others."""
    name = activation.name
    if ACTIVATIONS.get(name) != activation:
        raise ValueError(
            f"`activation` must be one of {sorted(ACTIVATIONS)} to be saved, because files contain "
            f"no code, got {activation!r}: add it to `greedynet.activations.ACTIVATIONS` under its "
            f"name, {name!r}, before saving and before loading."
        )
    return name
