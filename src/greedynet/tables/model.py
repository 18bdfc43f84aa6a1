"""`TableModel`: an estimator together with the columns it was fitted on."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators.predicting import r_squared
from greedynet.estimators.saving import SaveMixin, restore
from greedynet.model.network import Network
from greedynet.model.uncertainty.expectation import Expectation
from greedynet.model.uncertainty.outside import Outside
from greedynet.support.tensorfile import StoredTree, write_tree
from greedynet.support.types import Float64
from greedynet.tables.columns import (
    Columns,
    Missing,
    Unknown,
    blanked,
    check_choices,
    encode,
    encode_blocks,
    is_table,
)
from greedynet.tables.hold_out import without_scores
from greedynet.tables.kinds import Kind, Numbers, from_state
from greedynet.tables.readers import Block, Table, open_as_fitted
from greedynet.tables.scores import labelled_rows
from greedynet.tables.stored import table_of
from greedynet.tables.summary import expectation_of, summary_of

KIND = "TableModel"


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted estimator that takes tables: files, data frames, or named columns.

    Parameters
    ----------
    columns : Columns
        The encoding of rows of a table as inputs of the estimator.
    estimator : GreedyNetRegressor, GreedyNetClassifier or Network
        The model that predicts.
    target : str or None, default=None
        The column that is predicted.
    missing : {"learn", "drop", "mean"} or None, default=None
        How empty cells were treated in training.
    about : mapping, default={}
        Plain values about the origin of the model.

    Examples
    --------
    >>> import greedynet
    >>> table = {"size": [1, 2, 3, 4, 5, 6], "color": ["red", "blue"] * 3, "y": [2, 2, 4, 4, 6, 6]}
    >>> model = greedynet.fit_table(table, "y", n_nodes=2)
    >>> model.columns.features
    ('size', 'color=blue', 'color=red')
    >>> model.predict({"color": ["blue"], "size": [3]}).round(6)
    array([3.])
    """

    columns: Columns
    estimator: Any
    target: str | None = None
    missing: Missing = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def network(self) -> Network:
        """The network, of one hidden layer or of two."""
        found = self.estimator
        return found if isinstance(found, Network) else found.network_

    @property
    def classes_(self) -> NDArray[Any] | None:
        """The classes, or None if numbers are predicted."""
        return self.estimator.classes_ if isinstance(self.estimator, GreedyNetClassifier) else None

    @property
    def target_kind(self) -> Kind:
        """What the target holds if it has no classes: how its cells are read as numbers."""
        stored = (self.about.get("reading") or {}).get("target")
        return Numbers() if stored is None else from_state(stored)

    @property
    def target_gaps(self) -> tuple[str, ...]:
        """Texts of the target such as "n/a" that are empty cells."""
        return tuple((self.about.get("reading") or {}).get("target_gaps", ()))

    @property
    def expectation(self) -> Expectation | None:
        """The errors to expect on new rows; None if nothing is known about any rows."""
        return expectation_of(self)

    def summary(self) -> str:
        """Return the errors to expect on new rows, and what was fitted to what, as text.

        Returns
        -------
        text : str
            Of several lines, the errors first.
        """
        return summary_of(self)

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        *,
        missing: Missing = None,
        unknown: Unknown = "error",
    ) -> Any:
        """Predict numbers or classes.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            A table with the columns of the training data; or its features as a matrix.
        return_std : bool, default=False
            For numbers, whether to return the standard deviations of the errors to expect, too.
        missing : {"learn", "drop", "mean"} or None, default=None
            How to treat empty cells of a table. "mean": as learned in columns that had some in
            training, and elsewhere by the mean of the training data; "learn": the same, but the
            latter is an error; "drop": no prediction for the row, NaN, or None for a class. None
            for the same as in training, but an error instead of "drop".
        unknown : {"error", "zero"}, default="error"
            How to treat levels of a category that the training data did not contain: "zero" for
            none of the known ones. Where rare levels were pooled, they belong to these.

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        model = self._regressor("predict(X, return_std=True)") if return_std else None
        inputs, full = self._encoded(X, missing, unknown)
        if model is None:
            blank = np.nan if self.classes_ is None else None
            return blanked(self._predicted(inputs), full, blank)
        with _names_are_known():
            y, std = model.predict(inputs, return_std=True)
        return blanked(y, full), blanked(std, full)

    def predict_interval(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        missing: Missing = None,
        unknown: Unknown = "error",
    ) -> tuple[Float64, Float64]:
        """Return intervals that contain new numbers with a given probability.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            As for `predict`.
        coverage : float, default=0.9
            Share of new numbers that the intervals shall contain.
        missing : {"learn", "drop", "mean"} or None, default=None
            How to treat empty cells, as for `predict`.
        unknown : {"error", "zero"}, default="error"
            How to treat levels that the training data did not contain, as for `predict`.

        Returns
        -------
        low, high : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        model = self._regressor("predict_interval")
        inputs, full = self._encoded(X, missing, unknown)
        with _names_are_known():
            low, high = model.predict_interval(inputs, coverage)
        return blanked(low, full), blanked(high, full)

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        missing: Missing = None,
        unknown: Unknown = "error",
    ) -> NDArray[np.bool_]:
        """Return sets of classes that contain the class of new rows with a given probability.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            As for `predict`.
        coverage : float, default=0.9
            Share of new rows whose class shall be in their set.
        missing : {"learn", "drop", "mean"} or None, default=None
            How to treat empty cells, as for `predict`.
        unknown : {"error", "zero"}, default="error"
            How to treat levels that the training data did not contain, as for `predict`.

        Returns
        -------
        sets : ndarray of bool, of shape (n_rows, n_classes)
            In the order of `classes_`; without any for a row that is dropped.
        """
        if self.classes_ is None:
            raise AttributeError(
                "`predict_set` is available for classes only; this model predicts numbers: write "
                "`predict_interval`."
            )
        inputs, full = self._encoded(X, missing, unknown)
        with _names_are_known():
            found = np.asarray(self.estimator.predict_set(inputs, coverage))
        return blanked(found, full, False)

    def outside(self, X: Any, *, missing: Missing = None, unknown: Unknown = "error") -> Outside:
        """Return which rows are outside the training data, where predictions are guesses.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            As for `predict`.
        missing : {"learn", "mean"} or None, default=None
            How to treat empty cells, as for `predict`.
        unknown : {"error", "zero"}, default="error"
            How to treat levels that the training data did not contain, as for `predict`.

        Returns
        -------
        outside : Outside
            With one column for each column of the table, and then for each "... is missing".
        """
        if isinstance(self.estimator, Network):
            raise AttributeError(
                "`outside` needs a model that was fitted; this file contains only its network: "
                "save the model itself by `save`."
            )
        with _names_are_known():
            found = self.estimator.outside(self.inputs(X, missing=missing, unknown=unknown))
        starts = np.cumsum([0, *(column.n_features for column in self.columns.inputs)])[:-1]
        columns = np.logical_or.reduceat(found.columns, starts, axis=1)
        return Outside(columns, found.distance, self.columns.labels)

    def _regressor(self, what: str) -> GreedyNetRegressor:
        if isinstance(self.estimator, GreedyNetRegressor):
            return self.estimator
        advice = (
            "this file contains only its network: save the model itself by `save`"
            if self.classes_ is None
            else "this model predicts classes: write `predict_set`"
        )
        raise AttributeError(f"`{what}` is available for fitted models of numbers; {advice}.")

    def predict_proba(
        self, X: Any, *, missing: Missing = None, unknown: Unknown = "error"
    ) -> Float64:
        """Return the probability of every class.

        Parameters
        ----------
        X : str, path, data frame, mapping or array-like of shape (n_rows, n_features)
            As for `predict`.
        missing : {"learn", "drop", "mean"} or None, default=None
            How to treat empty cells, as for `predict`.
        unknown : {"error", "zero"}, default="error"
            How to treat levels that the training data did not contain, as for `predict`.

        Returns
        -------
        p : ndarray of shape (n_rows, n_classes)
        """
        if self.classes_ is None:
            raise AttributeError(
                "`predict_proba` is available for classes only; this model predicts numbers."
            )
        inputs, full = self._encoded(X, missing, unknown)
        return blanked(self._probabilities(inputs), full)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 for numbers, and the accuracy for classes, as scikit-learn's estimators do.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            As for `predict`; a table that contains the target, too, if `y` is None.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or None, default=None
            True values; None for the column of the target. Rows without one are left out, and rows
            with empty cells where the fit dropped such rows.
        sample_weight : array-like of shape (n_rows,), str or None, default=None
            Weights of the rows; the name of a column, if `y` is None.

        Returns
        -------
        score : float
        """
        if y is None:
            if not is_table(X):
                raise ValueError(
                    "`y` must be given for an array, which has no column to predict, got None: "
                    "write `score(X, y)`, or give a table with the target."
                )
            X, y, sample_weight = labelled_rows(self, open_as_fitted(self.about, X), sample_weight)
        measure = r_squared if self.classes_ is None else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def truncate(self, n_nodes: int | None = None, *, within: float | None = None) -> Self:
        """Return a copy with fewer nodes, without a new fit; see the `truncate` of the estimator.

        Parameters
        ----------
        n_nodes : int or None, default=None
            Number of nodes, one of `estimator.path_.n_nodes`.
        within : float or None, default=None
            Instead: the fewest nodes whose held-out error is larger by at most such a share.

        Returns
        -------
        model : TableModel
            It knows no errors of its own, only that of the estimator, if there is one: `score`
            tells them on any table.
        """
        if isinstance(self.estimator, Network):
            raise AttributeError(
                "`truncate` needs a model that was fitted; this file contains only its network: "
                "save the model itself by `save`."
            )
        # Errors were measured on the larger network.
        unknown = {"training": None, "validation": None}
        held_out = without_scores(self.about.get("held_out"))
        about = {**self.about, **unknown, "held_out": held_out}
        return replace(self, estimator=self.estimator.truncate(n_nodes, within=within), about=about)

    def predict_blocks(
        self,
        table: Table,
        *,
        missing: Missing = None,
        unknown: Unknown = "error",
    ) -> Iterator[tuple[NDArray[Any], Float64 | None, NDArray[np.bool_]]]:
        """Predict the rows of a table in order, several thousand at a time.

        Parameters
        ----------
        table : Table
            The rows.
        missing : {"learn", "drop", "mean"} or None
            How to treat rows with empty cells, as for `predict`. None for the same as in training.
        unknown : {"error", "zero"}
            How to treat levels of a category that the training data did not contain.

        Yields
        ------
        predictions : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Numbers or classes.
        probabilities : ndarray of shape (n_rows, n_classes) or None
            For classes.
        full : ndarray of bool, of shape (n_rows,)
            False for rows without a prediction, whose values are meaningless.
        """
        missing = missing or self.missing
        for X, full, _ in self.encode_blocks(table, missing=missing, unknown=unknown):
            X[~full] = 0.0
            p = None if self.classes_ is None else self._probabilities(X)
            yield self._predicted(X), p, full

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file from which `greedynet.load` restores it.

        Parameters
        ----------
        path : str or path
            A name such as "model.safetensors". The file contains numbers and text, no code.
        """
        tree = {
            "columns": self.columns.state(),
            "target": self.target,
            "missing": self.missing,
            "about": dict(self.about),
            "estimator": _state(self.estimator),
        }
        write_tree(path, KIND, tree)

    @classmethod
    def from_contents(cls, contents: StoredTree) -> "TableModel":
        """Return the model from the contents of a file."""
        tree = dict(contents.tree)
        inner = dict(tree["estimator"])
        kind = inner.pop("kind")
        columns, target, missing, about = table_of(tree)
        estimator = restore(StoredTree(kind, inner, contents.library_version))
        return cls(columns, estimator, target, missing, about)

    def encode_blocks(
        self,
        table: Table,
        *,
        missing: Missing = None,
        unknown: Unknown = "error",
        also: Sequence[str] = (),
    ) -> Iterator[tuple[Float64, NDArray[np.bool_], Block]]:
        """Yield inputs of the estimator, a mask of the complete rows, and the columns `also`.

        The parameters are those of `predict_blocks`, but without `missing`, empty cells raise an
        error.
        """
        return encode_blocks(self.columns, table, missing=missing, unknown=unknown, also=also)

    def inputs(self, X: Any, *, missing: Missing = None, unknown: Unknown = "error") -> Any:
        """Return the inputs of the estimator, `(n_rows, n_features)`; a matrix stays unchanged.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            As for `predict`.
        missing : {"learn", "mean"} or None, default=None
            How to treat empty cells, as for `predict`.
        unknown : {"error", "zero"}, default="error"
            How to treat levels that the training data did not contain, as for `predict`.
        """
        if missing == "drop":
            raise ValueError(
                '`missing` must be "learn", "mean" or None where every row is needed, got "drop": '
                "drop the rows before."
            )
        return self._encoded(X, missing, unknown)[0]

    def _encoded(
        self, X: Any, missing: Missing, unknown: Unknown
    ) -> tuple[Any, NDArray[np.bool_] | None]:
        """Return the inputs of the estimator, and which rows are complete; None for a matrix."""
        if not is_table(X):
            return X, None
        check_choices(missing, unknown)
        how = missing or (None if self.missing == "drop" else self.missing)
        table = open_as_fitted(self.about, X)
        return encode(self.columns, table, missing=how, unknown=unknown)

    def _predicted(self, X: Any) -> NDArray[Any]:
        with _names_are_known():
            return np.asarray(self.estimator.predict(X))

    def _probabilities(self, X: Any) -> Float64:
        with _names_are_known():
            return np.asarray(self.estimator.predict_proba(X))


def _state(model: SaveMixin | Network) -> dict[str, Any]:
    kind = "network" if isinstance(model, Network) else type(model).__name__
    return {"kind": kind, **model.state()}


class _names_are_known(warnings.catch_warnings):  # noqa: N801 - a verb in use
    """Silence scikit-learn's warning about a matrix without names for an estimator with names."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return entered
