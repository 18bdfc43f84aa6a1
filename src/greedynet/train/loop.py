"""The compiled loop: epochs of steps, the best weights kept, several networks as one `vmap`.

One call runs a number of epochs and returns; it is compiled once and called until the training is
done, so that progress can be shown and Ctrl-C handled in between.

An epoch is a permutation of the rows, read in batches of `batch_size`; the last batch may be
smaller, and its mean is over its own rows. The permutation is applied once for the whole epoch, so
that a step only reads the next batch. It depends on the seed and the epoch alone: networks that are
trained together see the same batches, and the division of the epochs into calls has no effect.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from greedynet.rows.rows import Rows
from greedynet.support.context import Scope
from greedynet.train.model import (
    COMPILER_OPTIONS,
    Array,
    Block,
    JaxFunction,
    TrainedWeights,
    as_columns,
    jax,
    jnp,
    lax,
    loss,
    loss_and_gradient,
    optax,
)

# Maximum number of epochs of one call: the length of the histories it returns.
MAX_EPOCHS = 1_000


@dataclass(frozen=True)
class TrainSettings:
    """How a training is split."""

    # Values of neurons in one block: 4 MB, so that it stays in the cache.
    block_elements: int = 2**19


TRAIN_SETTINGS = Scope("greedynet_train_settings", TrainSettings())


# Batches


class Batches(NamedTuple):
    """All rows, and their positions in the steps of an epoch."""

    rows: Block  # all rows and one more of factor zero, which pads incomplete blocks
    # (n_steps, n_blocks, block): positions in the epoch's order; the number of rows stands for
    # padding.
    places: Array
    counts: Array  # (n_steps, 1, 1): number of rows in each step

    def shuffled(self, key: Array) -> Block:
        """Return the steps of an epoch: arrays `(n_steps, n_blocks, ..., block)`."""
        n = self.rows.factors.shape[0] - 1
        order = jnp.append(epoch_order(key, n), n)[self.places]
        return Block(
            jnp.moveaxis(self.rows.inputs[:, order], 0, 2),
            jnp.moveaxis(self.rows.outputs[:, order], 0, 2),
            self.rows.factors[order] / self.counts,
        )


def epoch_order(key: Array, n_rows: int) -> Array:
    """Return a random permutation by sorting random numbers, which is faster than JAX's own."""
    return jnp.argsort(jax.random.bits(key, (n_rows,), dtype="uint64"))


def make_batches(rows: Rows, batch_size: int, n_values: int) -> Batches:
    """Split the rows into steps; `n_values` values of neurons are computed for each row."""
    inputs, outputs, factors = _columns(rows)
    n_steps = -(-len(rows) // batch_size)
    n_blocks, size = _split(batch_size, n_values)
    place = np.arange(n_blocks * size)
    counts = np.minimum(batch_size, len(rows) - batch_size * np.arange(n_steps))[:, None]
    first = batch_size * np.arange(n_steps)[:, None]
    places = np.where(place < counts, first + place, len(rows))
    return Batches(
        Block(jnp.asarray(inputs), jnp.asarray(outputs), jnp.asarray(factors)),
        jnp.asarray(places.reshape(n_steps, n_blocks, size)),
        jnp.asarray(counts[:, :, None], dtype=float),
    )


def make_blocks(rows: Rows, n_values: int) -> Block:
    """Split all rows into blocks whose losses add up to the mean squared error."""
    inputs, outputs, factors = _columns(rows)
    n_blocks, size = _split(len(rows), n_values)
    order = np.minimum(np.arange(n_blocks * size), len(rows)).reshape(n_blocks, size)
    return Block(
        jnp.asarray(np.moveaxis(inputs[:, order], 0, 1)),
        jnp.asarray(np.moveaxis(outputs[:, order], 0, 1)),
        jnp.asarray(factors[order] / len(rows)),
    )


def _columns(rows: Rows) -> Block:
    """Return all rows as columns, and one more of factor zero."""
    inputs, outputs = as_columns(rows.X, rows.Y)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    inputs, outputs = (np.pad(a, ((0, 0), (0, 1))) for a in (inputs, outputs))
    return Block(inputs, outputs, np.append(weights, 0.0) / len(outputs))


def _split(n_rows: int, n_values: int) -> tuple[int, int]:
    """Return number and size of the blocks into which `n_rows` rows are split."""
    n_blocks = -(-n_rows * n_values // TRAIN_SETTINGS.current.block_elements)
    n_blocks = min(n_rows, max(1, n_blocks))
    return n_blocks, -(-n_rows // n_blocks)


# Epochs


class Data(NamedTuple):
    """What the loop reads: rows in several forms, the seed, Adam's learning rate and its decay.

    `batches` is None if each step uses all rows, `validation` if there are no validation rows.
    """

    blocks: Block
    batches: Batches | None
    validation: Block | None
    key: Array
    learning_rate: Array
    decay: Array


class State(NamedTuple):
    """State of a training: the weights, the optimiser's state, the best weights so far."""

    weights: TrainedWeights
    memory: Any
    best: TrainedWeights
    best_score: Array
    best_epoch: Array


@partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def start(weights: TrainedWeights, data: Data) -> State:
    """Return the state before the first epoch, of each network along the first axis."""

    def one(weights: TrainedWeights) -> State:
        memory = _adam(data).init(weights)
        # With the dtypes that the loop returns: others would trigger a second compilation.
        return State(weights, memory, weights, jnp.array(jnp.inf, float), jnp.array(0, int))

    state: State = jax.vmap(one)(weights)
    return state


@partial(jax.jit, static_argnames="activation", compiler_options=COMPILER_OPTIONS)
def run(
    activation: JaxFunction, state: State, data: Data, first: Array, count: Array
) -> tuple[State, Array, Array]:
    """Run `count` epochs; also return the training and validation errors before each of them.

    Errors are arrays `(n_networks, MAX_EPOCHS)`, of which the first `count` columns are filled. To
    evaluate the weights after the last epoch, run one more and discard its steps.
    """

    def one(state: State) -> tuple[State, Array, Array]:
        def body(i: Array, carry: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
            state, losses, scores = carry
            state, error, score = _epoch(activation, state, data, first + i)
            return state, losses.at[i].set(error), scores.at[i].set(score)

        empty = jnp.zeros(MAX_EPOCHS)
        result: tuple[State, Array, Array] = lax.fori_loop(0, count, body, (state, empty, empty))
        return result

    after: tuple[State, Array, Array] = jax.vmap(one)(state)
    return after


def _epoch(
    activation: JaxFunction, state: State, data: Data, epoch: Array
) -> tuple[State, Array, Array]:
    """Run one epoch; also return the training and the validation error before it."""

    def step(
        carry: tuple[TrainedWeights, Any], blocks: Block
    ) -> tuple[tuple[TrainedWeights, Any], Array]:
        weights, memory = carry
        error, gradient = loss_and_gradient(weights, blocks, activation)
        change, memory = optimizer.update(gradient, memory, weights)
        return (optax.apply_updates(weights, change), memory), error

    optimizer = _adam(data)
    begin = state.weights, state.memory
    if data.batches is None:
        end, error = step(begin, data.blocks)
    else:
        error = loss(state.weights, data.blocks, activation)
        end, _ = lax.scan(step, begin, data.batches.shuffled(jax.random.fold_in(data.key, epoch)))
    score = error  # by which the best weights are chosen
    if data.validation is not None:
        score = loss(state.weights, data.validation, activation)
    kept = _keep_best(state, state.weights, score, epoch)
    return kept._replace(weights=end[0], memory=end[1]), error, score


def _adam(data: Data) -> Any:
    """Return Adam with the learning rate `rate * decay**epoch`."""
    n_steps = 1 if data.batches is None else data.batches.places.shape[0]
    return optax.adam(lambda count: data.learning_rate * data.decay ** (count // n_steps))


def _keep_best(state: State, weights: TrainedWeights, score: Array, epoch: Array) -> State:
    better = score < state.best_score  # False for NaN
    return state._replace(
        best=jax.tree.map(lambda new, old: jnp.where(better, new, old), weights, state.best),
        best_score=jnp.where(better, score, state.best_score),
        best_epoch=jnp.where(better, epoch, state.best_epoch),
    )
