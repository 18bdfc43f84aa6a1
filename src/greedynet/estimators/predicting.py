"""What fitted estimators do with new rows: checked inputs, features, outputs along the growth."""

import os
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from greedynet.estimators.frames import encode_categories, feature_names, naming_columns, new_levels
from greedynet.estimators.training_checks import dense_blocks, is_sparse
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.model.uncertainty.outside import Outside, TrainingSample, columns_outside
from greedynet.rows.blocks import gives_blocks, input_blocks, parquet_inputs
from greedynet.rows.missing import Filling
from greedynet.support.checks import check_matrix, check_unmasked, finite_or_nan, named
from greedynet.support.errors import UnlearnedGapWarning
from greedynet.support.types import Float64


def r_squared(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return `R^2`, the mean over the outputs.

    It does not depend on the units, so outputs are divided by a power of two, which is exact.
    """
    true, found = (_in_columns(values) for values in (y, predicted))
    scale = 2.0 ** np.frexp(np.abs(true).max(axis=0, initial=0.0))[1].astype(np.float64)
    with np.errstate(over="ignore"):
        return float(r2_score(true / scale, found / scale, sample_weight=sample_weight))


def _in_columns(values: Any) -> Float64:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(len(array), -1)


def finite_answers(answers: Float64) -> Float64:
    """Return predictions, or raise an error if some are too large for floating-point numbers."""
    if not np.isfinite(answers).all():
        row = int(np.argmin(np.isfinite(answers.reshape(len(answers), -1)).all(axis=1)))
        raise ValueError(
            "`X` must be closer to the training data, or the model be another: what it predicts "
            f"for row {row} is too large for floating-point numbers."
        )
    return answers


class Predicting(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What the estimators do with inputs after a fit.

    A fitted network is a transformer, too, with `set_output` and `get_feature_names_out`.
    """

    network_: Network
    path_: SelectionPath
    n_features_in_: int
    training_sample_: TrainingSample

    def _outputs(self, X: ArrayLike) -> Float64:
        """Return the outputs of the network, with the inputs checked by scikit-learn."""
        check_is_fitted(self)
        return finite_answers(self._of_blocks(X, self.network_.predict))

    def _of_blocks(self, X: ArrayLike, function: Callable[[Any], Float64]) -> Float64:
        """Return a function of inputs, which are checked, block by block if given in blocks."""
        # The answers are checked instead.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(X, str | os.PathLike):
                blocks = self._inputs_of_files(Path(X))
                parts = [function(self._filled(block)) for block in blocks]
            elif is_sparse(X):
                parts = [function(self._checked(block)) for block in dense_blocks(X)]
            elif gives_blocks(X, None):
                parts = [function(self._checked(block)) for block in input_blocks(X)]
            else:
                return function(self._checked(X))
        if not parts:
            raise ValueError("`X` must have at least one row, got none.")
        return np.concatenate(parts)

    def _checked(self, X: ArrayLike) -> Any:
        """Return the inputs of the network, checked by scikit-learn."""
        finite, kinds = finite_or_nan(self._filling is not None), [np.float64, np.float32]
        check_unmasked(X, "X")
        features = encode_categories(self, X)
        how: dict[str, Any] = {"dtype": kinds, "ensure_all_finite": finite}
        with named("X"), naming_columns(features):
            if features is X:
                return self._filled(validate_data(self, X, reset=False, **how))
            return self._filled(check_array(features, input_name="X", **how))

    @property
    def _filling(self) -> Filling | None:
        """What was learned about missing inputs; None where they are an error."""
        return getattr(self, "filling_", None)

    def _filled(self, X: Any) -> Any:
        """Return inputs with nothing missing, followed by the indicators of gaps."""
        filling = self._filling
        if filling is None:
            return X
        unlearned = filling.unlearned(X)
        if len(unlearned):
            names = filling.names(feature_names(self))
            listed = ", ".join(repr(names[j]) for j in unlearned[:4])
            more = f" and {len(unlearned) - 4} more" if len(unlearned) > 4 else ""
            warnings.warn(
                f"`X` has missing values in {listed}{more}, where the training data had none: the "
                "mean of the training data is inserted, as nothing was learned about such gaps. "
                "Fill them in, or fit on rows that have some.",
                UnlearnedGapWarning,
                stacklevel=5,
            )
        return filling.apply(X)

    def network_inputs(self, X: ArrayLike) -> Any:
        """Return the inputs of `network_`, which has more of them than `X` where gaps are learned.

        These are the columns of `X`, with the means of the training data where they are missing,
        and then the indicators of gaps, one for each column whose gaps say something about `y`. For
        `missing="error"`, they are `X` itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        inputs : ndarray of shape (n_samples, n_inputs)
            As many as `network_` takes.
        """
        check_is_fitted(self)
        return self._of_blocks(X, np.asarray)

    def outside(self, X: ArrayLike) -> Outside:
        """Return which rows are outside the training data, where predictions are guesses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        outside : Outside
            `columns`, which values are beyond all of the training data; `distance`, how far a row
            is from the nearest training rows, for combinations of columns; `rows`, both together.
        """
        check_is_fitted(self)
        d, found = self.network_.n_features, self._of_blocks(X, self._outside_columns)
        columns, new = found[:, :d] > 0, new_levels(self, X)
        if new is not None:
            columns[:, : new.shape[1]] |= new
        return Outside(columns, found[:, d], self._input_names())

    def without_categories(self) -> Self:
        """Return a copy that takes arrays, with a column for each level of a category."""
        if not hasattr(self, "categories_"):
            return self
        return self._on_arrays(len(feature_names(self) or ()))

    def _on_arrays(self, n_features: int) -> Self:
        """Return a copy that takes arrays of so many columns."""
        plain = copy(self)
        for name in ("categories_", "level_features_", "feature_names_in_"):
            plain.__dict__.pop(name, None)
        plain.n_features_in_ = n_features
        return plain

    def without_filling(self) -> Self:
        """Return a copy that takes the inputs of `network_`, in which nothing is missing."""
        if self._filling is None:
            return self.without_categories()
        plain = self._on_arrays(self.network_.n_features)
        for name in ("booleans_", "filling_"):
            plain.__dict__.pop(name, None)
        return plain

    def _network_names(self) -> tuple[str, ...] | None:
        """Return the names of the inputs of the network; None if they need none."""
        names, filling = feature_names(self), self._filling
        if filling is not None and filling.indicated.any():
            return filling.names(names)
        return names

    def _input_names(self) -> tuple[str, ...]:
        names = self.network_.feature_names
        return tuple(f"x{j}" for j in range(self.network_.n_features)) if names is None else names

    def _outside_columns(self, X: Any) -> Float64:
        """Return ones for values outside the training data, and the distance as last column."""
        X = check_matrix(X, "X")
        assert self.network_.input_range is not None
        beyond = columns_outside(X, self.network_.input_range)
        return np.column_stack([beyond.astype(np.float64), self.training_sample_.distance(X)])

    def _inputs_of_files(self, path: Path) -> Iterator[Any]:
        names, categories = self.network_.feature_names, getattr(self, "categories_", {})
        if categories:
            raise ValueError(
                "`X` must be a data frame, or blocks of them, for a model with categories in the "
                f"column {next(iter(categories))!r}, got the file {os.fspath(path)}: write "
                f"`predict(pandas.read_parquet({path.name!r}))`, for example."
            )
        if names is None:
            raise ValueError(
                "`X` must be an array for a model that was not fitted on named columns, got the "
                f"file {os.fspath(path)}."
            )
        return parquet_inputs(path, names[: self.n_features_in_])

    @property
    def _n_features_out(self) -> int:
        return self.network_.n_neurons

    def transform(self, X: ArrayLike) -> Float64:
        """Return the values of the neurons, `sigma(a_n . x + b_n)`, as features.

        With two hidden layers, those of the second. The affine term `l . x + m` is not among them:
        beside the columns themselves, they span all that the network can represent.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        H : ndarray of shape (n_samples, n_neurons)
            Without any column if the network has no neurons.
        """
        check_is_fitted(self)
        return self._of_blocks(X, self.network_.hidden)

    def _of_held_out(self, name: str, what: str, advice: str) -> Any:
        """Return what a fit has learned from held-out rows; an error says why there is nothing."""
        check_is_fitted(self)
        found = getattr(self, name)
        if found is not None:
            return found
        why = f"no row was held out in the fit: {advice}"
        if hasattr(self, "trained_on_"):
            why = "its network was trained on after the fit: measure them on rows of your own"
        raise ValueError(f"{what}, but {why}.")
