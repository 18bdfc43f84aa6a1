"""The estimator of a table: from its parameters, through the fit, to its errors."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.gaps import Aside, FitRows
from greedynet.tables.holding import guess_of
from greedynet.tables.readers import TableError
from greedynet.tables.score import measure_of, scores_of
from greedynet.tables.shapes import by_feature
from greedynet.tables.times import forward_in_time
from greedynet.tables.training import TrainingRows
from greedynet.tables.weights import weights_by_class


def estimator_of(types: ColumnTypes, parameters: dict[str, Any]) -> Any:
    """Return a regressor or a classifier, whichever suits the target, not fitted yet."""
    parameters = by_feature(types.inputs, parameters)
    if types.classes is None:
        _check_of_numbers(types, parameters)
        return GreedyNetRegressor(**parameters)
    of_numbers = ("loss", "quantile", "tol", "n_networks", "margin")
    wrong = next((name for name in of_numbers if name in parameters), None)
    if wrong is not None:
        raise TableError(
            f"`{wrong}` applies to a target of numbers, but {types.target!r} contains classes: "
            "omit it."
        )
    by_class = parameters.get("class_weight")
    if isinstance(by_class, Mapping):
        by_class = weights_by_class(by_class, types.classes, types.target)
        parameters = {**parameters, "class_weight": by_class}
    return GreedyNetClassifier(**parameters)


def _check_of_numbers(types: ColumnTypes, parameters: dict[str, Any]) -> None:
    if parameters.get("class_weight") is not None:
        raise TableError(
            f"`class_weight` applies to a target of classes, but {types.target!r} contains "
            "numbers: omit it, or write `classes=True`."
        )
    if parameters.get("cv") is not None and parameters.get("n_nodes") is not None:
        raise TableError(
            "`cv` must be given without `n_nodes`, got both: folds choose the number of nodes. "
            "Omit one of them, or write `max_nodes`."
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
        _fit(estimator, rows.data, rows.held, rows.types.inputs.features)
    finally:
        estimator.set_progress()
    return estimator


def _fit(
    estimator: Any,
    data: TrainingRows,
    held: TrainingRows | None,
    names: tuple[str, ...],
) -> None:
    """Fit, and name the features in the networks."""
    how: dict[str, Any] = {} if data.weights is None else {"sample_weight": data.weights}
    if held is not None:
        how |= {"X_val": held.X, "y_val": held.y}
        how |= {} if held.weights is None else {"sample_weight_val": held.weights}
    if _folds_by_groups(estimator, data, held):
        how["groups"] = data.groups
    with forward_in_time(estimator, data.times):
        estimator.fit(data.X, data.y, **how)
    name_features(estimator, names)


def name_features(estimator: Any, names: tuple[str, ...]) -> None:
    """Name the features in the networks of a fitted estimator."""
    estimator.path_ = estimator.path_.with_feature_names(names)
    estimator.network_ = replace(estimator.network_, feature_names=names)


def _folds_by_groups(estimator: Any, data: TrainingRows, held: TrainingRows | None) -> bool:
    """Whether folds choose the width, and shall keep groups together."""
    if data.groups is None or held is not None:
        return False
    asked = (estimator.n_nodes, estimator.validation_fraction)
    return asked == (None, None) and len(np.unique(data.groups)) > 1


def scores_on(estimator: Any, data: TrainingRows) -> dict[str, Any]:
    """Return the scores of a fitted estimator on some rows."""
    p = None
    if isinstance(estimator, GreedyNetClassifier):
        p = estimator.predict_proba(data.X)
    return scores_of(estimator, data.y, estimator.predict(data.X), p, data.weights)


def scores_aside(estimator: Any, data: TrainingRows, aside: Aside) -> dict[str, Any]:
    """Return the scores on the rows set aside, with that of a constant."""
    found = scores_on(estimator, aside.rows)
    measure = measure_of(found)
    constant = guess_of(data.y, aside.rows.y, measure, data.weights, aside.rows.weights)
    return {**aside.record, **found, "measure": measure, "constant": constant}
