"""Activations: what a neuron does with `z = a . x + b`; a family of small objects.

May import `support`. Each has `name`, `value(z)` and `slope(z)`, and one thing that says how to
search for its neurons:

* `degree`, if it is positively homogeneous, `value(s z) = s**degree value(z)` for every `s > 0`.
  Then the length of `(a, b)` does not matter: there are only directions and thresholds to search.
* `scales`, if it is not: lengths of `a` to try, for inputs that span [-1, 1] along `a`.

The rest of the library asks an activation for nothing else.
"""

from greedynet.activations.base import (
    Activation,
    Array,
    degree_of,
    halves,
    odd_part,
    scales_of,
    shared_degree,
)
from greedynet.activations.checked import WHAT_IT_HAS, check_activation
from greedynet.activations.homogeneous import Abs, LeakyReLU, ReLU, ReLUPower, activate
from greedynet.activations.smooth import GELU, Gaussian, Sigmoid, Sin, Softplus, Tanh

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
    "odd_part",
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
# By the names under which they are asked for, saved and exported.
ACTIVATIONS: dict[str, Activation] = {activation.name: activation for activation in _FAMILY}


def get_activation(activation: str | Activation) -> Activation:
    """Find an activation by name; an activation object is checked and returned as it is."""
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {sorted(ACTIVATIONS)} or an object with "
                f"{WHAT_IT_HAS}, got {activation!r}."
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
            f"`activation` must be a name such as 'relu' or an object with {WHAT_IT_HAS}, got "
            f"{type(activation).__name__} without {' and '.join(f'`{what}`' for what in missing)}"
            + (f": {advice}" if missing == ["slope"] else ".")
        )
    if ACTIVATIONS.get(activation.name) != activation:
        check_activation(activation)
    return activation
