"""Questions about the values of a network: its optimum, its range, its distance to another one."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from greedynet.exact.answers import Difference, Extremes, Optimum
from greedynet.exact.branching import Largest, largest
from greedynet.exact.form import Clipped, ClippedSum, OutputLimits, PiecewiseLinear
from greedynet.exact.programme import TOLERANCE, NoRowsInTimeError, Solution, maximise
from greedynet.exact.region import Constraint, Region
from greedynet.exact.space import Space
from greedynet.exact.where import Where, region_of
from greedynet.model.network import Network
from greedynet.model.uncertainty.outside import Outside, TrainingSample, columns_outside
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns
from greedynet.tables.load import known_names, with_columns
from greedynet.tables.model import TableModel


def network_of(model: Any) -> Network:
    """Return the network of a model; raise an error for anything else."""
    if isinstance(model, TableModel):
        return model.network
    found = model if isinstance(model, Network) else getattr(model, "network_", None)
    if not isinstance(found, Network):
        raise TypeError(
            "`model` must be a TableModel, a fitted greedynet estimator or a Network, got "
            f"{type(model).__name__}."
        )
    return found


def columns_of(model: Any) -> Columns:
    """Return the columns that a model takes, each a number if it knows nothing of them."""
    network_of(model)
    if isinstance(model, TableModel):
        return model.columns
    names, n_columns = known_names(model)
    return with_columns(model, names or tuple(f"x{j}" for j in range(n_columns))).columns


def output_of(model: Any, output: Any) -> int:
    """Return the position of the output that is asked about."""
    network, classes = network_of(model), _classes(model)
    if output is None:
        if network.n_outputs == 1:
            return 0
        of = "outputs" if classes is None else f"classes {classes[:8]}"
        raise ValueError(f"`output` must choose one of the {network.n_outputs} {of}, got None.")
    if classes is not None and network.n_outputs > 1 and output in classes:
        return int(classes.index(output))
    if isinstance(output, int | np.integer) and classes is None and 0 <= output < network.n_outputs:
        return int(output)
    known = f"a position below {network.n_outputs}" if classes is None else f"one of {classes[:8]}"
    if classes is not None and network.n_outputs == 1:
        known = f"None: with two classes, it is the log-odds of {classes[1]!r}"
    raise ValueError(f"`output` must be {known}, got {output!r}.")


def _classes(model: Any) -> list[Any] | None:
    classes = getattr(model, "classes_", None)
    return None if classes is None else list(classes.tolist())


Direction = Literal["max", "min"]
SECONDS = 30.0


def optimise(
    model: Any,
    direction: Direction = "max",
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    constraints: Sequence[Constraint] = (),
    output: Any = None,
    max_seconds: float = SECONDS,
) -> Optimum:
    """Return the largest or the smallest prediction of all rows in a region.

    Parameters
    ----------
    model : TableModel, GreedyNetRegressor, GreedyNetClassifier or Network
        A fitted model whose activation is "relu", "leaky_relu" or "abs". Of a classifier, the
        answer is about `decision_function`: for two classes, the log-odds of the second one.
    direction : {"max", "min"}, default="max"
    where : mapping or None, default=None
        The rows that are asked about, by the names or positions of columns:
        `{"age": (None, 30), "size": 80, "kind": ["A", "B"], "new": True}`. None, and columns that
        are not there, stand for the range of the training data; categories for all their levels.
        NaN is an empty cell, for models that have learned from some; `[(0, 5), nan]` allows both.
    integer : sequence of str or int, default=()
        Columns of whole numbers.
    constraints : sequence of pairs, default=()
        Sums of columns that have a largest value: `({"size": 1.0, "age": 2.0}, 90)` for
        `size + 2 age <= 90`.
    output : int, class or None, default=None
        Output of a model that has several; of a classifier with more than two classes, the class.
    max_seconds : float, default=30
        Time after which the answer is the best that was found, with `proven=False` and a bound.

    Returns
    -------
    optimum : Optimum
        With `value`, `row`, `point`, `bound`, `gap`, `proven`, `seconds` and `outside`, which says
        how far the row is from the training data.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.exact import optimise
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> model = GreedyNetRegressor().fit(X, np.abs(X[:, 0]) - X[:, 1])
    >>> found = optimise(model, "min", where={0: (-0.5, 1), 1: (None, 0)})
    >>> round(found.value, 3), found.proven
    (0.0, True)
    """
    region = asked_region(model, where, integer, constraints)
    return _optimum(model, region, output, direction, max_seconds)


def extremes(
    model: Any,
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    constraints: Sequence[Constraint] = (),
    output: Any = None,
    max_seconds: float = SECONDS,
) -> Extremes:
    """Return the smallest and the largest prediction of all rows in a region.

    Parameters
    ----------
    model, where, integer, constraints, output
        As for `optimise`.
    max_seconds : float, default=30
        Time for both together.

    Returns
    -------
    extremes : Extremes
        With `lowest` and `highest`, each an `Optimum`.
    """
    region = asked_region(model, where, integer, constraints)
    lowest = _optimum(model, region, output, "min", max_seconds / 2)
    highest = _optimum(model, region, output, "max", max_seconds - lowest.seconds)
    return Extremes(lowest, highest)


def largest_difference(
    a: Any,
    b: Any,
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    constraints: Sequence[Constraint] = (),
    output: Any = None,
    max_seconds: float = SECONDS,
) -> Difference:
    """Return the largest absolute difference between the predictions of two models in a region.

    Parameters
    ----------
    a, b : models as for `optimise`
        Of the same columns. By default, the region is the box of the training data of `a`.
    where, integer, constraints, output
        As for `optimise`.
    max_seconds : float, default=30
        Time for both directions together.

    Returns
    -------
    difference : Difference
    """
    start = time.perf_counter()
    region = asked_region(a, where, integer, constraints)
    _check_same_columns(a, b, region)

    def distances(rows: Float64) -> Float64:
        return np.abs(outputs(a, output, rows) - outputs(b, output, rows))

    def solve(part: Region, seconds: float) -> Largest:
        return _largest_difference(a, b, part, output, distances, seconds)

    found = largest(region, solve, distances, max_seconds)
    pair = tuple(float(outputs(model, output, found.point[None])[0]) for model in (a, b))
    return Difference(
        value=found.value,
        predictions=(pair[0], pair[1]),
        point=found.point,
        row=found.region.row(found.point),
        bound=found.bound,
        proven=found.bound - found.value <= found.tolerance,
        seconds=time.perf_counter() - start,
        outside=outside_of(a, found.point[None]),
    )


def _largest_difference(
    a: Any,
    b: Any,
    region: Region,
    output: Any,
    distances: Callable[[Float64], Float64],
    max_seconds: float,
) -> Largest:
    """Return the largest absolute difference in a region without moments."""
    end = time.perf_counter() + max_seconds
    first = Question(a, region, output, beside=(network_of(b),))
    second = Question(b, region, output, beside=(network_of(a),))
    function = difference(first, second)
    try:
        above = maximise(function, first.space, max_seconds / 2)
        below = maximise(-function, first.space, end - time.perf_counter())
    except NoRowsInTimeError as error:
        return first.unknown(np.inf, error)
    best = max(above, below, key=lambda found: found.value)
    point = first.space.rows(best.v[None])[0]
    value, bound = float(distances(point[None])[0]), max(above.bound, below.bound)
    return Largest(value, max(value, bound), best.tolerance, point, region)


def asked_region(
    model: Any,
    where: Where | None,
    integer: Sequence[Any] = (),
    constraints: Sequence[Constraint] = (),
) -> Region:
    """Return the region of a question about any model; the parameters are those of `optimise`."""
    return region_of(columns_of(model), where, integer, network_of(model).input_range, constraints)


class Question:
    """A model on a region."""

    def __init__(
        self, model: Any, region: Region, output: Any, beside: tuple[Network, ...] = ()
    ) -> None:
        self.model, self.region, self.output = model, region, output
        self.network, self.which = network_of(model), output_of(model, output)
        self.limits = OutputLimits.of(self.network, self.which)
        self.space = Space.of(region, (self.network, *beside))
        self.form = PiecewiseLinear.of(self.network, self.which, self.space)

    def unknown(self, bound: float, error: NoRowsInTimeError) -> Largest:
        """Return a bound alone; raise the error unless that is an answer."""
        if not self.region.is_enclosure:
            raise error
        return Largest(-np.inf, bound, 0.0, self.space.base, self.region)

    def largest(self, sign: float, max_seconds: float) -> Largest:
        """Return the largest value, times the sign."""
        form = self.form if sign > 0 else -self.form
        try:
            found: Solution = maximise(form, self.space, max_seconds)
        except NoRowsInTimeError as error:
            return self.unknown(form.interval(self.space)[1], error)
        point = self.space.rows(found.v[None])[0]
        value = sign * float(outputs(self.model, self.output, point[None])[0])
        bound, tolerance = found.bound, found.tolerance
        if self.limits is not None:
            # Within bounds, outputs have their extremes where they have them without.
            bound = sign * float(self.limits.apply(np.array(sign * bound)))
            span = self.limits.high - self.limits.low
            tolerance = min(tolerance, TOLERANCE * (abs(value) + span))
        return Largest(value, max(value, bound), tolerance, point, self.region)


def _optimum(
    model: Any, region: Region, output: Any, direction: Direction, max_seconds: float
) -> Optimum:
    """Return the largest or the smallest value in a region."""
    if direction not in ("max", "min"):
        raise ValueError(f"`direction` must be 'max' or 'min', got {direction!r}.")
    start, sign = time.perf_counter(), 1.0 if direction == "max" else -1.0

    def solve(part: Region, seconds: float) -> Largest:
        return Question(model, part, output).largest(sign, seconds)

    found = largest(region, solve, lambda rows: sign * outputs(model, output, rows), max_seconds)
    return Optimum(
        value=sign * found.value,
        point=found.point,
        row=found.region.row(found.point),
        bound=sign * found.bound,
        proven=found.bound - found.value <= found.tolerance,
        seconds=time.perf_counter() - start,
        outside=outside_of(model, found.point[None]),
    )


def outputs(model: Any, output: Any, rows: Float64) -> Float64:
    """Return what a model predicts for rows of features, `(n_rows,)`."""
    found = network_of(model).predict(rows)
    return np.asarray(found.reshape(len(rows), -1)[:, output_of(model, output)])


def outside_of(model: Any, rows: Float64) -> Outside | None:
    """Return how far rows of features are from the training data, if the model knows."""
    estimator = model.estimator if isinstance(model, TableModel) else model
    seen: TrainingSample | None = getattr(estimator, "training_sample_", None)
    box = network_of(model).input_range
    if seen is None or box is None:
        return None
    names = columns_of(model).features
    return Outside(columns_outside(rows, box), seen.distance(rows), names)


def difference(a: Question, b: Question) -> PiecewiseLinear | ClippedSum:
    """Return by how much one exceeds the other, whose region has the same variables."""
    if a.limits is None and b.limits is None:
        return a.form.minus(b.form)
    return ClippedSum((Clipped.of(a.form, a.limits), -Clipped.of(b.form, b.limits)))


def _check_same_columns(a: Any, b: Any, region: Region) -> None:
    """Raise an error for models of other columns; without names, their number must agree."""
    mine, others = columns_of(a), columns_of(b)
    named = all(network_of(model).feature_names is not None for model in (a, b))
    n, m = len(mine.features), len(others.features)
    if n != m or (named and mine.features != others.features):
        raise ValueError(
            f"`b` must take the same columns as `a`, {list(mine.features)[:8]}, got "
            f"{list(others.features)[:8]}."
        )
    # A network or an estimator alone does not know what is inserted, and takes what `a` inserts.
    same = not len(others.means) or np.array_equal(mine.means, others.means)
    if region.has_gaps and not same:
        raise ValueError(
            "`b` must insert the same values for empty cells as `a` where these are asked about, "
            "got others: ask about rows without empty cells."
        )
