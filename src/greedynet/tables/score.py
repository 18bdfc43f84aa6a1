"""Scores of a model on a table."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.losses import Loss, Squared, get_loss
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64
from greedynet.tables.columns import checked_numbers, looked_up, parse_numbers
from greedynet.tables.encoding import Missing, Unknown
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.model import TableModel
from greedynet.tables.readers import Column, Table, TableError


def evaluate(
    model: TableModel,
    table: Table,
    target: str | None = None,
    *,
    missing: Missing = None,
    unknown: Unknown = "error",
) -> dict[str, Any]:
    """Compare a model's predictions with the target column of a table.

    Parameters
    ----------
    model : TableModel
        The model.
    table : Table
        The rows.
    target : str or None
        The column to predict; None for the one the model was fitted to.
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells, as for `TableModel.predict`, but "drop" leaves the rows out; None
        for the same as in training. Rows without a target are dropped in all cases.
    unknown : {"error", "zero"}
        How to treat levels of a category that the training data did not contain.

    Returns
    -------
    scores : dict
        `rows`, `left_out`, and the scores of `scores_of`.
    """
    wanted, found, chances, left_out = [], [], [], 0
    for X, y, n_left_out in labelled_blocks(model, table, target, missing=missing, unknown=unknown):
        left_out += n_left_out
        if not len(y):
            continue
        wanted.append(y)
        found.append(model.predict(X))
        if model.classes is not None:
            chances.append(model.predict_proba(X))
    if not wanted:
        raise TableError(f"{table.label} has no rows to compare with.")
    y = np.concatenate(wanted)
    p = np.concatenate(chances) if chances else None
    scores = scores_of(model.estimator, y, np.concatenate(found), p)
    return {"rows": len(y), "left_out": left_out, **scores}


def labelled_blocks(
    model: TableModel,
    table: Table,
    target: str | None = None,
    *,
    missing: Missing = None,
    unknown: Unknown = "error",
) -> Iterator[tuple[Float64, NDArray[Any], int]]:
    """Yield the rows of a table that have all inputs and a target, several thousand at a time.

    The parameters are those of `evaluate`.

    Yields
    ------
    X : ndarray of shape (n_rows, n_features)
        Inputs of the estimator.
    y : ndarray of shape (n_rows,)
        Targets.
    n_left_out : int
        Number of rows of the block that were dropped.
    """
    target = model.target if target is None else str(target)
    if target is None:
        raise TableError("The model does not know which column it predicts: give `target`.")
    check_present(table, [target], "target")
    missing = missing or model.missing
    findings = Findings(table.label, empty_is_fine=missing is not None)
    start = 0
    for X, full, block in model.encode_blocks(
        table, missing=missing, unknown=unknown, also=[target]
    ):
        y, has_y = read_target(block[target], target, model.classes, findings, start)
        start += len(X)
        keep = full & has_y
        if not findings.serious:
            yield X[keep], y[keep], int(np.sum(~keep))
    findings.check()


def scores_of(
    estimator: Any, y: NDArray[Any], found: NDArray[Any], p: Float64 | None = None
) -> dict[str, Any]:
    """Return errors by name: for numbers, or for classes if there are probabilities.

    Parameters
    ----------
    estimator : estimator, ShallowNetwork or DeepNetwork
        The model, which determines the loss or the classes.
    y, found : ndarray of shape (n_rows,)
        True and predicted values.
    p : ndarray of shape (n_rows, n_classes) or None
        Probabilities.
    """
    if p is not None:
        at = np.searchsorted(estimator.classes_, y)
        likely = np.maximum(p[np.arange(len(y)), at], np.finfo(np.float64).tiny)
        return {
            "accuracy": float(np.mean(found == y)),
            "log_loss": float(-np.mean(np.log(likely))),
        }
    if found.ndim > 1:
        raise TableError(
            f"The model predicts {found.shape[1]} numbers for each row, but only one column can "
            "be compared: evaluate it in Python."
        )
    residuals = y - found
    norm, spread = safe_norm(residuals), safe_norm(y - y.mean())
    scores = {
        "rmse": rmse(residuals),
        "mae": float(np.mean(np.abs(residuals))),
        "r2": 1.0 - (norm / spread) ** 2 if spread > 0 else None,
    }
    loss = loss_of(estimator)
    if loss is not None and not isinstance(loss, Squared):
        # Weights that sum to 1 give a mean for every loss.
        weights = np.full(len(y), 1.0 / len(y))
        scores[f"{loss.name}_loss"] = loss.size(residuals[:, None], weights)
    return scores


def measure_of(scores: Mapping[str, Any]) -> str:
    """Return the name of the score that a model is judged by: that of its loss, or "accuracy"."""
    if "accuracy" in scores:
        return "accuracy"
    if "absolute_loss" in scores or "huber_loss" in scores:
        return "mae"
    return next((name for name in scores if name.endswith("_loss")), "rmse")


def rmse(residuals: Float64) -> float:
    """Return the root mean square, without overflow."""
    return safe_norm(residuals) / len(residuals) ** 0.5


def loss_of(estimator: Any) -> Loss | None:
    """Return the loss that a regressor minimised; None for classes and for networks."""
    if not hasattr(estimator, "loss"):
        return None
    return get_loss(estimator.loss, estimator.quantile)


def read_target(
    cells: Column, name: str, classes: NDArray[Any] | None, findings: Findings, start: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target of a block, and a mask of the rows that have one; record problems.

    Parameters
    ----------
    cells : ndarray
        The column.
    name : str
        Its name.
    classes : ndarray or None
        The classes it may contain; None for numbers.
    findings : Findings
        Records problems.
    start : int
        Number of rows before the block.
    """
    if classes is None:
        y = checked_numbers(cells, name, findings, start)
        return y, ~np.isnan(y)
    if classes.dtype.kind in "iuf":
        numbers, text = parse_numbers(cells)
        labels: NDArray[Any] = numbers
        empty, known = np.isnan(numbers) & ~text, np.isin(numbers, classes)
    else:
        place = {str(label): i for i, label in enumerate(classes.tolist())}
        at = looked_up(cells, lambda text: place.get(text, -1 if text else -2))
        labels, empty, known = classes[np.maximum(at, 0)], at == -2, at >= 0
    findings.note("empty", name, empty, cells, start)
    findings.note("class", name, ~known & ~empty, cells, start)
    return labels, ~empty
