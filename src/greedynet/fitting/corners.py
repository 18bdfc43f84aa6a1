"""Tame corners, as far as rows that taming does not hold say that it costs no error.

    path -> networks with tamer corners -> their change at rows that were not held -> the tamest

Taming holds the predictions of the training rows. One row in five is left out: there, the change
`g(x) - g0(x)` is what it is at new rows. It has nothing to do with the errors of new rows, so that
their mean square grows by that of the change,

    E (y - g)^2 = E (y - g0)^2 + E (g - g0)^2,

which is compared with the error to expect.
"""

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from greedynet.correction.corners import Box, Corners, Tamed, tamed
from greedynet.fitting.layers import AnyPath
from greedynet.fitting.plan import Plan
from greedynet.model.any_network import Network
from greedynet.model.bounds import OutputBounds
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


def with_tame_corners(
    path: AnyPath, margin: OutputBounds, plan: Plan, context: FitContext
) -> AnyPath:
    """Return the path with tame corners, if that costs no error; itself otherwise.

    Parameters
    ----------
    path : ShallowPath or DeepPath
    margin : OutputBounds
        What the outputs should not leave in the box of the data.
    plan : Plan
    context : FitContext
    """
    # Of the kind of the path, one layer or two.
    network: Any = path.kept
    evidence = path.evidence
    assert evidence is not None
    if network.n_neurons == 0 or network.input_range is None:
        return path
    settings, rows = plan.settings.taming, evidence.rows
    if len(rows) < settings.min_rows:
        return path
    corners = Corners(margin, Box(*network.input_range), settings, plan.random_state)
    room = 0 if plan.limits.exact else max(0, plan.limits.max_neurons - _n_taken(network))
    is_watched = np.arange(len(rows)) % settings.one_in == 0
    watched, held = (rows.take(np.flatnonzero(w)) for w in (is_watched, ~is_watched))
    error = path.expected_error or _error(network, rows)
    growth = partial(_growth, network, watched, error)
    best: Tamed[Any] = Tamed(network, np.inf, 1.0)
    for share in settings.more_neurons:
        more = min(room, ceil(share * network.n_neurons))
        found = tamed(network, held, corners, growth, context, more)
        best = found if found.beyond < best.beyond else best
        if best.beyond == 0.0 or more == room or context.clock.is_over():
            break
    return path if best.network is network else _with_network(path, best)


def _n_taken(network: Network) -> int:
    """Return the number of neurons, hinges of a first layer included."""
    return network.n_nodes - (2 if network.has_affine_term else 0)


def _error(network: Network, rows: Rows) -> float:
    """Return the root mean squared error."""
    left = rows.Y - network.predict(rows.X).reshape(rows.Y.shape)
    return _root_mean_square(left, rows)


def _growth(before: Network, rows: Rows, error: float, after: Network) -> float:
    """Return the factor by which the error grows, by what has changed at some rows."""
    change = (after.predict(rows.X) - before.predict(rows.X)).reshape(rows.Y.shape)
    changed = _root_mean_square(change, rows)
    return float(np.hypot(1.0, changed / error)) if error > 0 else np.inf


def _root_mean_square(values: Float64, rows: Rows) -> float:
    return float(np.sqrt(np.average(np.mean(values**2, axis=1), weights=rows.weights)))


def _with_network(path: AnyPath, tame: Tamed[Any]) -> AnyPath:
    """Return the path with another finished network, of which larger errors are to be expected."""
    evidence, expected = path.evidence, path.expected_error
    network, growth = tame.network, tame.growth
    assert evidence is not None
    if evidence.unseen is not None:
        path = path.with_unseen(evidence.unseen.stretched(growth), evidence.ladder)
    before, after = (_error(n, evidence.rows) for n in (path.kept, network))
    return replace(
        path,
        best_n_nodes=network.n_nodes,
        finished=network,
        finished_error=path.kept_error * (after / before if before > 0 else 1.0),
        finished_score=None,
        expected_error=None if expected is None else expected * growth,
    )
