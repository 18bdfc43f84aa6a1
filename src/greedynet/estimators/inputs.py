"""The arguments of `fit` -> `Rows`: training data, validation data and classes.

Errors refer to the arguments by name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from greedynet.estimators.frames import (
    EncodedBlocks,
    Levels,
    as_features,
    booleans_of,
    encode_categories,
    feature_names,
    levels_of_frame,
    store_columns_as_given,
    with_encoded_frames,
)
from greedynet.estimators.training_checks import check_classes, check_training, dense_rows
from greedynet.rows.blocks import (
    DEFAULT_SIZES,
    Blocks,
    BlockSizes,
    Preparation,
    Source,
    SourceBlocks,
    StreamSource,
    gives_blocks,
    reader_of,
)
from greedynet.rows.missing import ENOUGH_ROWS, Filling, Gaps
from greedynet.rows.rows import CANONICAL_ROWS, Rows, rounded, unit_vectors
from greedynet.support.checks import (
    check_columns,
    check_labels,
    check_matrix,
    check_same_length,
    check_size,
    check_unmasked,
    check_weights,
    named,
)
from greedynet.support.threads import Pool
from greedynet.support.types import Float64


def training_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    pool: Pool | None = None,
    sizes: BlockSizes = DEFAULT_SIZES,
    groups: Any = None,
) -> tuple[Rows | Blocks, bool]:
    """Return training rows, in blocks if given in blocks, and whether `y` has one dimension."""
    X, y, sample_weight = _as_given(estimator, X, y, sample_weight, groups, classes=False)
    if gives_blocks(X, y):
        source = _source(estimator, X, y, sample_weight, pool, sizes)
        n_outputs = int(np.prod(source.output_shape))
        preparation = Preparation(source.n_features, n_outputs)
        return _surveyed(estimator, source, preparation), source.output_shape == ()
    inputs, outputs = check_training(estimator, X, y)
    store_columns_as_given(estimator)
    weights = check_weights(sample_weight, "sample_weight", len(inputs))
    rows = Rows(inputs, outputs.reshape(len(outputs), -1), weights)
    return _learned(estimator, rows), outputs.ndim == 1


def _learned(estimator: Any, rows: Rows) -> Rows:
    """Return rows with the inputs of the network, and store what to do about missing ones."""
    vars(estimator).pop("filling_", None)
    if estimator.missing == "error":
        return rows
    filling = Filling.of(rows)
    estimator.filling_ = filling if estimator._indicates else filling.by_mean()
    return replace(rows, X=estimator.filling_.apply(rows.X))


def _surveyed(estimator: Any, source: Source, preparation: Preparation) -> SourceBlocks:
    """Return rows in blocks, after two more passes if something is to be learned about gaps."""
    vars(estimator).pop("filling_", None)
    if estimator.missing == "learn":
        with_gaps = replace(preparation, gaps=True)
        n_rows, found = source.total(with_gaps, Gaps())
        spread = np.linspace(0, n_rows - 1, min(n_rows, ENOUGH_ROWS)).astype(np.intp)
        estimator.filling_ = found.filling().with_informative_gaps(source.take(with_gaps, spread))
        preparation = replace(preparation, filling=estimator.filling_)
    return SourceBlocks.of(source, preparation)


def _as_given(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, *, classes: bool
) -> tuple[Any, Any, Any]:
    """Return the arguments of a fit with arrays, or blocks, of numbers for other inputs.

    The estimator has `categories_` afterwards if there are some, levels by the name of the column,
    `level_features_`, what becomes of each,
    and `booleans_`, which of the features are true and false.
    """
    X, y, sample_weight = dense_rows(X, y, sample_weight, estimator._settings.dense_bytes)
    levels, own = levels_of_frame(
        X,
        y,
        sample_weight,
        groups,
        classes=classes,
        units=estimator._units,
        seed=estimator.random_state,
    )
    X = as_features(X, levels, "X", own) if levels else with_encoded_frames(X, y)
    _store_kinds(estimator, levels, booleans_of(X))
    return X, y, sample_weight


def _store_kinds(estimator: Any, levels: Levels | None, booleans: NDArray[np.bool_] | None) -> None:
    for name in ("categories_", "level_features_", "booleans_"):
        vars(estimator).pop(name, None)
    if levels:
        estimator.categories_ = {name: table.levels for name, table in levels.items()}
        estimator.level_features_ = {name: table.features for name, table in levels.items()}
    if booleans is not None and booleans.any():
        estimator.booleans_ = booleans


def _source(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    pool: Pool | None,
    sizes: BlockSizes,
) -> Source:
    """Return the source of the blocks, and store their columns as scikit-learn does."""
    source: Source = X
    if not isinstance(X, Source):
        source = StreamSource(*reader_of(X, y, sample_weight, sizes), pool, sizes)
        if isinstance(X, EncodedBlocks):
            _store_kinds(estimator, X.levels, X.booleans)
    estimator.n_features_in_ = source.n_features
    vars(estimator).pop("feature_names_in_", None)
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
    store_columns_as_given(estimator)
    return source


def class_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    pool: Pool | None = None,
    sizes: BlockSizes = DEFAULT_SIZES,
    groups: Any = None,
) -> tuple[Rows | Blocks, NDArray[Any]]:
    """Return training rows with classes as unit vectors, and the classes in order."""
    X, y, sample_weight = _as_given(estimator, X, y, sample_weight, groups, classes=True)
    if gives_blocks(X, y):
        source = _source(estimator, X, y, sample_weight, pool, sizes)
        return _class_blocks(estimator, source, class_weight)
    inputs, labels = check_classes(estimator, X, y)
    store_columns_as_given(estimator)
    weights = check_weights(sample_weight, "sample_weight", len(inputs))
    classes = np.unique(labels)
    _check_two_classes(labels, weights)
    if class_weight is not None:
        by_class = _class_weights(class_weight, classes, labels, weights)
        with np.errstate(over="ignore"):  # which is then refused
            weights = by_class if weights is None else by_class * weights
        weights = check_weights(weights, "class_weight", len(inputs))
        _check_two_classes(labels, weights)
    rows = Rows(inputs, unit_vectors(labels, classes), weights)
    return _learned(estimator, rows), classes


def _class_blocks(
    estimator: BaseEstimator, source: Source, class_weight: Any
) -> tuple[Blocks, NDArray[Any]]:
    """Return blocks with classes as unit vectors, and the classes in order."""
    if source.output_shape != ():
        raise ValueError(
            f"`y` must be one column of classes, got the shape {source.output_shape} for each row."
        )
    labels = source.labels()
    with named("y"):
        check_classification_targets(labels.values)
    # One row per class represents all of its rows.
    _check_two_classes(labels.values, labels.weights)
    by_class = None
    if class_weight is not None:
        by_class = _class_weights(class_weight, labels.values, labels.values, labels.weights)
        _check_two_classes(labels.values, by_class)
    n_outputs = 1 if len(labels.values) == 2 else len(labels.values)
    preparation = Preparation(source.n_features, n_outputs, labels.values, by_class)
    return _surveyed(estimator, source, preparation), labels.values


def _check_two_classes(labels: NDArray[Any], weights: Float64 | None) -> None:
    present = np.unique(labels if weights is None else labels[weights > 0])
    if len(present) < 2:
        got = f"one class, {present.tolist()}" if len(present) else "no such row"
        raise ValueError(
            f"`y` must have at least two classes among the rows of positive weight, got {got}: a "
            "classifier needs rows of each class."
        )


def _class_weights(
    class_weight: Any, classes: NDArray[Any], labels: NDArray[Any], weights: Float64 | None
) -> Float64:
    if isinstance(class_weight, dict):
        known = set(classes.tolist())
        unknown = [label for label in class_weight if label not in known]
        # If all classes are named, additional names are harmless: a fold may lack a class.
        if unknown and not known <= set(class_weight):
            raise ValueError(
                f"`class_weight` must name classes of `y`, {classes.tolist()}, got {unknown}: "
                "remove those that are not in `y`; classes that are not named have the weight 1."
            )
    # Classes without positive weights are not balanced.
    seen = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    present = np.unique(labels[seen])
    with named("class_weight"):
        by_class = compute_class_weight(
            class_weight,
            classes=present,
            y=labels[seen],
            sample_weight=None if weights is None else weights[seen],
        )
    if weights is not None and (weights % 1 != 0).any():
        # Sums of such weights depend on the order of the rows, in the last digits.
        by_class = rounded(by_class)
    of_row = np.zeros(len(labels))
    of_row[seen] = by_class[np.searchsorted(present, labels[seen])]
    return of_row


def class_validation_rows(
    estimator: BaseEstimator,
    X_val: ArrayLike | None,
    y_val: ArrayLike | None,
    sample_weight_val: ArrayLike | None,
    rows: Rows | Blocks,
    classes: NDArray[Any],
    merged_up_to: int = CANONICAL_ROWS,
) -> Rows | None:
    """Return validation rows, whose classes must occur in the training rows, or None."""
    if y_val is not None:
        check_unmasked(y_val, "y_val")
        with named("y_val"):
            labels = column_or_1d(y_val)
            check_labels(labels, "y_val")
            unseen = np.setdiff1d(np.unique(labels), classes)
        if len(unseen):
            raise ValueError(
                f"`y_val` must have only classes of `y`, {classes.tolist()}, got also "
                f"{unseen.tolist()}: remove those rows, or add such rows to the training data."
            )
        y_val = unit_vectors(labels, classes)
    return validation_rows(estimator, X_val, y_val, sample_weight_val, rows, merged_up_to)


def validation_rows(
    estimator: BaseEstimator,
    X_val: ArrayLike | None,
    y_val: ArrayLike | None,
    sample_weight_val: ArrayLike | None,
    rows: Rows | Blocks,
    merged_up_to: int = CANONICAL_ROWS,
) -> Rows | None:
    if X_val is None and y_val is None and sample_weight_val is None:
        return None
    if X_val is None or y_val is None:
        missing = "X_val" if X_val is None else "y_val"
        raise ValueError(f"`X_val` and `y_val` must be passed together: `{missing}` is missing.")
    X_val, _, _ = dense_rows(X_val, y_val, None, np.inf)
    X_val = encode_categories(estimator, X_val, "X_val")
    names = feature_names(estimator)
    columns = getattr(X_val, "columns", None)
    if names is not None and columns is not None and list(columns) != list(names):
        raise ValueError(
            f"`X_val` must have the columns of `X` in the same order, {list(names)}, got "
            f"{list(columns)}: write X_val[X.columns]."
        )
    dtype = rows.X.dtype if isinstance(rows, Rows) else np.float64
    filling: Filling | None = getattr(estimator, "filling_", None)
    inputs = check_matrix(X_val, "X_val", dtype, gaps=filling is not None)
    outputs = check_columns(y_val, "y_val")
    for name, got, wanted in (
        ("X_val", inputs.shape[1], estimator.n_features_in_ if names is None else len(names)),
        ("y_val", outputs.shape[1], rows.n_outputs),
    ):
        if got != wanted:
            raise ValueError(
                f"`{name}` must have as many columns as the training data, {wanted}, got {got}."
            )
    check_same_length(X_val=inputs, y_val=outputs)
    check_size(inputs, "X_val")
    check_size(outputs, "y_val")
    weights = check_weights(sample_weight_val, "sample_weight_val", len(inputs))
    X = inputs if filling is None else filling.apply(inputs)
    return Rows(X, outputs, weights).canonical(merged_up_to)


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the fitted attributes if the fit fails or is interrupted."""

    def fitted() -> dict[str, Any]:
        return {k: v for k, v in vars(estimator).items() if k.endswith("_") and k[0] != "_"}

    before = fitted()
    try:
        yield
    except BaseException:
        for name in fitted():
            delattr(estimator, name)
        vars(estimator).update(before)
        raise
