"""Raw blocks, as given by users -> rows: checked, classes as unit vectors, weights of mean 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.missing import Filling
from greedynet.rows.rows import Rows, class_numbers, unit_vectors
from greedynet.support.checks import (
    check_kind,
    check_labels,
    check_size,
    check_unmasked,
    check_weight_shape,
    is_number,
)
from greedynet.support.types import Float64

# Inputs, outputs, and weights or None.
Raw = tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Preparation:
    """The conversion of raw blocks to rows."""

    n_features: int  # columns that every block must have
    n_outputs: int
    classes: NDArray[Any] | None = None  # of the outputs, in order; None for numbers
    by_class: Float64 | None = None  # weight of each class
    mean_weight: float = 1.0  # divides the weights, so that their mean is 1
    checked: bool = False  # whether the blocks have already been checked
    gaps: bool = False  # whether inputs may be missing, and stay so
    filling: Filling | None = None  # what to insert for missing inputs, if that is known

    @property
    def n_inputs(self) -> int:
        """Number of columns of the rows, with the indicators of gaps."""
        return self.n_features if self.filling is None else self.filling.n_features

    def rows(self, raw: Raw, name: str) -> Rows:
        """Return a block, whose name is for errors, as rows without those of weight zero."""
        X = as_inputs(raw[0], name)
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"`X` must have {self.n_features} columns in every block, as in the first, got "
                f"{X.shape[1]} in {name}."
            )
        Y = self._outputs(raw, name)
        weights = weights_of(raw, name, self.checked)
        if self.filling is not None:
            X = self.filling.apply(X)
        if not self.checked:
            _check_finite(name, X=np.where(np.isnan(X), 0.0, X) if self.gaps else X, y=Y)
            check_size(X, "X", f" in {name}")
            check_size(Y, "y", f" in {name}")
        return _with_weights(X, Y, self._weights(Y, weights))

    def _outputs(self, raw: Raw, name: str) -> Float64:
        y = outputs_of(raw, name)
        if self.classes is not None:
            return unit_vectors(y, self.classes)
        check_kind(y, "y", f" in {name}")
        try:
            Y = y.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"`y` must hold numbers, got {y.dtype} in {name}: for classes use "
                "GreedyNetClassifier."
            ) from None
        Y = Y.reshape(len(Y), -1) if Y.size else Y.reshape(0, self.n_outputs)
        if Y.shape[1] != self.n_outputs:
            raise ValueError(
                f"`y` must have {self.n_outputs} columns in every block, as in the first, got "
                f"{Y.shape[1]} in {name}."
            )
        return Y

    def _weights(self, Y: Float64, weights: Float64 | None) -> Float64 | None:
        if self.by_class is not None:
            of_class = self.by_class[class_numbers(Y)]
            weights = of_class if weights is None else weights * of_class
        return weights if weights is None else weights / self.mean_weight


def _with_weights(X: NDArray[np.floating], Y: Float64, weights: Float64 | None) -> Rows:
    rows = Rows(X, Y, weights)
    if weights is None or weights.all():
        return rows
    return rows.take(np.flatnonzero(weights))


def as_arrays(raw: Raw, name: str) -> Raw:
    """Return a block as arrays with the same number of rows."""
    X = as_inputs(raw[0], name)
    weights = np.full(len(X), raw[2]) if is_number(raw[2]) else raw[2]
    raw = X, raw[1], weights
    return X, outputs_of(raw, name), weights_of(raw, name, checked=True)


def as_inputs(X: Any, name: str) -> NDArray[np.floating]:
    """Return the inputs of a block in memory: float32 unchanged, everything else as float64."""
    check_unmasked(X, "X", f" in {name}")
    try:
        values = np.array(X, order="C", copy=None)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers("X", name, error) from None
    check_kind(values, "X", f" in {name}")
    try:
        if values.dtype != np.float32:
            values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers("X", name, error) from None
    if values.ndim != 2:
        raise ValueError(f"`X` must have rows and columns, got {values.ndim} dimensions in {name}.")
    return values


def outputs_of(raw: Raw, name: str) -> NDArray[Any]:
    """Return the outputs of a block unchanged, one for each row."""
    check_unmasked(raw[1], "y", f" in {name}")
    try:
        y = np.asarray(raw[1])
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers("y", name, error) from None
    if y.ndim not in (1, 2):
        raise ValueError(f"`y` must have one or two dimensions, got {y.ndim} in {name}.")
    if len(y) != len(raw[0]):
        raise ValueError(
            f"Every block must have the same number of rows of `X` and `y`, got {len(raw[0])} of "
            f"`X`, {len(y)} of `y` in {name}."
        )
    return y


def weights_of(raw: Raw, name: str, checked: bool = False) -> Float64 | None:
    """Return the weights of a block, one for each row, or None if it has none."""
    if raw[2] is None:
        return None
    check_kind(raw[2], "sample_weight", f" in {name}")
    check_unmasked(raw[2], "sample_weight", f" in {name}")
    try:
        weights = np.asarray(raw[2], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers("sample_weight", name, error) from None
    check_weight_shape(weights, "sample_weight", len(raw[0]), f" in {name}")
    if checked:
        return weights
    _check_finite(name, sample_weight=weights)
    if (weights < 0).any():
        raise ValueError(
            f"`sample_weight` must be non-negative, got negative values in {name}: write 0 for "
            "rows to ignore."
        )
    return weights


def _no_numbers(argument: str, name: str, error: Exception) -> ValueError:
    return ValueError(f"`{argument}` must hold numbers, got other types in {name}: {error}")


def _check_finite(name: str, **arrays: NDArray[Any]) -> None:
    for key, array in arrays.items():
        # The sum may also be infinite for huge finite numbers.
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(array.sum()) or np.isfinite(array).all()
        if not is_finite:
            row = int(np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))[0])
            raise ValueError(
                f"`{key}` must hold finite numbers only, got NaN or infinity in row {row} of "
                f"{name}: remove such rows, or fill in the values."
            )


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of the classes that occur, sorted, with the sums of their weights."""

    values: NDArray[Any]
    weights: Float64

    @staticmethod
    def of(raw: Raw, name: str = "a block") -> "Labels":
        labels, weights = outputs_of(raw, name), weights_of(raw, name)
        check_labels(labels, "y", f" in {name}")
        values, at = np.unique(labels, return_inverse=True)
        counts = np.bincount(at.ravel(), weights, minlength=len(values))
        return Labels(values, counts.astype(np.float64))

    @staticmethod
    def joined(parts: Sequence["Labels"]) -> "Labels":
        kinds = {part.values.dtype.kind for part in parts}
        if len(kinds) > 1:  # such as text in one block and numbers in another
            check_labels(np.concatenate([p.values.astype(object) for p in parts]), "y")
        values, at = np.unique(np.concatenate([p.values for p in parts]), return_inverse=True)
        weights = np.concatenate([p.weights for p in parts])
        counts = np.bincount(at, weights, minlength=len(values))
        return Labels(values, counts.astype(np.float64))
