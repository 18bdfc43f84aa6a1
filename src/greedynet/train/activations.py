"""JAX, float64 during training, and the activations in JAX, which `to_jax` exports too.

Each activation is the function of `greedynet.activations` of the same name, written so that neither
its value nor its gradient is lost to overflow for large `|z|`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from greedynet.activations import Activation, LeakyReLU
from greedynet.support.files import require

jax = require("jax", "train", "greedynet.train")
jnp = require("jax.numpy", "train", "greedynet.train")
lax = require("jax.lax", "train", "greedynet.train")
optax = require("optax", "train", "greedynet.train")

Array = Any  # jax.Array, which type checkers do not find if JAX is not installed

# Each training runs on one thread: for products this small, XLA's own threads cost more than they
# gain, and without them the result does not depend on the number of cores.
COMPILER_OPTIONS = {"xla_cpu_multi_thread_eigen": False}


def float64() -> AbstractContextManager[None]:
    """Compute in float64 inside the block, in this thread; the user's setting is not changed."""
    # JAX 0.8 moved the context manager out of `jax.experimental`.
    home = (
        jax
        if hasattr(jax, "enable_x64")
        else require("jax.experimental", "train", "greedynet.train")
    )
    manager: AbstractContextManager[None] = home.enable_x64(True)
    return manager


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
