"""scikit-learn's checks of training data, sparse or not, with errors that name the argument."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from greedynet.estimators.frames import naming_columns
from greedynet.rows.blocks import DEFAULT_SIZES
from greedynet.support.checks import (
    check_columns,
    check_kind,
    check_labels,
    check_same_length,
    check_size,
    check_unmasked,
    check_weights,
    finite_or_nan,
    named,
)
from greedynet.support.types import Float64

# Rows that must fit into memory at once, as samples of the rows do.
_FEWEST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class SparseBlocks:
    """Rows of a sparse matrix in dense blocks, which can be read repeatedly."""

    X: Any
    y: NDArray[Any]
    weights: Float64 | None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for part in _parts(self.X):
            block = (self.X[part].toarray(), self.y[part])
            yield block if self.weights is None else (*block, self.weights[part])


def is_sparse(X: Any) -> bool:
    """Whether something is a sparse matrix or array of SciPy."""
    return bool(issparse(X))


def dense_rows(X: Any, y: Any, sample_weight: Any, budget: float) -> tuple[Any, Any, Any]:
    """Return the arguments of a fit without sparse matrices: arrays, or blocks of them."""
    if not is_sparse(X):
        return X, y, sample_weight
    n_rows, n_columns = X.shape
    if 8.0 * n_rows * n_columns <= budget:
        return X.toarray(order="C"), y, sample_weight
    if 8.0 * _FEWEST_ROWS * n_columns > budget:
        raise ValueError(
            f"`X` is sparse with {n_columns:,} columns, of which {_FEWEST_ROWS:,} dense rows take "
            f"more than {budget:.3g} bytes: reduce the columns first, such as by "
            "sklearn.decomposition.TruncatedSVD in a pipeline."
        )
    if y is None:
        raise ValueError("`y` must have a value for each row of the sparse `X`, got None.")
    outputs = np.asarray(y)
    check_same_length(X=np.empty((n_rows, 0)), y=outputs)
    weights = check_weights(sample_weight, "sample_weight", n_rows)
    return SparseBlocks(X.tocsr(), outputs, weights), None, None


def dense_blocks(X: Any) -> Iterator[NDArray[Any]]:
    by_rows = X.tocsr()
    for part in _parts(by_rows):
        yield by_rows[part].toarray()


def _parts(X: Any) -> Iterator[slice]:
    n_rows, step = X.shape[0], DEFAULT_SIZES.read_rows(X.shape[1] + 1)
    # Without rows one empty block, which checks refuse.
    for start in range(0, max(1, n_rows), step):
        yield slice(start, min(n_rows, start + step))


def _check_again(X: Any, kinds: list[Any], finite: bool | Literal["allow-nan"]) -> NDArray[Any]:
    """Return `X` as an array, or raise the error that scikit-learn has found if it is its own."""
    try:
        with named("X"), naming_columns(X):
            checked = check_array(X, dtype=kinds, input_name="X", ensure_all_finite=finite)
            return np.asarray(checked)
    except ValueError as error:
        advice = ' Write missing="learn" to learn from gaps.' if "NaN" in str(error) else ""
        raise ValueError(f"{error}{advice}") from None


def _validated(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, column: Callable[[Any], Any], **how: Any
) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Apply scikit-learn's checks of training data; errors name `X` or `y`."""
    kinds, finite = [np.float64, np.float32], finite_or_nan(estimator.missing == "learn")
    check_unmasked(X, "X")
    check_unmasked(y, "y")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, outputs = validate_data(
                estimator, X, y, dtype=kinds, ensure_all_finite=finite, **how
            )
    except (TypeError, ValueError, OverflowError):
        checked = _check_again(X, kinds, finite)
        if y is not None:
            with named("y"):
                check_same_length(X=checked, y=column(y))
        raise
    check_kind(X, "X")
    check_size(inputs, "X")
    return inputs, outputs


def check_training(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.floating], Float64]:
    """Return inputs and outputs of a regression."""
    column = partial(check_columns, name="y")
    inputs, outputs = _validated(estimator, X, y, column, multi_output=True, y_numeric=True)
    check_kind(y, "y")
    check_columns(outputs, "y")
    outputs = np.asarray(outputs, dtype=np.float64)
    check_size(outputs, "y")
    return inputs, outputs


def check_classes(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Return inputs and labels of a classification."""
    # scikit-learn detects NaN among numbers, but neither None nor pandas.NA among texts.
    if y is not None and getattr(getattr(y, "dtype", None), "kind", "O") not in "biuf":
        check_labels(y, "y")
    inputs, labels = _validated(estimator, X, y, column_or_1d)
    try:
        with np.errstate(invalid="ignore"):
            check_classification_targets(labels)
    except ValueError as error:
        raise ValueError(
            f"`y`: {error} For numbers that are not classes, use GreedyNetRegressor."
        ) from None
    return inputs, labels
