"""The algorithm on one page: from rows to a network and its path.

    scaling -> search -> selection -> outer weights -> (correction, pruning, averaging) -> network

Steps GSN 1 to GSN 4 of the paper, and what goes beyond it. A `Plan` says how; `construct` does it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.correct import VariableProjection
from greedynet.data import Rows
from greedynet.finish import OVERGROWTH, Finisher, approximation_error_left
from greedynet.frame import Frame
from greedynet.greedy import Growth, grow
from greedynet.network import ShallowNetwork
from greedynet.path import SelectionPath
from greedynet.plan import Plan
from greedynet.search import Candidate
from greedynet.searches import dependent, input_scaling, make_search
from greedynet.sketch import Sketch, sample_size
from greedynet.stopping import GCV, Given, Judge, Limits, StopReason, Validation, neuron_cost
from greedynet.threads import Pool

Float64 = NDArray[np.float64]
T = TypeVar("T")
OnStep = Callable[[Callable[[], ShallowNetwork], float, int], bool]

MIN_ROWS_GCV = 3
# With fewer the path is too short to tell noise from what is not yet resolved.
MIN_NEURONS_AVERAGED = 16
MIN_ROWS_AVERAGED = 50
# With fewer rows threads wait for Python's lock more than they gain.
MIN_ROWS_TOGETHER = 2_000
_NOTHING_TO_FINISH = (StopReason.EXACT, StopReason.TOLERANCE, StopReason.CALLBACK)


def construct(
    rows: Rows,
    plan: Plan,
    validation: Rows | None = None,
    *,
    scores: Float64 | None = None,
    pool: Pool | None = None,
    on_step: OnStep | None = None,
) -> SelectionPath:
    """Construct a network from rows (GSN 1 to 4).

    Parameters
    ----------
    rows : Rows
        Training data, in canonical form.
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

    Returns
    -------
    path : SelectionPath
        With the network of the full growth, and the finished one.
    """
    site = _Site(rows, plan, validation, pool)
    validation = site.validation
    if not plan.correct:
        limits = _limits(plan, scores)
        judge = site.judge() if scores is None else Given(scores)
        growth = site.grow(site.start(judge), limits.max_neurons, limits, on_step)
        validated = validation is not None or scores is not None
        path = _path(growth, site.network(growth), plan.limits, validated=validated)
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
    if first.reason in _NOTHING_TO_FINISH or not first.candidates:
        return _path(first, grown, limits, validated=validation is not None)

    finisher = site.finisher()
    for growth in (first, *others):
        growth.let_go_of_search()
    if noisy:
        states = site.together(
            lambda: finisher.prune(first.points, half, exact=exact),
            lambda: finisher.prune(others[0].points, most - half, exact=exact),
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
    return _finished_path(first, grown, limits, finisher, states, scores)


def cross_validate(
    folds: Iterable[tuple[Rows, Rows]], plan: Plan, *, pool: Pool | None = None
) -> Float64:
    """Mean validation error of each width over folds, as grown."""
    plan = replace(plan, correct=False)
    curves = [
        np.array(construct(train, plan, held_out, pool=pool).scores) for train, held_out in folds
    ]
    # A path that ended keeps its last error: it would not have grown further.
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(padded, axis=0))


class _Site:
    """Where networks are grown: the rows in their frame, and how.

    Of very many rows every turn sees a sample of its own.
    """

    def __init__(self, rows: Rows, plan: Plan, validation: Rows | None, pool: Pool | None) -> None:
        self.plan, self.pool = plan, pool
        self.sketch = _sketch(rows, plan, judged=validation is not None)
        if self.sketch is not None:
            rows = self.sketch.sample(0)
            validation = validation or self.sketch.held_out()
        self.frame = Frame.of(rows, input_scaling(rows, plan), linear_term=plan.linear_term)
        if self.sketch is not None:
            self.frame = replace(self.frame, input_range=self.sketch.input_range())
        self.rows = self.frame.apply(rows)
        self.validation = None if validation is None else self.frame.apply(validation)

    def rows_of(self, turn: int) -> Rows:
        """Scaled rows for a turn."""
        if self.sketch is None or turn == 0:
            return self.rows
        return self.frame.apply(self.sketch.sample(turn))

    def finisher(self) -> Finisher:
        """Return what finishes networks, on rows they were not grown on if there are enough."""
        return Finisher(
            self.frame,
            self.rows_of(2),
            self.validation,
            self.plan.activation,
            self.plan.single_output,
            self.plan.alpha,
            self.sketch,
            self.pool,
        )

    def judge(self) -> Judge | None:
        """Who scores the widths: a validation set, GCV, or nobody."""
        if self.validation is not None:
            affine = self.frame.affine.evaluate(self.validation.X)
            return Validation(affine, self.validation.Y, self.validation.row_scale)
        if self.plan.gcv and len(self.rows) > MIN_ROWS_GCV:
            return GCV(len(self.rows), self.n_affine, neuron_cost(self.n_features))
        return None

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.rows.X.shape[1]

    @property
    def n_affine(self) -> int:
        """Number of affine columns."""
        return self.frame.affine.to_weights.shape[1]

    def start(self, judge: Judge | None, turn: int = 0) -> Growth:
        """Begin a growth, with the affine term; every turn has a pool of directions of its own."""
        rows = self.rows_of(turn)
        search = make_search(rows, self.plan, turn, pool=self.pool)
        return Growth(self.frame.factor(rows, dependent(self.plan)), self.n_affine, search, judge)

    def grow(
        self, growth: Growth, n_neurons: int, limits: Limits, on_step: OnStep | None = None
    ) -> Growth:
        """Let a growth go on to `n_neurons` neurons (GSN 3).

        What is grown beyond the limit on the neurons is to be pruned again, and no step of the
        user's.
        """
        nodes, most = self.frame.affine.n_nodes, limits.max_neurons

        def step(growth: Growth) -> bool:
            width = len(growth.candidates)
            if on_step is None or width > most:
                return False
            return on_step(lambda: self.network(growth), growth.errors[-1], nodes + width)

        return grow(
            growth,
            replace(limits, max_neurons=n_neurons),
            alpha=self.plan.ridge,
            evaluate=self._on_validation_rows,
            on_step=step,
        )

    def can_average(self, n_neurons: int) -> bool:
        """Whether there are two networks to average: one direction gives the same one twice."""
        enough = n_neurons >= MIN_NEURONS_AVERAGED and len(self.rows) >= MIN_ROWS_AVERAGED
        return enough and self.n_features > 1

    def together(self, *tasks: Callable[[], T], only_first: bool = False) -> list[T]:
        """Do some things at once; none of them uses the threads itself."""
        if only_first:
            return [tasks[0]()]
        if self.pool is None or len(self.rows) < MIN_ROWS_TOGETHER:
            return [task() for task in tasks]
        pool, self.pool = self.pool, None
        try:
            return pool.map(lambda task: task(), tasks)
        finally:
            self.pool = pool

    def grow_more(self, points: Float64, n_more: int, cycle: int) -> Float64:
        """Return the neurons with `n_more` others that go with them."""
        rows = self.rows_of(2)
        factor = self.frame.factor(rows, dependent(self.plan))
        values = rows.X @ points[:, :-1].T + points[:, -1]
        hidden = np.asarray(self.plan.activation.value(values), dtype=np.float64)
        for column in rows.weighted(hidden).T:
            factor.append(column)
        search = make_search(rows, self.plan, 2 + cycle, learned=points[:, :-1], pool=self.pool)
        growth = grow(Growth(factor, factor.size, search), Limits(n_more))
        return np.concatenate([points, growth.points]) if growth.candidates else points

    def network(self, growth: Growth) -> ShallowNetwork:
        """Return the network as grown, with its outer weights (GSN 4)."""
        return self.frame.network(
            growth.factor,
            growth.candidates,
            self.plan.activation,
            alpha=self.plan.ridge,
            single_output=self.plan.single_output,
        )

    def approximation_error_left(self, growth: Growth) -> bool:
        """Whether more neurons can be expected to help."""
        if growth.reason in _NOTHING_TO_FINISH:
            return True
        n = len(self.rows)
        return approximation_error_left(growth.errors, n, self.n_affine, self.n_features)

    def _on_validation_rows(self, found: Candidate) -> Float64:
        """Return the candidate's normalised column on the validation rows, or its own column."""
        if self.validation is None:
            return found.column
        z = self.validation.X @ found.point[:-1] + found.point[-1]
        return np.asarray(self.plan.activation.value(z) / found.norm)


def _nobody() -> None:
    """Judge that scores nothing: the width is known."""


def _sketch(rows: Rows, plan: Plan, *, judged: bool) -> Sketch | None:
    """Samples of the rows where these are very many."""
    if plan.search != "continuous":
        return None
    size = sample_size(len(rows), rows.X.shape[1], plan.limits.max_neurons)
    if size is None:
        return None
    return Sketch(rows, size, hold_out=plan.gcv and not judged, seed=plan.random_state)


def _solved_on_all_rows(path: SelectionPath, growth: Growth, site: _Site) -> SelectionPath:
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


def _path(
    growth: Growth, network: ShallowNetwork, limits: Limits, *, validated: bool
) -> SelectionPath:
    n_grown = len(growth.candidates)
    best = n_grown if limits.exact else growth.best
    reason = growth.reason
    if reason is StopReason.MAX_NODES:
        scored = n_grown < limits.max_neurons
    else:
        scored = best < n_grown and reason is not StopReason.CALLBACK
    if scored:
        # Whatever ended the path, it was the score that decided what is kept of it.
        reason = StopReason.VALIDATED
    widths = network.n_nodes - network.n_neurons + np.arange(network.n_neurons + 1)
    scores = np.array(growth.scores) if growth.scores else None
    return SelectionPath(
        indices=np.array([found.index for found in growth.candidates], dtype=np.intp),
        n_nodes=widths,
        training_errors=np.array(growth.errors),
        validation_errors=scores if validated else None,
        scores=scores,
        seconds=np.array(growth.seconds),
        best_n_nodes=int(widths[best]),
        stop_reason=reason,
        network=network,
    )


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
    path = _path(grown, cut, limits, validated=validated)
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
        finished_score=finisher.score(states),
    )
