"""Calls the compiled loop until the training is done: groups on threads, progress, Ctrl-C."""

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import ShallowNetwork
from greedynet.rows.rows import Rows
from greedynet.support.threads import Pool, count_threads
from greedynet.support.types import Float64
from greedynet.train.backend import float64, jax, jnp
from greedynet.train.batches import make_batches, make_blocks
from greedynet.train.inputs import Progress, Settings
from greedynet.train.loop import MAX_EPOCHS, Data, Recipe, State, run, start
from greedynet.train.model import activation_of, stack, unstack
from greedynet.train.progress import Report, reporter

SECONDS_PER_CALL = 0.5
# Where a step computes at least so many values of neurons, networks are trained in groups, each on
# one thread. How they are grouped depends on the data alone, and so does the result.
PARALLEL_VALUES = 2**13
GROUP = 5


class Outcome(NamedTuple):
    """Trained networks, errors `(n_networks, n_epochs + 1)`, best epochs, whether interrupted."""

    networks: list[ShallowNetwork]
    losses: Float64
    scores: Float64
    best_epochs: NDArray[np.int64]
    interrupted: bool


def drive(
    networks: Sequence[ShallowNetwork],
    rows: Rows,
    validation: Rows | None,
    settings: Settings,
    progress: Progress,
    n_jobs: int | None,
) -> Outcome:
    """Train the networks, each as if it were alone."""
    groups = _groups(networks, settings.batch_size)
    threads = min(len(groups), count_threads(n_jobs))
    with closing(Pool(threads)) as pool, reporter(progress, settings.epochs) as report, float64():
        n_values = len(groups[0]) * networks[0].n_neurons
        recipe = Recipe(activation_of(networks[0]), settings.optimizer)
        work = _Work(recipe, _data(rows, validation, settings, n_values), pool)
        stand = _Stand([start(recipe, stack(group), work.data) for group in groups])
        stand, interrupted = _advance(work, stand, settings.epochs, report)
        stand = work.finish(stand)
    kept = [state.best if settings.keep == "best" else state.weights for state in stand.states]
    trained = [network for each in zip(kept, groups, strict=True) for network in unstack(*each)]
    return Outcome(
        trained,
        np.hstack(stand.losses),
        np.hstack(stand.scores),
        np.hstack([state.best_epoch for state in stand.states]),
        interrupted,
    )


@dataclass(frozen=True)
class _Stand:
    """How far a training has come: one value, so that Ctrl-C never leaves half a call behind.

    States for each group; errors `(n_networks, n_epochs)` for each call.
    """

    states: list[State]
    done: int = 0
    losses: tuple[Float64, ...] = ()
    scores: tuple[Float64, ...] = ()


@dataclass(frozen=True)
class _Work:
    """The loop with all that stays the same from call to call."""

    recipe: Recipe
    data: Data
    pool: Pool

    def call(self, stand: _Stand, count: int) -> _Stand:
        """Run `count` epochs more."""

        def one(state: State) -> tuple[State, Float64, Float64]:
            with float64():  # threads have settings of their own
                after = jax.block_until_ready(run(self.recipe, state, self.data, stand.done, count))
            return after[0], np.asarray(after[1])[:, :count], np.asarray(after[2])[:, :count]

        # The first call compiles, and once is enough.
        each = self.pool.map(one, stand.states) if stand.done else list(map(one, stand.states))
        states, losses, scores = zip(*each, strict=True)
        return _Stand(
            list(states),
            stand.done + count,
            (*stand.losses, np.concatenate(losses)),
            (*stand.scores, np.concatenate(scores)),
        )

    def finish(self, stand: _Stand) -> _Stand:
        """Look at the last weights, too: one epoch more, but its steps are thrown away."""
        after = self.call(stand, 1)
        states = [
            new._replace(weights=old.weights)
            for new, old in zip(after.states, stand.states, strict=True)
        ]
        return replace(after, states=states)


def _advance(work: _Work, stand: _Stand, epochs: int, report: Report) -> tuple[_Stand, bool]:
    """Call the loop up to `epochs`; also whether Ctrl-C ended it before."""
    count = 1
    try:
        while stand.done < epochs:
            begin = time.perf_counter()
            count = min(count, epochs - stand.done)
            stand = work.call(stand, count)
            report(stand.done, stand.losses[-1][:, -1])
            count = _next_count(count, time.perf_counter() - begin)
    except KeyboardInterrupt:
        return stand, True
    return stand, False


def _next_count(count: int, seconds: float) -> int:
    """Epochs of the next call, at most four times as many: the first ones take compiling in."""
    wanted = int(count * min(4.0, SECONDS_PER_CALL / max(seconds, 1e-9)))
    return max(1, min(wanted, MAX_EPOCHS))


def _data(rows: Rows, validation: Rows | None, settings: Settings, n_values: int) -> Data:
    whole = settings.batch_size == len(rows)
    return Data(
        make_blocks(rows, n_values),
        None if whole else make_batches(rows, settings.batch_size, n_values),
        None if validation is None else make_blocks(validation, n_values),
        jax.random.key(settings.seed),
        jnp.asarray(settings.learning_rate),
        jnp.asarray(settings.decay),
    )


def _groups(networks: Sequence[ShallowNetwork], batch_size: int) -> list[Sequence[ShallowNetwork]]:
    """Networks to be trained on one thread each; the first group is the largest."""
    if len(networks) * networks[0].n_neurons * batch_size < PARALLEL_VALUES:
        return [networks]
    n_groups = -(-len(networks) // GROUP)
    cuts = [-(-len(networks) * i // n_groups) for i in range(n_groups + 1)]
    return [networks[a:b] for a, b in pairwise(cuts)]
