"""The algorithm on one page: from rows to a network and its path.

    scaling -> search -> selection -> outer weights -> (correction, pruning, averaging) -> network

Steps GSN 1 to GSN 4 of the paper, and what goes beyond it. A `Plan` says how; `construct` does it.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import ceil

import numpy as np

from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.finisher import OVERGROWTH, Finisher
from greedynet.fitting.growth import Growth
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import NOTHING_TO_FINISH, OnStep, Site
from greedynet.fitting.stopping import Given, Limits, StopReason
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# Near-ties go to the finished network: it is the tamer one between the rows.
_CLEARLY = 0.9


def construct(
    rows: Rows | Blocks,
    plan: Plan,
    validation: Rows | None = None,
    *,
    scores: Float64 | None = None,
    pool: Pool | None = None,
    on_step: OnStep | None = None,
    journal: Journal = NO_JOURNAL,
) -> SelectionPath:
    """Construct a network from rows (GSN 1 to 4).

    Parameters
    ----------
    rows : Rows or Blocks
        Training data, in canonical form; in blocks where they are more than the memory holds.
    plan : Plan
        How to do it.
    validation : Rows or None
        Data to choose the width by.
    scores : ndarray or None
        Scores of the widths where they are known already (from `cross_validate`).
    pool : Pool or None
        Threads.
    on_step : callable or None
        Called after each neuron with a function that returns the network so far, its relative
        error on the training rows and its number of nodes; True from it ends the construction.
    journal : Journal
        What an earlier run of the same construction came to.

    Returns
    -------
    path : SelectionPath
        With the network of the full growth, and the finished one.
    """
    site = Site(rows, plan, validation, pool, journal)
    validation = site.validation
    if not plan.correct:
        limits = _limits(plan, scores)
        judge = site.judge() if scores is None else Given(scores)
        growth = site.grow(site.start(judge), limits.max_neurons, limits, on_step)
        validated = validation is not None or scores is not None
        path = growth.path(site.network(growth), plan.limits, validated=validated)
        return path if site.sketch is None else _solved_on_all_rows(path, growth, site)

    limits = plan.limits if scores is None else Limits(int(np.argmin(scores)), exact=True)
    most, half = limits.max_neurons, ceil(limits.max_neurons / 2)
    new_judge = site.judge if scores is None else _nobody
    # Without anything to score by, what is asked for is kept.
    exact = limits.exact or (validation is None and not plan.gcv)

    # Two networks of half the width, to be averaged if what they leave is noise.
    first, *others = site.together(
        lambda: site.grow(site.start(new_judge()), ceil(OVERGROWTH * half), limits, on_step),
        lambda: site.grow(site.start(new_judge(), 1), ceil(OVERGROWTH * (most - half)), limits),
        only_first=not site.can_average(most),
    )
    noisy = bool(others) and not site.approximation_error_left(first)
    if not noisy and first.reason is not StopReason.CALLBACK:
        first = site.grow(first, ceil(OVERGROWTH * most), limits, on_step)
    grown = site.network(first)
    if first.reason in NOTHING_TO_FINISH or not first.candidates:
        return first.path(grown, limits, validated=validation is not None)

    finisher = site.finisher()
    for growth in (first, *others):
        growth.let_go_of_search()
    if noisy:
        states = site.together(
            lambda: finisher.prune(first.points, half, exact=exact),
            lambda: finisher.prune(others[0].points, most - half, exact=exact, turn=1),
        )
    else:
        pruned = finisher.prune(first.points, most, exact=exact)
        states = [finisher.converge(finisher.exchange(pruned, site.grow_more))]
    if exact:
        widths = [half, most - half] if noisy else [most]
        states = [
            finisher.refill(state, width, site.grow_more)
            for state, width in zip(states, widths, strict=True)
        ]
    states = list(finisher.on_all_rows(states))
    return _finished_path(first, grown, limits, finisher, states, scores)


def cross_validate(
    folds: Iterable[tuple[Rows, Rows]],
    plan: Plan,
    *,
    pool: Pool | None = None,
    journal: Journal = NO_JOURNAL,
) -> Float64:
    """Mean validation error of each width over folds, as grown."""
    plan = replace(plan, correct=False)

    def curve(train: Rows, held_out: Rows) -> Float64:
        def scores(inner: Journal) -> tuple[Float64]:
            return (np.array(construct(train, plan, held_out, pool=pool, journal=inner).scores),)

        return np.asarray(journal.once(scores)[0])

    curves = [curve(train, held_out) for train, held_out in folds]
    # A path that ended keeps its last error: it would not have grown further.
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(padded, axis=0))


def _nobody() -> None:
    """Judge that scores nothing: the width is known."""


def _solved_on_all_rows(path: SelectionPath, growth: Growth, site: Site) -> SelectionPath:
    """The path, with the outer weights of the kept neurons solved on all rows."""
    n_kept = path.kept.n_neurons
    if n_kept == 0:
        return path
    points = growth.points[:n_kept]
    network = site.finisher().solved(points)
    return replace(path, finished=network, finished_error=path.kept_error)


def _limits(plan: Plan, scores: Float64 | None) -> Limits:
    """Where the scores are known, grow as far as they reach."""
    if scores is None:
        return plan.limits
    reach = min(plan.limits.max_neurons, len(scores) - 1)
    return replace(plan.limits, max_neurons=reach, patience=None)


def _finished_path(
    growth: Growth,
    network: ShallowNetwork,
    limits: Limits,
    finisher: Finisher,
    states: list[VariableProjection],
    scores: Float64 | None,
) -> SelectionPath:
    """The growth up to the limit, with the finished network."""
    if scores is not None:
        growth.scores = [float(score) for score in scores]
    validated = finisher.validation is not None or scores is not None
    grown = growth.cut(min(len(growth.candidates), limits.max_neurons))
    fixed = network.n_nodes - network.n_neurons
    cut = network.truncate(fixed + len(grown.candidates))
    path = grown.path(cut, limits, validated=validated)
    score = finisher.score(states)
    # With a validation set some width of the growth may do better there.
    as_grown = grown.scores if finisher.validation is not None and not limits.exact else []
    if min(as_grown, default=np.inf) < _CLEARLY * score:
        return path
    finished = finisher.network(states)
    if limits.exact and finished.n_neurons < min(limits.max_neurons, path.network.n_neurons):
        # Some have become copies of others: the number asked for goes before the correction.
        return path
    reason = path.stop_reason
    if limits.exact and finished.n_neurons < limits.max_neurons:
        reason = StopReason.EXHAUSTED
    if not limits.exact:
        full = finished.n_neurons >= limits.max_neurons
        reason = StopReason.MAX_NODES if full else StopReason.VALIDATED
    return replace(
        path,
        best_n_nodes=finished.n_nodes,
        stop_reason=reason,
        finished=finished,
        finished_error=finisher.error(states),
        # Scores of folds are of networks as grown: there is none that the finished one compares to.
        finished_score=None if scores is not None else score,
    )
