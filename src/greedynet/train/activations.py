"""Activations in JAX, which the training differentiates and `to_jax` exports.

Each is the function of `greedynet.activations` of the same name, written so that neither its value
nor its gradient is lost to overflow for large `|z|`.
"""

from collections.abc import Callable
from functools import cache

from greedynet.activations import Activation, LeakyReLU
from greedynet.train.backend import Array, jax, jnp

Form = Callable[[Array], Array]


def _relu2(z: Array) -> Array:
    """`max(z, 0)**2`."""
    r = jax.nn.relu(z)
    return r * r


def _relu3(z: Array) -> Array:
    """`max(z, 0)**3`."""
    r = jax.nn.relu(z)
    return r * r * r


@cache
def _leaky_relu(negative_slope: float) -> Form:
    """`z` or `negative_slope z`; cached, so that each slope is compiled once."""

    def leaky_relu(z: Array) -> Array:
        return jnp.where(z > 0, z, negative_slope * z)

    return leaky_relu


def _gelu(z: Array) -> Array:
    """`z Phi(z)`; by default, JAX approximates it by tanh."""
    return jax.nn.gelu(z, approximate=False)


def _gaussian(z: Array) -> Array:
    """`exp(-z**2)`."""
    return jnp.exp(-z * z)


# Name of the activation -> function of an array; further ones may be added.
ACTIVATIONS: dict[str, Form] = {
    "relu": jax.nn.relu,
    "relu2": _relu2,
    "relu3": _relu3,
    "leaky_relu": _leaky_relu(LeakyReLU().negative_slope),
    "abs": jnp.abs,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": _gelu,
    "softplus": jax.nn.softplus,
    "sin": jnp.sin,
    "gaussian": _gaussian,
}


def jax_form(activation: Activation) -> Form:
    """Return the JAX form of an activation whose name is in `ACTIVATIONS`."""
    if isinstance(activation, LeakyReLU) and activation.name == "leaky_relu":
        return _leaky_relu(float(activation.negative_slope))
    return ACTIVATIONS[activation.name]
