"""Rows split into steps and blocks, reshuffled in every epoch inside the compiled loop.

An epoch is a permutation of the rows, read in batches of `batch_size`; the last batch may be
smaller, and its mean is over its own rows. The permutation is applied once for the whole epoch, so
that a step only reads the next batch. It depends on the seed and the epoch alone: networks that are
trained together see the same batches, and the division of the epochs into calls has no effect.
"""

from typing import NamedTuple

import numpy as np

from greedynet.rows.rows import Rows
from greedynet.train.backend import Array, jax, jnp
from greedynet.train.model import Block, as_columns
from greedynet.train.settings import TRAIN_SETTINGS


class Batches(NamedTuple):
    """All rows, and their positions in the steps of an epoch.

    Attributes
    ----------
    rows : Block
        All rows and one more of factor zero, which pads incomplete blocks.
    places : Array of shape (n_steps, n_blocks, block)
        Positions in the epoch's order; the number of rows stands for padding.
    counts : Array of shape (n_steps, 1, 1)
        Number of rows in each step.
    """

    rows: Block
    places: Array
    counts: Array

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
