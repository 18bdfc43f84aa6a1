"""`Predicting`: results for inputs that are checked, block by block if they come in blocks."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from greedynet.estimators.frames import encode_categories, naming_columns
from greedynet.estimators.sparse import dense_blocks, is_sparse
from greedynet.model.any_network import Network
from greedynet.model.uncertainty.seen import Outside, Seen, columns_outside
from greedynet.rows.blocks import gives_blocks, input_blocks, parquet_inputs
from greedynet.support.checks import check_matrix, check_unmasked, named
from greedynet.support.types import Float64


def finite_answers(answers: Float64) -> Float64:
    """Return predictions, or raise an error if some are too large for floating-point numbers."""
    if not np.isfinite(answers).all():
        row = int(np.argmin(np.isfinite(answers.reshape(len(answers), -1)).all(axis=1)))
        raise ValueError(
            "`X` must be closer to the training data, or the model be another: what it predicts "
            f"for row {row} is too large for floating-point numbers."
        )
    return answers


class Predicting:
    """What the estimators do with inputs after a fit."""

    network_: Network
    seen_: Seen | None

    def _outputs(self, X: ArrayLike) -> Float64:
        """Return the outputs of the network, with the inputs checked by scikit-learn."""
        check_is_fitted(self)
        return finite_answers(self._of_blocks(X, self.network_.predict))

    def _of_blocks(self, X: ArrayLike, function: Callable[[Any], Float64]) -> Float64:
        """Return a function of inputs, which are checked, block by block if given in blocks."""
        # The answers are checked instead.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(X, str | os.PathLike):
                parts = [function(block) for block in self._inputs_of_files(Path(X))]
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
        check_unmasked(X, "X")
        X = encode_categories(self, X)
        with named("X"), naming_columns(X):
            return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

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
        return Outside(found[:, :d] > 0, found[:, d], self._input_names())

    def _input_names(self) -> tuple[str, ...]:
        names = self.network_.feature_names
        return tuple(f"x{j}" for j in range(self.network_.n_features)) if names is None else names

    def _outside_columns(self, X: Any) -> Float64:
        """Return ones for values outside the training data, and the distance as last column."""
        X, seen = check_matrix(X, "X"), getattr(self, "seen_", None)
        assert self.network_.input_range is not None
        beyond = columns_outside(X, self.network_.input_range)
        distance = np.full(len(X), np.nan) if seen is None else seen.distance(X)
        return np.column_stack([beyond, distance])

    def _inputs_of_files(self, path: Path) -> Iterator[Any]:
        names = self.network_.feature_names
        if names is None:
            raise ValueError(
                "`X` must be an array for a model that was not fitted on named columns, got the "
                f"file {os.fspath(path)}."
            )
        return parquet_inputs(path, names)
