"""A network in JAX: differentiable weights, rows stored as columns, the loss, and activations.

    loss(w) = sum_i s_i |g_w(x_i) - y_i|**2

The factors `s_i` contain the weights and the normalisation: `s_i = weight_i / (n t)` gives the mean
squared error over `n` rows and `t` outputs, and `s_i = 0` marks a row that pads a block. Rows of
the data are stored as columns, `(d + 1, n)` with a row of ones for the biases, because the
innermost loops then run over the samples, the longest dimension.

Each activation is the function of `greedynet.activations` of the same name, written so that neither
its value nor its gradient is lost to overflow for large `|z|`; `to_jax` exports them too.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, LeakyReLU
from greedynet.model.network import Network
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


JaxFunction = Callable[[Array], Array]


@cache
def _leaky_relu(negative_slope: float) -> JaxFunction:
    """`z` or `negative_slope z`; cached, so that each slope is compiled once."""

    def leaky_relu(z: Array) -> Array:
        return jnp.where(z > 0, z, negative_slope * z)

    return leaky_relu


# Name of the activation -> function of an array; further ones may be added.
ACTIVATIONS: dict[str, JaxFunction] = {
    "relu": jax.nn.relu,
    "relu2": lambda z: jax.nn.relu(z) * jax.nn.relu(z),
    "relu3": lambda z: jax.nn.relu(z) * jax.nn.relu(z) * jax.nn.relu(z),
    "leaky_relu": _leaky_relu(LeakyReLU().negative_slope),
    "abs": jnp.abs,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": lambda z: jax.nn.gelu(z, approximate=False),  # by default, by tanh
    "softplus": jax.nn.softplus,
    "sin": jnp.sin,
    "gaussian": lambda z: jnp.exp(-z * z),
}


def jax_form(activation: Activation) -> JaxFunction:
    if isinstance(activation, LeakyReLU) and activation.name == "leaky_relu":
        return _leaky_relu(float(activation.negative_slope))
    return ACTIVATIONS[activation.name]


T = TypeVar("T")


class TrainedWeights(NamedTuple):
    """The trained weights, named as in `Network`: the pytree that optax updates."""

    inner_weights: Array
    biases: Array
    outer_weights: Array
    linear_weights: Array | None
    intercept: Array


class Block(NamedTuple):
    """Rows stored as columns: inputs and ones `(d + 1, n)`, outputs `(t, n)`, factors `(n,)`."""

    inputs: Array
    outputs: Array
    factors: Array


def activation_of(network: Network) -> JaxFunction:
    """Return the JAX form of the network's activation; raise an error if there is none."""
    activation = network.activation
    if activation.name not in ACTIVATIONS:
        raise ValueError(
            f"`network` must have one of the activations {sorted(ACTIVATIONS)} to be trained, got "
            f"{activation.name!r}: add its JAX form to `greedynet.train.model.ACTIVATIONS`."
        )
    form = jax_form(activation)
    z = np.linspace(-8.0, 8.0, 65)
    # Another object may have the same name but a different function.
    if not np.allclose(form(jnp.asarray(z)), activation.value(z.copy()), rtol=1e-9, atol=1e-9):
        raise ValueError(
            "`network` must have an activation that agrees with its JAX form, got "
            f"{activation!r}, which differs from {activation.name!r} in "
            "`greedynet.train.model.ACTIVATIONS`: add it there under another name."
        )
    return form


def stack(networks: Sequence[Network]) -> TrainedWeights:
    """Stack the weights of networks of one architecture along a new first axis."""

    def of(network: Network) -> TrainedWeights:
        intercept = network.intercept
        return TrainedWeights(
            network.inner_weights,
            network.biases,
            network.outer_weights,
            network.linear_weights,
            np.zeros(network.n_outputs) if intercept is None else intercept,
        )

    stacked: TrainedWeights = jax.tree.map(lambda *each: np.stack(each), *map(of, networks))
    return stacked


def unstack(weights: TrainedWeights, starts: Sequence[Network]) -> list[Network]:
    """Return networks with the trained weights, otherwise equal to those they started from."""
    arrays = {k: np.asarray(v) for k, v in weights._asdict().items() if v is not None}
    return [
        replace(start, **{name: array[i] for name, array in arrays.items()})
        for i, start in enumerate(starts)
    ]


def predict(weights: TrainedWeights, inputs: Array, activation: JaxFunction) -> Array:
    """Return the values `(t, n)` of the network on inputs `(d + 1, n)`."""
    # The biases are part of the matrix product, and so is their gradient.
    inner = jnp.concatenate([weights.inner_weights, weights.biases[:, None]], axis=1)
    hidden = activation(inner @ inputs)
    values = weights.outer_weights.T @ hidden + weights.intercept[:, None]
    if weights.linear_weights is not None:
        values += weights.linear_weights.T @ inputs[:-1]
    return values


def block_loss(weights: TrainedWeights, block: Block, activation: JaxFunction) -> Array:
    """Return the sum of `s_i |g(x_i) - y_i|**2` over the rows of one block."""
    residual = predict(weights, block.inputs, activation) - block.outputs
    return jnp.sum(block.factors * residual**2)


def over_blocks(function: Callable[[Block], T], blocks: Block) -> T:
    """Return the sum of `function` over the blocks, which lie along the first axis."""
    first, rest = (jax.tree.map(lambda a, s=s: a[s], blocks) for s in (0, slice(1, None)))
    total = function(first)
    if len(blocks.factors) == 1:
        return total

    def add(total: T, block: Block) -> tuple[T, None]:
        return jax.tree.map(jnp.add, total, function(block)), None

    summed: T = lax.scan(add, total, rest)[0]
    return summed


def loss(weights: TrainedWeights, blocks: Block, activation: JaxFunction) -> Array:
    """Return the sum of `s_i |g(x_i) - y_i|**2` over all blocks."""
    return over_blocks(lambda block: block_loss(weights, block, activation), blocks)


def loss_and_gradient(
    weights: TrainedWeights, blocks: Block, activation: JaxFunction
) -> tuple[Array, TrainedWeights]:
    """Return the loss over all blocks and its gradient; only one block is in memory at a time."""
    of_block: Any = jax.value_and_grad(block_loss)
    return over_blocks(lambda block: of_block(weights, block, activation), blocks)


def as_columns(X: NDArray[np.floating], Y: NDArray[np.floating]) -> tuple[Any, Any]:
    """Return inputs above a row of ones, and outputs, with the rows stored as columns."""
    return np.vstack([X.T, np.ones(len(X))]), np.ascontiguousarray(Y.T)
