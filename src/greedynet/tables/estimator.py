"""The estimator of a table: from its parameters, through the fit, to its errors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators.shapes import SHAPES
from greedynet.support.parameters import NUMBERS, PARAMETERS
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import Columns, Input
from greedynet.tables.hold_out import guess_of
from greedynet.tables.labelled import LabelledRows
from greedynet.tables.memory import by_steps
from greedynet.tables.readers import TableError
from greedynet.tables.roles import forward_in_time, weights_by_class
from greedynet.tables.scores import measure_of, scores_of
from greedynet.tables.training import Aside, FitRows


def estimator_of(types: ColumnTypes, parameters: dict[str, Any]) -> Any:
    """Return a regressor or a classifier, whichever suits the target, not fitted yet."""
    parameters = by_feature(types.inputs, parameters)
    if types.target.classes is None:
        _check_of_numbers(types, parameters)
        return GreedyNetRegressor(**parameters)
    of_numbers = {parameter.name for parameter in PARAMETERS if parameter.of == NUMBERS}
    wrong = next((name for name in parameters if name in of_numbers), None)
    if wrong is not None:
        raise TableError(
            f"`{wrong}` applies to a target of numbers, but {types.target.name!r} contains "
            "classes: omit it."
        )
    by_class = parameters.get("class_weight")
    if isinstance(by_class, Mapping):
        by_class = weights_by_class(by_class, types.target.classes, types.target.name)
        parameters = {**parameters, "class_weight": by_class}
    return GreedyNetClassifier(**parameters)


def _check_of_numbers(types: ColumnTypes, parameters: dict[str, Any]) -> None:
    if parameters.get("class_weight") is not None:
        raise TableError(
            f"`class_weight` applies to a target of classes, but {types.target.name!r} contains "
            "numbers: omit it, or write `classes=True`."
        )


def fitted(
    rows: FitRows,
    parameters: dict[str, Any],
    progress: Callable[[int, float], None] | None,
    on_stage: Callable[[str], None] | None,
) -> Any:
    """Return a fitted estimator, with names of the features in its networks."""
    estimator = estimator_of(rows.types, parameters)
    estimator.set_progress(progress, on_stage)
    try:
        _fit(estimator, rows)
    finally:
        estimator.set_progress()
    return estimator


def _fit(estimator: Any, rows: FitRows) -> None:
    """Fit, and name the features in the networks."""
    data, held, aside = rows.data, rows.held, rows.aside
    later = aside.rows if aside is not None and aside.later else None
    how: dict[str, Any] = {} if data.weights is None else {"sample_weight": data.weights}
    if held is not None:
        how |= {"X_val": held.X, "y_val": held.y}
        how |= {} if held.weights is None else {"sample_weight_val": held.weights}
    if _folds_by_groups(data, held):
        how["groups"] = data.groups
    with forward_in_time(estimator, data.times), knowing_later(estimator, later):
        estimator.fit(data.X, data.y, **how)
    name_features(estimator, rows.types.inputs.features)


@contextmanager
def knowing_later(estimator: Any, later: LabelledRows | None) -> Iterator[None]:
    """Let intervals and sets of a fit take account of rows set aside because they come later.

    New rows are at least as far ahead, further than the rows that folds hold out.
    """
    if later is not None:
        estimator._later = (later.X, later.y, later.weights)
    try:
        yield
    finally:
        estimator.__dict__.pop("_later", None)


def name_features(estimator: Any, names: tuple[str, ...]) -> None:
    """Name the features in the networks of a fitted estimator."""
    estimator.path_ = estimator.path_.with_feature_names(names)
    estimator.network_ = replace(estimator.network_, feature_names=names)


def _folds_by_groups(data: LabelledRows, held: LabelledRows | None) -> bool:
    """Whether there are folds, which keep groups together."""
    return data.groups is not None and held is None and len(np.unique(data.groups)) > 1


def scores_on(estimator: Any, data: LabelledRows) -> dict[str, Any]:
    """Return the scores of a fitted estimator on some rows."""
    p = None
    if isinstance(estimator, GreedyNetClassifier):
        p = by_steps(estimator.predict_proba, data.X)
    return scores_of(estimator, data.y, by_steps(estimator.predict, data.X), p, data.weights)


def scores_aside(estimator: Any, data: LabelledRows, aside: Aside) -> dict[str, Any]:
    """Return the scores on the rows set aside, with that of a constant."""
    found = scores_on(estimator, aside.rows)
    measure = measure_of(found)
    constant = guess_of(data.y, aside.rows.y, measure, data.weights, aside.rows.weights)
    return {**aside.record, **found, "measure": measure, "constant": constant}


def by_feature(columns: Columns, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with shapes for each feature instead of those by the names of columns."""
    found = dict(parameters)
    for name in SHAPES:
        given = parameters.get(name)
        if given is not None:
            found[name] = _of_features(columns, name, given)
    return found


def _of_features(columns: Columns, name: str, given: Any) -> list[int]:
    """Return the shape of each feature, 0 for those that are not named."""
    if not isinstance(given, Mapping):
        raise TableError(
            f"`{name}` must be a dict of column names for a table, such as {{'age': 1}}, got "
            f"{given!r}."
        )
    inputs = {column.name: column for column in columns.inputs if column.gaps_of is None}
    for key in given:
        _check_number(name, key, inputs)
    return [
        given[column.name] if column.gaps_of is None and column.name in given else 0
        for column in columns.inputs
        for _ in column.features
    ]


def _check_number(name: str, key: Any, inputs: Mapping[str, Input]) -> None:
    """Raise an error for a column that is not there, or that is no number."""
    if key not in inputs:
        raise TableError(f"`{name}` must name columns of the table, {list(inputs)}, got {key!r}.")
    if not inputs[key].is_number:
        raise TableError(
            f"`{name}` must name columns of numbers, got {key!r}, which is "
            f"{inputs[key].describe()}: leave it out."
        )
