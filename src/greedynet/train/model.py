"""A network as JAX sees it: weights that can be differentiated, rows in columns, the loss.

    loss(w) = sum_i s_i |g_w(x_i) - y_i|**2

The factors `s_i` hold all by which a mean is divided: `s_i = weight_i / (n t)` gives the mean
squared error over `n` rows and `t` outputs, `s_i = 0` a row that is only there to fill a block.
Rows lie in columns, `(d + 1, n)` with a row of ones for the biases, because the fastest loops run
over the samples: there are more of them than of anything else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import ShallowNetwork
from greedynet.train.activations import ACTIVATIONS, Form, jax_form
from greedynet.train.backend import Array, jax, jnp, lax

T = TypeVar("T")

# Values of neurons to keep at once: 4 MB, so that a block stays in the cache.
BLOCK_ELEMENTS = 2**19


class Weights(NamedTuple):
    """What is trained; the names are those of `ShallowNetwork`. The leaves optax sees."""

    inner_weights: Array
    biases: Array
    outer_weights: Array
    linear_weights: Array | None
    intercept: Array


class Block(NamedTuple):
    """Rows in columns: inputs `(d + 1, n)` over ones, outputs `(t, n)`, factors `(n,)`."""

    inputs: Array
    outputs: Array
    factors: Array


def activation_of(network: ShallowNetwork) -> Form:
    """Return the JAX form of the network's activation, if it can be trained; in float64."""
    activation = network.activation
    if activation.name not in ACTIVATIONS:
        raise ValueError(
            f"`network` must have one of the activations {sorted(ACTIVATIONS)} to be trained, got "
            f"{activation.name!r}: add its JAX form to `greedynet.train.activations.ACTIVATIONS`."
        )
    form = jax_form(activation)
    z = np.linspace(-8.0, 8.0, 65)
    # A name says nothing about the function of another object that bears it.
    if not np.allclose(form(jnp.asarray(z)), activation.value(z.copy()), rtol=1e-9, atol=1e-9):
        raise ValueError(
            f"`network` must have an activation that does what its JAX form does, got "
            f"{activation!r}, which is not the {activation.name!r} of "
            "`greedynet.train.activations.ACTIVATIONS`: give it a name of its own there."
        )
    return form


def stack(networks: Sequence[ShallowNetwork]) -> Weights:
    """Weights of networks of one architecture, the first axis over the networks."""

    def of(network: ShallowNetwork) -> Weights:
        intercept = network.intercept
        return Weights(
            network.inner_weights,
            network.biases,
            network.outer_weights,
            network.linear_weights,
            np.zeros(network.n_outputs) if intercept is None else intercept,
        )

    stacked: Weights = jax.tree.map(lambda *each: np.stack(each), *map(of, networks))
    return stacked


def unstack(weights: Weights, starts: Sequence[ShallowNetwork]) -> list[ShallowNetwork]:
    """Networks with the trained weights, the rest as in the networks they started from."""
    arrays = {k: np.asarray(v) for k, v in weights._asdict().items() if v is not None}
    return [
        replace(start, path_factor=None, **{name: array[i] for name, array in arrays.items()})
        for i, start in enumerate(starts)
    ]


def predict(weights: Weights, inputs: Array, activation: Form) -> Array:
    """Values `(t, n)` of the network on inputs `(d + 1, n)`."""
    # The biases join the product: their gradient is then part of one, too.
    inner = jnp.concatenate([weights.inner_weights, weights.biases[:, None]], axis=1)
    hidden = activation(inner @ inputs)
    values = weights.outer_weights.T @ hidden + weights.intercept[:, None]
    if weights.linear_weights is not None:
        values += weights.linear_weights.T @ inputs[:-1]
    return values


def block_loss(weights: Weights, block: Block, activation: Form) -> Array:
    """Sum of `s_i |g(x_i) - y_i|**2` over the rows of one block."""
    residual = predict(weights, block.inputs, activation) - block.outputs
    return jnp.sum(block.factors * residual**2)


def over_blocks(function: Callable[[Block], T], blocks: Block) -> T:
    """Sum of `function` over the blocks, which lie along the first axis."""
    first, rest = (jax.tree.map(lambda a, s=s: a[s], blocks) for s in (0, slice(1, None)))
    total = function(first)
    if len(blocks.factors) == 1:
        return total

    def add(total: T, block: Block) -> tuple[T, None]:
        return jax.tree.map(jnp.add, total, function(block)), None

    summed: T = lax.scan(add, total, rest)[0]
    return summed


def loss(weights: Weights, blocks: Block, activation: Form) -> Array:
    """Sum of `s_i |g(x_i) - y_i|**2` over all blocks."""
    return over_blocks(lambda block: block_loss(weights, block, activation), blocks)


def loss_and_gradient(weights: Weights, blocks: Block, activation: Form) -> tuple[Array, Weights]:
    """The loss over all blocks and its gradient; no more than one block is held at once."""
    of_block: Any = jax.value_and_grad(block_loss)
    return over_blocks(lambda block: of_block(weights, block, activation), blocks)


def as_columns(X: NDArray[np.floating], Y: NDArray[np.floating]) -> tuple[Any, Any]:
    """Inputs over a row of ones, and outputs, with the rows in columns."""
    return np.vstack([X.T, np.ones(len(X))]), np.ascontiguousarray(Y.T)
