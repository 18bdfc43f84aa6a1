"""Scores of a model on a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

from greedynet.losses import Loss, Squared, get_loss
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64
from greedynet.tables.columns import Missing
from greedynet.tables.memory import by_steps
from greedynet.tables.readers import Table, TableError
from greedynet.tables.readers.base import label_text
from greedynet.tables.roles import mean_of, shares_of

if TYPE_CHECKING:
    from greedynet.tables.model import TableModel


def evaluate(
    model: "TableModel",
    table: Table,
    target: str | None = None,
    *,
    missing: Missing = None,
    weights: str | None = None,
) -> dict[str, Any]:
    """Compare a model's predictions with the target column of a table.

    The parameters are those of `TableModel.labelled_rows`.

    Returns
    -------
    scores : dict
        `rows`, `left_out`, and the scores of `scores_of`; for classes also `by_class`, see
        `scores_by_class`.
    """
    rows = model.labelled_rows(table, target, missing=missing, weights=weights)
    found = by_steps(model.predict, rows.X)
    p = None if model.classes_ is None else by_steps(model.predict_proba, rows.X)
    scores = scores_of(model.estimator, rows.y, found, p, rows.weights)
    if model.classes_ is not None:
        scores["by_class"] = scores_by_class(model.classes_, rows.y, found, rows.weights)
    return {"rows": len(rows), "left_out": rows.n_left_out, **scores}


def scores_of(
    estimator: Any,
    y: NDArray[Any],
    found: NDArray[Any],
    p: Float64 | None = None,
    weights: Float64 | None = None,
) -> dict[str, Any]:
    """Return errors by name: for numbers, or for classes if there are probabilities.

    The estimator or network determines the loss or the classes. Rows count by their weights.
    """
    share = shares_of(weights)
    if p is not None:
        at = np.searchsorted(estimator.classes_, y)
        likely = np.maximum(p[np.arange(len(y)), at], np.finfo(np.float64).tiny)
        return {
            "accuracy": mean_of(found == y, share),
            "log_loss": -mean_of(np.log(likely), share),
        }
    if found.ndim > 1:
        raise TableError(
            f"The model predicts {found.shape[1]} numbers for each row, but only one column can "
            "be compared: evaluate it in Python."
        )
    residuals = y - found
    del found  # many rows: no more than three arrays of their number at a time
    norm = _norm(residuals, share)
    scores = {"rmse": rmse(residuals, share), "mae": mean_of(np.abs(residuals), share)}
    loss = loss_of(estimator)
    of_loss = {}
    if loss is not None and not isinstance(loss, Squared):
        # Weights that sum to 1 give a mean for every loss.
        each = np.full(len(y), 1.0 / len(y)) if share is None else share
        of_loss[f"{loss.name}_loss"] = loss.size(residuals[:, None], each)
    del residuals
    spread = _norm(y - mean_of(y, share), share)
    return {**scores, "r2": 1.0 - (norm / spread) ** 2 if spread > 0 else None, **of_loss}


def scores_by_class(
    classes: NDArray[Any], y: NDArray[Any], found: NDArray[Any], weights: Float64 | None = None
) -> list[dict[str, Any]]:
    """Return precision and recall of each class, in the order of the classes.

    Of the rows for which a class is predicted, its precision is the share that have it; of the rows
    that have it, its recall is the share for which it is predicted. Each is None where there are no
    such rows; `rows` is the number of those that have the class.
    """
    found_shares = precision_recall_fscore_support(
        y, found, labels=classes, sample_weight=weights, zero_division=np.nan
    )
    return [
        {
            "class": label_text(label),
            "rows": int(np.sum(y == label)),
            "precision": None if np.isnan(precision) else float(precision),
            "recall": None if np.isnan(recall) else float(recall),
        }
        for label, precision, recall in zip(classes.tolist(), *found_shares[:2], strict=True)
    ]


def measure_of(scores: Mapping[str, Any]) -> str:
    """Return the name of the score that a model is judged by: that of its loss, or "accuracy"."""
    if "accuracy" in scores:
        return "accuracy"
    if "absolute_error_loss" in scores or "huber_loss" in scores:
        return "mae"
    return next((name for name in scores if name.endswith("_loss")), "rmse")


def rmse(residuals: Float64, share: Float64 | None = None) -> float:
    """Return the root mean square, without overflow; rows may have shares that sum to 1."""
    norm = _norm(residuals, share)
    return norm / len(residuals) ** 0.5 if share is None else norm


def _norm(values: Float64, share: Float64 | None) -> float:
    return safe_norm(values if share is None else values * np.sqrt(share))


def loss_of(estimator: Any) -> Loss | None:
    """Return the loss that a regressor minimised; None for classes and for networks."""
    if not hasattr(estimator, "loss"):
        return None
    return get_loss(estimator.loss)
