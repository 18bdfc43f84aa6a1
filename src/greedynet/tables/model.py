"""`TableModel`: an estimator together with the columns it was fitted on."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    Encoded,
    Missing,
    blanked,
    check_missing,
    encode_blocks,
    is_table,
    joined,
)
from greedynet.tables.findings import check_present
from greedynet.tables.hold_out import without_scores
from greedynet.tables.kinds import Numbers, from_state
from greedynet.tables.labelled import LabelledRows, TargetColumn, read_filled
from greedynet.tables.readers import Table, TableError, open_as_fitted
from greedynet.tables.roles import Roles
from greedynet.tables.stored import table_of
from greedynet.tables.summary import expectation_of, summary_of
from greedynet.tables.totals import leave_out_totals

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
    def expectation(self) -> Expectation | None:
        """The errors to expect on new rows; None if nothing is known about any rows."""
        return expectation_of(self)

    def summary(self) -> str:
        """Return the errors to expect on new rows, and then what was fitted to what, in lines."""
        return summary_of(self)

    def predict(self, X: Any, return_std: bool = False, *, missing: Missing = None) -> Any:
        """Predict numbers or classes.

        A level of a category that the training data did not contain is predicted like rare levels,
        if some were pooled, and else like the average; a `TableWarning` counts such cells.

        Parameters
        ----------
        X : str, path, data frame, mapping, Table or array-like of shape (n_rows, n_features)
            A table with the columns of the training data; or its features as a matrix.
        return_std : bool, default=False
            For numbers, whether to return the standard deviations of the errors to expect, too.
        missing : {"learn", "drop", "mean"} or None, default=None
            How to treat empty cells of a table. "learn": as learned in columns that had some in
            training, and elsewhere by the mean of the training data, which a `TableWarning` counts;
            "mean": the same without a warning; "drop": no prediction for the row, NaN, or None for
            a class. None for the same as in training, but an error instead of "drop".

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        if return_std:
            model = self._regressor("predict(X, return_std=True)")
            return self._answers(X, missing, lambda rows: model.predict(rows, return_std=True))
        blank = np.nan if self.classes_ is None else None
        (found,) = self._answers(X, missing, lambda rows: (self.estimator.predict(rows),), blank)
        return found

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, missing: Missing = None
    ) -> tuple[Float64, Float64]:
        """Return intervals that contain new numbers with a given probability.

        Parameters
        ----------
        X, missing
            As for `predict`.
        coverage : float, default=0.9
            Share of new numbers that the intervals shall contain.

        Returns
        -------
        low, high : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        model = self._regressor("predict_interval")
        low, high = self._answers(X, missing, lambda rows: model.predict_interval(rows, coverage))
        return low, high

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, missing: Missing = None
    ) -> NDArray[np.bool_]:
        """Return sets of classes that contain the class of new rows with a given probability.

        Parameters
        ----------
        X, missing
            As for `predict`.
        coverage : float, default=0.9
            Share of new rows whose class shall be in their set.

        Returns
        -------
        sets : ndarray of bool, of shape (n_rows, n_classes)
            In the order of `classes_`; without any for a row that is dropped.
        """
        model = self._classifier("predict_set", ": write `predict_interval`")
        (found,) = self._answers(
            X, missing, lambda rows: (model.predict_set(rows, coverage),), False
        )
        return found

    def predict_proba(self, X: Any, *, missing: Missing = None) -> Float64:
        """Return the probability of every class, `(n_rows, n_classes)`.

        Parameters
        ----------
        X, missing
            As for `predict`.
        """
        model = self._classifier("predict_proba")
        (found,) = self._answers(X, missing, lambda rows: (model.predict_proba(rows),))
        return found

    def outside(self, X: Any, *, missing: Missing = None) -> Outside:
        """Return which rows are outside the training data, where predictions are guesses.

        Parameters
        ----------
        X, missing
            As for `predict`, but without "drop".

        Returns
        -------
        outside : Outside
            With one column for each column of the table, and then for each "... is missing"; a
            level that the training data did not contain is outside.
        """
        return self.outside_of(self._encoded(X, missing, every=True))

    def outside_of(self, rows: Encoded) -> Outside:
        """Return which rows of a table are outside the training data."""
        self._check_fitted("outside")
        with _names_are_known():
            found = self.estimator.outside(rows.X)
        starts = np.cumsum([0, *(column.n_features for column in self.columns.inputs)])[:-1]
        columns = np.logical_or.reduceat(found.columns, starts, axis=1)
        labels = self.columns.labels
        for name, mask in rows.new.items():
            columns[:, labels.index(name)] |= mask
        return Outside(columns, found.distance, labels)

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
            if sample_weight is not None and not isinstance(sample_weight, str):
                raise ValueError(
                    "`sample_weight` must be the name of a column where `y` is one, got "
                    f"{type(sample_weight).__name__}: write `score(X, y, sample_weight)`."
                )
            rows = self.labelled_rows(open_as_fitted(self.about, X), weights=sample_weight)
            X, y, sample_weight = rows.X, rows.y, rows.weights
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
        self._check_fitted("truncate")
        # Errors were measured on the larger network.
        unknown = {"training": None, "validation": None}
        held_out = without_scores(self.about.get("held_out"))
        about = {**self.about, **unknown, "held_out": held_out}
        return replace(self, estimator=self.estimator.truncate(n_nodes, within=within), about=about)

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

    # Rows of a table

    def labelled_rows(
        self,
        table: Table,
        target: str | None = None,
        *,
        missing: Missing = None,
        weights: str | None = None,
    ) -> LabelledRows:
        """Return the rows of a table that have all inputs, a target and a weight.

        Parameters
        ----------
        target : str or None
            The column to predict; None for the one the model was fitted to.
        missing : {"learn", "drop", "mean"} or None
            As for `predict`, but "drop" leaves the rows out; None for the same as in training.
        weights : str or None
            Column of weights; None if every row counts once.
        """
        target = self.target if target is None else str(target)
        if target is None:
            raise TableError("The model does not know which column it predicts: give `target`.")
        check_present(table, [target], "target")
        if self.about.get("totals"):
            leave_out_totals(table)
        how = missing or self.missing
        return read_filled(self.columns, self._target(target), table, how, Roles(weights=weights))

    def inputs(self, X: Any, *, missing: Missing = None) -> Any:
        """Return the inputs of the estimator, `(n_rows, n_features)`; a matrix stays unchanged.

        Parameters
        ----------
        X, missing
            As for `predict`, but without "drop".
        """
        return self._encoded(X, missing, every=True).X

    def _target(self, name: str) -> TargetColumn:
        """Return a column that holds what is predicted, and how its cells are read."""
        stored = self.about.get("reading") or {}
        kind = from_state(stored["target"]) if "target" in stored else Numbers()
        return TargetColumn(name, kind, self.classes_, tuple(stored.get("target_gaps", ())))

    def _encoded(self, X: Any, missing: Missing, *, every: bool = False) -> Encoded:
        """Return the inputs of the estimator; all rows are complete if `every` one is needed."""
        if missing == "drop" and every:
            raise ValueError(
                '`missing` must be "learn", "mean" or None where every row is needed, got "drop": '
                "drop the rows before."
            )
        if not is_table(X):
            return Encoded(X, np.ones(0, dtype=np.bool_), {})
        check_missing(missing)
        how = missing or (None if self.missing == "drop" else self.missing)
        table = open_as_fitted(self.about, X)
        return joined(self.columns, encode_blocks(self.columns, table, missing=how))

    def _answers(
        self, X: Any, missing: Missing, ask: Callable[[Any], Sequence[Any]], blank: Any = np.nan
    ) -> tuple[Any, ...]:
        """Return what the estimator says of rows, and a blank where they are not complete."""
        rows = self._encoded(X, missing)
        with _names_are_known():
            found = ask(rows.X)
        return tuple(blanked(np.asarray(one), rows.full, blank) for one in found)

    # What there is

    def _check_fitted(self, what: str) -> None:
        if isinstance(self.estimator, Network):
            raise AttributeError(
                f"`{what}` needs a model that was fitted; this file contains only its network: "
                "save the model itself by `save`."
            )

    def _regressor(self, what: str) -> GreedyNetRegressor:
        if isinstance(self.estimator, GreedyNetRegressor):
            return self.estimator
        self._check_fitted(what)
        raise AttributeError(
            f"`{what}` is for numbers, and this model predicts classes: write `predict_set`."
        )

    def _classifier(self, what: str, advice: str = "") -> GreedyNetClassifier:
        if isinstance(self.estimator, GreedyNetClassifier):
            return self.estimator
        raise AttributeError(
            f"`{what}` is available for classes only; this model predicts numbers{advice}."
        )


def _state(model: SaveMixin | Network) -> dict[str, Any]:
    kind = "network" if isinstance(model, Network) else type(model).__name__
    return {"kind": kind, **model.state()}


@contextmanager
def _names_are_known() -> Iterator[None]:
    """Silence scikit-learn's warning about a matrix without names for an estimator with names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
