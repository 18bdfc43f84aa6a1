"""Pipelines of scikit-learn that end in one of our estimators: rows as the estimator sees them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.saving import SaveMixin
from greedynet.report.subject import as_columns
from greedynet.tables.columns import Columns, Input
from greedynet.tables.model import TableModel


@dataclass(frozen=True, eq=False)
class Given:
    """What `write_report` is given: rows and rows held out, each as inputs and targets.

    Attributes
    ----------
    X, y : inputs and targets; `y` is None if it is a column of `X`
    held_out : pair of inputs and targets, a table, or None
    """

    X: Any
    y: Any
    held_out: Any


def through_pipeline(
    pipeline: Pipeline, given: Given, target: str | None
) -> tuple[TableModel, Given]:
    """Return the last step with the names of its inputs, and the rows as the others make them.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted; the last step is one of our estimators.
    given : Given
        Rows as the pipeline takes them.
    target : str or None
        Column of the target in data frames.
    """
    last = pipeline.steps[-1][1]
    if not isinstance(last, SaveMixin):
        raise TypeError(
            "`model` must be a Pipeline that ends in a greedynet estimator, got one that ends in "
            f"{type(last).__name__}: report on a pipeline whose last step is ours."
        )
    check_is_fitted(last)
    before = pipeline[:-1]
    X, y = _transformed(before, given.X, given.y, target)
    held = given.held_out
    if held is not None:
        held_X, held_y = held if isinstance(held, tuple | list) else (held, None)
        held = _transformed(before, held_X, held_y, target)
    return _named(last, before), Given(X, y, held)


def _transformed(before: Pipeline, X: Any, y: Any, target: str | None) -> tuple[Any, Any]:
    """Return rows after the steps before the last, and their targets."""
    if X is None:
        return None, None
    if y is None:
        X, y = _divided(X, target)
    found = before.transform(X) if len(before.steps) else X
    if hasattr(found, "toarray"):  # a sparse matrix, as of one-hot encoding
        found = found.toarray()
    return np.asarray(found, dtype=np.float64), y


def _divided(X: Any, target: str | None) -> tuple[Any, Any]:
    """Return the inputs and the target of a data frame."""
    is_frame = hasattr(X, "columns") and hasattr(X, "drop") and not isinstance(X, Mapping)
    if not is_frame or target is None or target not in list(X.columns):
        got = "no `y`" if is_frame else f"{type(X).__name__} without `y`"
        raise ValueError(
            "`y` must be given with the rows of a pipeline, or be a column of a data frame that "
            f"`target` names, got {got}: write `write_report(pipeline, path, X, y)`; for rows held "
            "out, `held_out=(X, y)`."
        )
    return X[[name for name in X.columns if name != target]], X[target]


def _named(last: Any, before: Pipeline) -> TableModel:
    """Return the last step with the names that the steps before give its inputs, if they do."""
    model = as_columns(last)
    if not before.steps:
        return model
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, ValueError):  # a step gives none, or the inputs had none
        return model
    if model.network.feature_names is not None or len(names) != model.network.n_features:
        return model
    return replace(model, columns=Columns(tuple(Input(name) for name in names)))
