"""From a plan to a search: points, reduction and dictionary, or a pool of directions (GSN 1, 2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import degree_of, halves, scales_of
from greedynet.fitting.plan import Plan
from greedynet.linalg.factor import DEPENDENT
from greedynet.losses.base import exponent
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.shape import Shape
from greedynet.search import (
    ContinuousSearch,
    Dictionary,
    DictionarySearch,
    Search,
    SearchFactory,
)
from greedynet.search.continuous import N_POLISHED
from greedynet.search.dictionary import Atoms
from greedynet.search.ridgelet import collapsed_ridgelet_transform
from greedynet.search.sphere import POINTS_PER_DIMENSION, directions, sample_sphere
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# Where all neurons are corrected afterwards: how many are refined after a scan, and how good those
# must be that are taken without another one.
N_WAITING = 4
WEAKNESS = 0.3


@dataclass(frozen=True, eq=False)
class SearchTask:
    """What a search is made for: scaled rows, and a shape along their columns, if one is given.

    Each turn of a continuous search has a different pool of directions. Where all neurons are
    corrected afterwards, it adds the directions learned so far, not necessarily normalised.
    """

    rows: Rows
    plan: Plan
    turn: int = 0
    learned: Float64 | None = None
    shape: Shape | None = None
    pool: Pool | None = None


def input_scaling(rows: Rows, plan: Plan) -> InputScaling:
    """Return the scaling of the inputs for the search.

    The cube for sampled points; mean 0 and standard deviation 1 for directions, in canonical
    columns; none for given points, which refer to the inputs in their original units.
    """
    if plan.dictionary is None:
        return InputScaling.standard(rows).in_canonical_columns(rows)
    if plan.points is not None:
        return InputScaling.identity(rows.X.shape[1])
    return InputScaling.to_cube(rows.X)


def dependent(plan: Plan) -> float:
    """Return the minimum fraction of the norm of a neuron outside the span; tiny for given points.

    Otherwise the rule "ols" would prefer neurons close to chosen ones, whose small difference fits
    the noise of a few rows with huge weights. The smoother the activation, the smaller is the
    fraction.
    """
    if plan.points is not None:
        return DEPENDENT
    degree = degree_of(plan.activation)
    if degree is None:
        return DEPENDENT
    up, down = halves(plan.activation)
    # A neuron that is active on both sides has a large norm, and its kink is a small part of it.
    least = 3e-3 if abs(down) < 0.1 * abs(up) else 3e-4
    # The norm outside the span is a difference of squares: with less, it would be rounding.
    return max(least**degree, 1e-6)


def make_search(task: SearchTask) -> Search:
    """Return the search of a plan: a built-in one by name, or a user-defined one."""
    search = task.plan.search
    if isinstance(search, Dictionary):
        return _dictionary_search(task)
    return (SEARCHES[search] if isinstance(search, str) else begun_by(search))(task)


def begun_by(factory: SearchFactory) -> Callable[[SearchTask], Search]:
    """Return a function that makes a search by a factory, from inputs, weights and a seed."""

    def make(task: SearchTask) -> Search:
        rows, plan = task.rows, task.plan
        X = np.ascontiguousarray(rows.X, dtype=np.float64)
        return factory.begin(X, rows.row_scale, plan.activation, plan.random_state + task.turn)

    return make


def _continuous_search(task: SearchTask) -> Search:
    """Return the search over all neurons along a pool of directions."""
    rows, plan, for_correction = task.rows, task.plan, task.learned is not None
    found = directions(rows.X, plan.random_state + task.turn)
    if task.learned is not None and rows.n_features > 1:
        found = np.concatenate([found, unit(task.learned)])
    if task.shape is not None:
        found = task.shape.without_convex(found)
    return ContinuousSearch(
        rows,
        found,
        least_active(len(rows), rows.n_features, plan),
        mirrored=plan.linear_term and degree_of(plan.activation) == 1,
        activation=plan.activation,
        pool=task.pool,
        # All neurons will be corrected: none needs to be the very best.
        n_refined=N_WAITING if for_correction else N_POLISHED,
        weakness=WEAKNESS if for_correction else 1.0,
    )


def unit(directions: Float64) -> Float64:
    """Return normalised directions, without the zero vectors of dead neurons."""
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    alive = length[:, 0] > 0
    return np.asarray(directions[alive] / length[alive])


def _dictionary_search(task: SearchTask) -> Search:
    """Return the search of the paper: sampled points, reduced by the ridgelet transform."""
    rows, plan, dictionary = task.rows, task.plan, task.plan.dictionary
    assert dictionary is not None
    points = _points(rows, plan, dictionary)
    kept = _reduced(points, rows, dictionary)
    atoms = Atoms(
        points[kept],
        rows.X,
        rows.row_scale,
        labels=kept,
        min_active=least_active(len(rows), rows.X.shape[1], plan),
        activation=plan.activation,
        dtype=rows.X.dtype.type,
        memory_budget=int(dictionary.memory_budget),
        pool=task.pool,
    )
    return DictionarySearch(atoms, dictionary.rule, plan.ridge, exponent(plan.loss))


def _points(rows: Rows, plan: Plan, dictionary: Dictionary) -> Float64:
    """GSN 1: the given points, or points sampled from the sphere."""
    if plan.points is not None:
        return plan.points
    n_features = rows.X.shape[1]
    # The paper's number of points, or fewer if the atoms would exceed the budget.
    fitting = dictionary.memory_budget // (2 * rows.X.itemsize * len(rows))
    most = min(50_000, POINTS_PER_DIMENSION * n_features)
    n_points = dictionary.n_points or int(min(most, max(2_000, fitting)))
    scales = scales_of(plan.activation)
    points = sample_sphere(n_features, -(-n_points // len(scales)), plan.random_state)
    return np.concatenate([scale * points for scale in scales])[:n_points]


def least_active(n_rows: int, n_features: int, plan: Plan) -> int:
    """Return the number of rows on which a neuron must be active: one for given points."""
    if plan.dictionary is not None and plan.dictionary.min_active is not None:
        return int(plan.dictionary.min_active)
    if plan.points is not None:
        return 1
    if plan.correct:
        # The number of its free inner weights: the ridge of the correction does the rest.
        return max(1, min(n_features, n_rows // 4))
    return max(1, min(max(3, n_rows // 100), n_rows // 4))


def _reduced(points: Float64, rows: Rows, dictionary: Dictionary) -> NDArray[np.intp]:
    """GSN 2: positions of the points that the collapsed ridgelet transform keeps."""
    if dictionary.threshold is None:
        return np.arange(len(points))
    transform = collapsed_ridgelet_transform(points, rows.X, rows.Y)
    kept = np.flatnonzero(transform.keep(dictionary.threshold))
    # A centred constant is zero, and so is its transform: keep all points.
    return kept if len(kept) else np.arange(len(points))


# The searches that have a name.
SEARCHES: dict[str, Callable[[SearchTask], Search]] = {
    "continuous": _continuous_search,
    "dictionary": _dictionary_search,
}
