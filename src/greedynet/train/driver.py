"""The driver calls the compiled loop until the training is done, so that Ctrl-C can end it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64
from greedynet.train.checks import Progress, Schedule
from greedynet.train.loop import MAX_EPOCHS, Data, State, make_batches, make_blocks, run, start
from greedynet.train.model import JaxFunction, activation_of, float64, jax, jnp, stack, unstack

SECONDS_PER_CALL = 0.5


class Outcome(NamedTuple):
    """Trained networks, errors `(n_networks, n_epochs + 1)`, best epochs, whether interrupted."""

    networks: list[Network]
    losses: Float64
    scores: Float64
    best_epochs: NDArray[np.int64]
    interrupted: bool


@dataclass(frozen=True)
class _Snapshot:
    """The state of a training after a call: immutable, so that Ctrl-C never leaves it half updated.

    Errors `(n_networks, n_epochs)` for each call.
    """

    state: State
    done: int = 0
    losses: tuple[Float64, ...] = ()
    scores: tuple[Float64, ...] = ()

    def after(self, activation: JaxFunction, data: Data, count: int) -> "_Snapshot":
        """Run `count` more epochs."""
        found = jax.block_until_ready(run(activation, self.state, data, self.done, count))
        losses, scores = (np.asarray(errors)[:, :count] for errors in found[1:])
        return _Snapshot(
            found[0], self.done + count, (*self.losses, losses), (*self.scores, scores)
        )


def drive(
    networks: Sequence[Network],
    rows: Rows,
    validation: Rows | None,
    settings: Schedule,
    progress: Progress,
) -> Outcome:
    """Train the networks independently of each other."""
    with float64():
        data = _data(rows, validation, settings, len(networks) * networks[0].n_neurons)
        activation = activation_of(networks[0])
        snapshot, interrupted, count = _Snapshot(start(stack(networks), data)), False, 1
        try:
            while snapshot.done < settings.epochs:
                begin = time.perf_counter()
                count = min(count, settings.epochs - snapshot.done)
                snapshot = snapshot.after(activation, data, count)
                if progress is not None:
                    progress(snapshot.done, settings.epochs)
                count = _next_count(count, time.perf_counter() - begin)
        except KeyboardInterrupt:
            interrupted = True
        # Evaluate the last weights, too: run one more epoch, and discard its steps.
        last = snapshot.after(activation, data, 1)
    state = last.state._replace(weights=snapshot.state.weights)
    return Outcome(
        unstack(state.best if settings.keep == "best" else state.weights, networks),
        np.hstack(last.losses),
        np.hstack(last.scores),
        np.asarray(state.best_epoch),
        interrupted,
    )


def _next_count(count: int, seconds: float) -> int:
    """Return the epochs of the next call, at most four times as many: the first also compiles."""
    wanted = int(count * min(4.0, SECONDS_PER_CALL / max(seconds, 1e-9)))
    return max(1, min(wanted, MAX_EPOCHS))


def _data(rows: Rows, validation: Rows | None, settings: Schedule, n_values: int) -> Data:
    whole = settings.batch_size == len(rows)
    return Data(
        make_blocks(rows, n_values),
        None if whole else make_batches(rows, settings.batch_size, n_values),
        None if validation is None else make_blocks(validation, n_values),
        jax.random.key(settings.seed),
        jnp.asarray(settings.learning_rate),
        jnp.asarray(settings.decay),
    )
