"""The algorithm on one page: from rows to a network and its path.

    points on the sphere -> (reduction) -> dictionary -> selection -> outer weights -> network

Steps GSN 1 to GSN 4 of the paper. `Plan` says how; `construct` does it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, ReLU
from greedynet.data import Rows
from greedynet.dictionary import MEMORY_BUDGET, Dictionary
from greedynet.factor import DEPENDENT
from greedynet.frame import Frame
from greedynet.greedy import Growth, grow
from greedynet.network import ShallowNetwork
from greedynet.path import SelectionPath
from greedynet.ridgelet import collapsed_ridgelet_transform
from greedynet.search import Candidate, DictionarySearch, Search, WeakSearch
from greedynet.search.base import Rule
from greedynet.search.weak import grouped
from greedynet.sphere import POINTS_PER_DIMENSION, RandomState, sample_sphere
from greedynet.stopping import GCV, Given, Judge, Limits, StopReason, Validation, neuron_cost
from greedynet.threads import Pool

Float64 = NDArray[np.float64]
OnStep = Callable[[Callable[[], ShallowNetwork], float, int], bool]

MAX_POINTS = 50_000
MIN_POINTS = 2_000
DEPENDENT_SAMPLED = 3e-3
MIN_ROWS_GCV = 3


@dataclass(frozen=True, eq=False)
class Plan:
    """How to construct a network; the fields are the estimator's parameters of the same names."""

    limits: Limits
    points: Float64 | None = None
    n_points: int | None = None
    rule: Rule = "ols"
    weakness: float = 1.0
    min_active: int | None = None
    reduction: float | None = None
    linear_term: bool = True
    alpha: float = 0.0
    gcv: bool = False
    activation: Activation = field(default_factory=ReLU)
    memory_budget: int = MEMORY_BUDGET
    random_state: RandomState = 0
    single_output: bool = True


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
        With the network of the full path.
    """
    frame = Frame.of(rows, linear_term=plan.linear_term, scale_inputs=plan.points is None)
    rows = frame.apply(rows)
    validation = None if validation is None else frame.apply(validation)
    judge = _judge(frame, len(rows), plan, validation, scores)

    points = _points(rows, plan)
    kept = _reduced(points, rows, plan)
    if plan.weakness < 1.0:
        kept = kept[grouped(points[kept], len(rows))]
    dictionary = Dictionary(
        points[kept],
        rows.X,
        rows.row_scale,
        labels=kept,
        min_active=_min_active(len(rows), plan),
        activation=plan.activation,
        dtype=rows.X.dtype.type,
        memory_budget=plan.memory_budget,
        pool=pool,
    )

    def network(growth: Growth) -> ShallowNetwork:
        return frame.network(
            growth.factor,
            growth.candidates,
            plan.activation,
            alpha=plan.alpha,
            single_output=plan.single_output,
        )

    def step(growth: Growth) -> bool:
        width = frame.affine.n_nodes + len(growth.candidates)
        return on_step is not None and on_step(lambda: network(growth), growth.errors[-1], width)

    growth = grow(
        _search(dictionary, plan),
        Growth(frame.factor(rows, _dependent(plan)), n_affine=frame.affine.columns.shape[1]),
        _limits(plan, scores),
        judge,
        alpha=plan.alpha,
        evaluate=lambda found: _on_other_rows(found, validation, plan.activation),
        on_step=step,
    )
    validated = validation is not None or scores is not None
    return _path(growth, network(growth), plan, validated=validated)


def cross_validate(
    folds: Iterable[tuple[Rows, Rows]], plan: Plan, *, pool: Pool | None = None
) -> Float64:
    """Mean validation error of each width over folds."""
    curves = [
        np.array(construct(train, plan, held_out, pool=pool).scores) for train, held_out in folds
    ]
    # A path that ended keeps its last error: it would not have grown further.
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(padded, axis=0))


def _points(rows: Rows, plan: Plan) -> Float64:
    """GSN 1: the points given, or points sampled from the sphere."""
    if plan.points is not None:
        return plan.points
    n_features = rows.X.shape[1]
    n_points = plan.n_points or _default_n_points(rows, plan)
    return sample_sphere(n_features, n_points, plan.random_state)


def _min_active(n_rows: int, plan: Plan) -> int:
    """Rows a neuron must live on: any of the given points may do, sampled ones need a few."""
    if plan.min_active is not None:
        return plan.min_active
    if plan.points is not None:
        return 1
    return max(1, min(max(3, n_rows // 100), n_rows // 4))


def _dependent(plan: Plan) -> float:
    """Share of a neuron that must be new: next to nothing where the points are given.

    Among sampled points the rule "ols" likes neurons next to chosen ones, whose small difference
    fits the noise of a few rows with huge weights.
    """
    return DEPENDENT if plan.points is not None else DEPENDENT_SAMPLED


def _default_n_points(rows: Rows, plan: Plan) -> int:
    """The paper's number of points, less where the atoms would not fit into the budget."""
    fitting = plan.memory_budget // (2 * rows.X.itemsize * len(rows))
    wanted = min(MAX_POINTS, POINTS_PER_DIMENSION * rows.X.shape[1])
    return int(min(wanted, max(MIN_POINTS, fitting)))


def _reduced(points: Float64, rows: Rows, plan: Plan) -> NDArray[np.intp]:
    """GSN 2: positions of the points that the collapsed ridgelet transform keeps."""
    if plan.reduction is None:
        return np.arange(len(points))
    transform = collapsed_ridgelet_transform(points, rows.X, rows.Y)
    kept = np.flatnonzero(transform.keep(plan.reduction))
    # A constant, centred, is zero, and so is its transform: nothing to go by.
    return kept if len(kept) else np.arange(len(points))


def _search(dictionary: Dictionary, plan: Plan) -> Search:
    if plan.weakness < 1.0:
        return WeakSearch(dictionary, plan.rule, plan.weakness, plan.alpha)
    return DictionarySearch(dictionary, plan.rule, plan.alpha)


def _judge(
    frame: Frame, n_rows: int, plan: Plan, validation: Rows | None, scores: Float64 | None
) -> Judge | None:
    """Who scores the widths: known scores, a validation set, GCV, or nobody."""
    if scores is not None:
        return Given(scores)
    if validation is not None:
        affine = frame.affine.evaluate(validation.X)
        return Validation(affine, validation.Y, validation.row_scale)
    if plan.gcv and n_rows > MIN_ROWS_GCV:
        return GCV(n_rows, frame.affine.columns.shape[1], neuron_cost(len(frame.inputs.center)))
    return None


def _limits(plan: Plan, scores: Float64 | None) -> Limits:
    """Where the scores are known, grow as far as they reach."""
    if scores is None:
        return plan.limits
    reach = min(plan.limits.max_neurons, len(scores) - 1)
    return replace(plan.limits, max_neurons=reach, patience=None)


def _on_other_rows(found: Candidate, rows: Rows | None, activation: Activation) -> Float64:
    """The candidate's normalised column on validation rows; its own column where there are none."""
    if rows is None:
        return found.column
    z = rows.X @ found.point[:-1] + found.point[-1]
    return np.asarray(activation.value(z) / found.norm)


def _path(growth: Growth, network: ShallowNetwork, plan: Plan, *, validated: bool) -> SelectionPath:
    n_grown = len(growth.candidates)
    best = n_grown if plan.limits.exact else growth.best
    reason = growth.reason
    if reason is StopReason.MAX_NODES:
        scored = n_grown < plan.limits.max_neurons
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
