"""The subject of a report: any fitted model, rows on which to inspect it, and classes shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.saving import SaveMixin
from greedynet.losses.logistic import probabilities
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.support.checks import check_matrix, check_same_length
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Missing
from greedynet.tables.load import known_names, with_columns
from greedynet.tables.model import TableModel
from greedynet.tables.readers import Table
from greedynet.tables.scores import scores_of

MOST_ROWS = 1000
# Labels of rows: of arrays, and on the page.
GIVEN, HELD_OUT, TRAINING = "the rows given", "held-out rows", "training rows"


@dataclass(frozen=True, eq=False)
class SubjectRows:
    """Rows with their targets: inputs of the network, and numbers or labels of classes."""

    X: Float64
    y: NDArray[Any]
    label: str  # such as "data.csv"
    weights: Float64 | None = None  # by which rows count in errors

    def __len__(self) -> int:
        return len(self.y)

    def sample(self, n: int = MOST_ROWS) -> "SubjectRows":
        """Return at most `n` of the rows, always the same ones, in their order."""
        if len(self) <= n:
            return self
        chosen = np.sort(np.random.default_rng(0).choice(len(self), n, replace=False))
        return self.taken(chosen)

    def taken(self, chosen: NDArray[Any]) -> "SubjectRows":
        """Return some of the rows, by a mask or their positions."""
        weights = None if self.weights is None else self.weights[chosen]
        return SubjectRows(self.X[chosen], self.y[chosen], self.label, weights)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and rows on which to inspect it."""

    table: TableModel
    target: str
    rows: SubjectRows | None = None  # all that were given, but those held out
    held_out: SubjectRows | None = None
    output: int = 0  # of the network, which is shown; 0 for classes

    @property
    def inspected(self) -> SubjectRows | None:
        """The rows that the page is about: those held out, if there are any, else the others."""
        return self.rows if self.held_out is None else self.held_out

    @cached_property
    def shown(self) -> SubjectRows | None:
        """The rows of all charts and tables: a sample of those that the page is about."""
        return None if self.inspected is None else self.inspected.sample()

    @property
    def network(self) -> Network:
        return self.table.network

    @property
    def path(self) -> SelectionPath | None:
        return getattr(self.table.estimator, "path_", None)

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, or None if numbers are predicted."""
        return self.table.classes_

    @property
    def columns(self) -> Columns:
        return self.table.columns

    @property
    def about(self) -> Mapping[str, Any]:
        """Facts about the origin of the model."""
        return self.table.about

    def places(self) -> list[list[int]]:
        """Return the positions of the features of each column."""
        found, start = [], 0
        for column in self.columns.inputs:
            stop = start + len(column.features)
            found.append(list(range(start, stop)))
            start = stop
        return found

    def values(self, outputs: Float64) -> Float64:
        """Return the values shown: the output, `(n, 1)`, or probabilities, `(n, n_classes)`."""
        if self.classes is None:
            return outputs[:, self.output : self.output + 1]
        return probabilities(outputs)

    def predict(self, rows: SubjectRows) -> Float64:
        return self.values(self.network.predict(rows.X).reshape(len(rows), -1))

    def scores(self, rows: SubjectRows) -> dict[str, Any]:
        """Return the errors of the network on rows, by name."""
        values = self.predict(rows)
        if self.classes is None:
            return scores_of(self.table.estimator, rows.y, values[:, 0], weights=rows.weights)
        found = self.classes[values.argmax(axis=1)]
        return scores_of(self.table.estimator, rows.y, found, values, rows.weights)

    def class_index(self, y: NDArray[Any]) -> NDArray[np.intp]:
        return np.searchsorted(np.asarray(self.classes), y)


def row_label(subject: Subject, rows: SubjectRows) -> str:
    if rows is subject.held_out:
        return HELD_OUT
    about = subject.about
    if about.get("source") == rows.label and about.get("rows") == len(rows):
        return TRAINING
    return "rows given" if rows.label == GIVEN else f"rows of {rows.label}"


def table_rows(
    model: TableModel,
    table: Table,
    target: str | None,
    *,
    missing: Missing = None,
) -> SubjectRows:
    """Read the rows of a table that have a target, with weights if those of the fit had some."""
    weights = model.about.get("weights")
    weights = weights if weights in table.names else None
    rows = model.labelled_rows(table, target, missing=missing, weights=weights)
    return SubjectRows(rows.X, rows.y, table.label, rows.weights)


def array_rows(model: TableModel, X: Any, y: Any, output: int, label: str) -> SubjectRows:
    rows = check_matrix(X, "X")
    targets = np.asarray(y)
    check_same_length(X=rows, y=targets)
    n_features = model.network.n_features
    if rows.shape[1] != n_features:
        raise ValueError(
            f"`X` must have {n_features} columns, one for each input of the model, got "
            f"{rows.shape[1]}."
        )
    if model.classes_ is None:
        targets = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
        if targets.shape[1] != model.network.n_outputs:
            raise ValueError(
                f"`y` must have {model.network.n_outputs} columns, one for each output of the "
                f"model, got {targets.shape[1]}."
            )
        return SubjectRows(rows, targets[:, output], label)
    unknown = set(targets.tolist()) - set(model.classes_.tolist())
    if unknown:
        raise ValueError(
            f"`y` must hold the classes {model.classes_.tolist()[:6]}, got {sorted(unknown)[:3]} "
            "too: leave such rows out."
        )
    return SubjectRows(rows, targets, label)


def as_columns(model: Any) -> TableModel:
    """Return any fitted model as a `TableModel`, with named features, or x1, x2, ..."""
    if isinstance(model, TableModel):
        return model
    if not isinstance(model, Network | SaveMixin):
        last = ": pass its last step, `pipeline[-1]`" if isinstance(model, Pipeline) else ""
        raise TypeError(
            "`model` must be a TableModel, a fitted greedynet estimator or a Network, got "
            f"{type(model).__name__}{last}."
        )
    if isinstance(model, SaveMixin):
        check_is_fitted(model)
    names, n_columns = known_names(model)
    if names is None:
        names = tuple(f"x{j + 1}" for j in range(n_columns))
    return with_columns(model, names)


MOST_CLASSES = 12


@dataclass(frozen=True, eq=False)
class ShownClasses:
    """Which classes are shown."""

    names: list[str]
    place: NDArray[np.intp]  # of each class, the position at which it is shown

    @staticmethod
    def of(subject: Subject) -> "ShownClasses":
        """Return all classes, or the most frequent ones and "all others"."""
        names = [str(name) for name in np.asarray(subject.classes).tolist()]
        if len(names) <= MOST_CLASSES:
            return ShownClasses(names, np.arange(len(names)))
        counts = np.zeros(len(names))
        for rows in (subject.rows, subject.held_out):
            if rows is not None:
                counts += np.bincount(subject.class_index(rows.y), minlength=len(names))
        chosen = np.sort(np.argsort(-counts, kind="stable")[: MOST_CLASSES - 1])
        place = np.full(len(names), MOST_CLASSES - 1)
        place[chosen] = np.arange(len(chosen))
        return ShownClasses([names[i] for i in chosen] + ["all others"], place)

    def merged(self, p: Float64) -> Float64:
        """Return probabilities, classes last, with those of the merged classes summed."""
        shown = np.zeros((*p.shape[:-1], len(self.names)))
        for i, at in enumerate(self.place):
            shown[..., at] += p[..., i]
        return shown
