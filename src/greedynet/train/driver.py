"""The driver calls the compiled loop until the training is done: threads, Ctrl-C."""

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.support.threads import Pool, count_threads
from greedynet.support.types import Float64
from greedynet.train.checks import Progress, Schedule
from greedynet.train.loop import (
    MAX_EPOCHS,
    TRAIN_SETTINGS,
    Data,
    Recipe,
    State,
    make_batches,
    make_blocks,
    run,
    start,
)
from greedynet.train.model import activation_of, float64, jax, jnp, stack, unstack

SECONDS_PER_CALL = 0.5


class Outcome(NamedTuple):
    """Trained networks, errors `(n_networks, n_epochs + 1)`, best epochs, whether interrupted."""

    networks: list[Network]
    losses: Float64
    scores: Float64
    best_epochs: NDArray[np.int64]
    interrupted: bool


def drive(
    networks: Sequence[Network],
    rows: Rows,
    validation: Rows | None,
    settings: Schedule,
    progress: Progress,
    n_jobs: int | None,
) -> Outcome:
    """Train the networks independently of each other."""
    groups = _groups(networks, settings.batch_size)
    threads = min(len(groups), count_threads(n_jobs))
    with closing(Pool(threads)) as pool, float64():
        n_values = len(groups[0]) * networks[0].n_neurons
        recipe = Recipe(activation_of(networks[0]), settings.optimizer)
        work = _Work(recipe, _data(rows, validation, settings, n_values), pool)
        snapshot = _Snapshot([start(recipe, stack(group), work.data) for group in groups])
        snapshot, interrupted = _advance(work, snapshot, settings.epochs, progress)
        snapshot = work.finish(snapshot)
    kept = [state.best if settings.keep == "best" else state.weights for state in snapshot.states]
    trained = [network for each in zip(kept, groups, strict=True) for network in unstack(*each)]
    return Outcome(
        trained,
        np.hstack(snapshot.losses),
        np.hstack(snapshot.scores),
        np.hstack([state.best_epoch for state in snapshot.states]),
        interrupted,
    )


@dataclass(frozen=True)
class _Snapshot:
    """The state of a training after a call: immutable, so that Ctrl-C never leaves it half updated.

    One state for each group; errors `(n_networks, n_epochs)` for each call.
    """

    states: list[State]
    done: int = 0
    losses: tuple[Float64, ...] = ()
    scores: tuple[Float64, ...] = ()


@dataclass(frozen=True)
class _Work:
    """The loop with everything that does not change from call to call."""

    recipe: Recipe
    data: Data
    pool: Pool

    def call(self, snapshot: _Snapshot, count: int) -> _Snapshot:
        """Run `count` more epochs."""

        def one(state: State) -> tuple[State, Float64, Float64]:
            with float64():  # the setting is local to a thread
                after = jax.block_until_ready(
                    run(self.recipe, state, self.data, snapshot.done, count)
                )
            return after[0], np.asarray(after[1])[:, :count], np.asarray(after[2])[:, :count]

        # The first call compiles, which should happen only once.
        each = (
            self.pool.map(one, snapshot.states)
            if snapshot.done
            else list(map(one, snapshot.states))
        )
        states, losses, scores = zip(*each, strict=True)
        return _Snapshot(
            list(states),
            snapshot.done + count,
            (*snapshot.losses, np.concatenate(losses)),
            (*snapshot.scores, np.concatenate(scores)),
        )

    def finish(self, snapshot: _Snapshot) -> _Snapshot:
        """Evaluate the last weights too: run one more epoch and discard its steps."""
        after = self.call(snapshot, 1)
        states = [
            new._replace(weights=old.weights)
            for new, old in zip(after.states, snapshot.states, strict=True)
        ]
        return replace(after, states=states)


def _advance(
    work: _Work, snapshot: _Snapshot, epochs: int, progress: Progress
) -> tuple[_Snapshot, bool]:
    """Call the loop until `epochs` are done; also return whether Ctrl-C ended it early."""
    count = 1
    try:
        while snapshot.done < epochs:
            begin = time.perf_counter()
            count = min(count, epochs - snapshot.done)
            snapshot = work.call(snapshot, count)
            if progress is not None:
                progress(snapshot.done, epochs)
            count = _next_count(count, time.perf_counter() - begin)
    except KeyboardInterrupt:
        return snapshot, True
    return snapshot, False


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


def _groups(networks: Sequence[Network], batch_size: int) -> list[Sequence[Network]]:
    """Return groups of networks, each trained on one thread; the first group is the largest."""
    how = TRAIN_SETTINGS.current
    if len(networks) * networks[0].n_neurons * batch_size < how.parallel_values:
        return [networks]
    n_groups = -(-len(networks) // how.group)
    cuts = [-(-len(networks) * i // n_groups) for i in range(n_groups + 1)]
    return [networks[a:b] for a, b in pairwise(cuts)]
