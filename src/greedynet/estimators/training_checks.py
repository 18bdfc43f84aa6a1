"""scikit-learn's checks of training data, with errors that name the argument and the column."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from greedynet.estimators.frames import naming_columns
from greedynet.support.checks import (
    check_columns,
    check_kind,
    check_labels,
    check_same_length,
    check_size,
    check_unmasked,
    finite_or_nan,
    named,
)
from greedynet.support.types import Float64


def _check_again(X: Any, kinds: list[Any], finite: bool | Literal["allow-nan"]) -> NDArray[Any]:
    """Return `X` as an array, or raise the error that scikit-learn has found if it is its own."""
    try:
        with named("X"), naming_columns(X):
            checked = check_array(X, dtype=kinds, input_name="X", ensure_all_finite=finite)
            return np.asarray(checked)
    except ValueError as error:
        advice = ' Write missing="learn" to learn from gaps.' if "NaN" in str(error) else ""
        raise ValueError(f"{error}{advice}") from None


def check_training(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.floating], Float64]:
    """Apply scikit-learn's checks of training data; errors name `X` or `y`."""
    kinds, finite = [np.float64, np.float32], finite_or_nan(estimator.missing == "learn")
    check_unmasked(X, "X")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, outputs = validate_data(
                estimator,
                X,
                y,
                dtype=kinds,
                multi_output=True,
                y_numeric=True,
                ensure_all_finite=finite,
            )
    except (TypeError, ValueError, OverflowError):
        checked = _check_again(X, kinds, finite)
        if y is not None:
            check_same_length(X=checked, y=check_columns(y, "y"))
        raise
    for name, values in (("X", X), ("y", y)):
        check_kind(values, name)
    check_unmasked(y, "y")
    check_columns(outputs, "y")
    outputs = np.asarray(outputs, dtype=np.float64)
    check_size(inputs, "X")
    check_size(outputs, "y")
    return inputs, outputs


def check_classes(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Apply scikit-learn's checks of classification data."""
    # scikit-learn detects NaN among numbers, but neither None nor pandas.NA among texts.
    if y is not None and getattr(getattr(y, "dtype", None), "kind", "O") not in "biuf":
        check_labels(y, "y")
    kinds, finite = [np.float64, np.float32], finite_or_nan(estimator.missing == "learn")
    check_unmasked(X, "X")
    check_unmasked(y, "y")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, labels = validate_data(estimator, X, y, dtype=kinds, ensure_all_finite=finite)
    except (TypeError, ValueError, OverflowError):
        checked = _check_again(X, kinds, finite)
        if y is not None:
            with named("y"):
                check_same_length(X=checked, y=column_or_1d(y))
        raise
    check_kind(X, "X")
    check_size(inputs, "X")
    try:
        with np.errstate(invalid="ignore"):
            check_classification_targets(labels)
    except ValueError as error:
        raise ValueError(
            f"`y`: {error} For numbers that are not classes, use GreedyNetRegressor."
        ) from None
    return inputs, labels
