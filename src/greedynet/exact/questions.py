"""Questions about the values of a network: its optimum, its range, its distance to another one."""

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from greedynet.exact.answers import Difference, Extremes, Optimum
from greedynet.exact.clipped import Clipped, ClippedSum, Limits
from greedynet.exact.form import Form
from greedynet.exact.programme import TOLERANCE, Solution, maximise
from greedynet.exact.region import Region, Where, columns_of, network_of, region_of
from greedynet.exact.space import Space
from greedynet.model.network import Network
from greedynet.support.types import Float64

Direction = Literal["max", "min"]
SECONDS = 30.0


def optimise(
    model: Any,
    direction: Direction = "max",
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    output: Any = None,
    X: ArrayLike | None = None,
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
        `{"age": (None, 30), "size": 80, "kind": ["A", "B"]}`. None, and columns that are not
        there, stand for the range of the training data; categories for all their levels.
    integer : sequence of str or int, default=()
        Columns of whole numbers.
    output : int, class or None, default=None
        Output of a model that has several; of a classifier with more than two classes, the class.
    X : array-like of shape (n_rows, n_features), a table, or None, default=None
        Rows whose box is taken instead of that of the training data.
    max_seconds : float, default=30
        Time after which the answer is the best that was found, with `proven=False` and a bound.

    Returns
    -------
    optimum : Optimum
        With `value`, `point`, `row`, `bound`, `gap`, `proven` and `seconds`.

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
    return _Question(model, where, integer, output, X).optimum(direction, max_seconds)


def extremes(
    model: Any,
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    output: Any = None,
    X: ArrayLike | None = None,
    max_seconds: float = SECONDS,
) -> Extremes:
    """Return the smallest and the largest prediction of all rows in a region.

    Parameters
    ----------
    model, where, integer, output, X
        As for `optimise`.
    max_seconds : float, default=30
        Time for both together.

    Returns
    -------
    extremes : Extremes
        With `lowest` and `highest`, each an `Optimum`.
    """
    question = _Question(model, where, integer, output, X)
    lowest = question.optimum("min", max_seconds / 2)
    highest = question.optimum("max", max_seconds - lowest.seconds)
    return Extremes(lowest, highest)


def largest_difference(
    a: Any,
    b: Any,
    where: Where | None = None,
    *,
    integer: Sequence[Any] = (),
    output: Any = None,
    X: ArrayLike | None = None,
    max_seconds: float = SECONDS,
) -> Difference:
    """Return the largest absolute difference between the predictions of two models in a region.

    Parameters
    ----------
    a, b : models as for `optimise`
        Of the same columns. By default, the region is the box of the training data of `a`.
    where, integer, output, X
        As for `optimise`.
    max_seconds : float, default=30
        Time for both directions together.

    Returns
    -------
    difference : Difference
    """
    _check_same_columns(a, b)
    start = time.perf_counter()
    question = _Question(a, where, integer, output, X, beside=(network_of(b),))
    difference = _difference(question, network_of(b), output_of(b, output))
    above = maximise(difference, question.space, max_seconds / 2)
    left = max_seconds - (time.perf_counter() - start)
    below = maximise(-difference, question.space, left)
    best = max(above, below, key=lambda found: found.value)
    point = question.space.rows(best.v[None])[0]
    pair = tuple(outputs(m, output, point[None])[0] for m in (a, b))
    value, bound = abs(pair[0] - pair[1]), max(above.bound, below.bound)
    return Difference(
        value=value,
        predictions=(pair[0], pair[1]),
        point=point,
        row=question.region.row(point),
        bound=max(value, bound),
        proven=bound - value <= best.tolerance,
        seconds=time.perf_counter() - start,
    )


def _difference(question: "_Question", b: Network, output: int) -> Form | ClippedSum:
    """Return by how much the model of a question exceeds a network."""
    form, limits = Form.of(b, output, question.space), Limits.of(b, output)
    if limits is None and question.limits is None:
        return question.form.minus(form)
    first = Clipped.of(question.form, question.network, question.which)
    return ClippedSum((first, -Clipped.of(form, b, output)))


class _Question:
    """A model on a region."""

    def __init__(
        self,
        model: Any,
        where: Where | None,
        integer: Sequence[Any],
        output: Any,
        X: Any,
        beside: tuple[Network, ...] = (),
    ) -> None:
        self.start = time.perf_counter()
        self.model, self.output = model, output
        self.network, self.which = network_of(model), output_of(model, output)
        self.limits = Limits.of(self.network, self.which)
        self.region: Region = region_of(model, where, integer, X)
        self.space = Space.of(self.region, (self.network, *beside))
        self.form = Form.of(self.network, self.which, self.space)

    def optimum(self, direction: Direction, max_seconds: float) -> Optimum:
        """Return the largest or the smallest value."""
        if direction not in ("max", "min"):
            raise ValueError(f"`direction` must be 'max' or 'min', got {direction!r}.")
        start, sign = time.perf_counter(), 1.0 if direction == "max" else -1.0
        form = self.form if direction == "max" else -self.form
        found: Solution = maximise(form, self.space, max_seconds)
        point = self.space.rows(found.v[None])[0]
        value = float(outputs(self.model, self.output, point[None])[0])
        bound, tolerance = found.bound, found.tolerance
        if self.limits is not None:
            # Within bounds, outputs have their extremes where they have them without.
            bound = sign * float(self.limits.apply(np.array(sign * bound)))
            span = self.limits.high - self.limits.low
            tolerance = min(tolerance, TOLERANCE * (abs(value) + span))
        bound = max(sign * value, bound)
        return Optimum(
            value=value,
            point=point,
            row=self.region.row(point),
            bound=sign * bound,
            proven=bound - sign * value <= tolerance,
            seconds=time.perf_counter() - start,
        )


def outputs(model: Any, output: Any, rows: Float64) -> Float64:
    """Return what a model predicts for rows of features, `(n_rows,)`."""
    found = network_of(model).predict(rows)
    return np.asarray(found.reshape(len(rows), -1)[:, output_of(model, output)])


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


def _check_same_columns(a: Any, b: Any) -> None:
    """Raise an error for models of other columns; without names, their number must agree."""
    mine, others = columns_of(a).features, columns_of(b).features
    named = all(network_of(model).feature_names is not None for model in (a, b))
    if len(mine) != len(others) or (named and mine != others):
        raise ValueError(
            f"`b` must take the same columns as `a`, {list(mine)[:8]}, got {list(others)[:8]}."
        )
