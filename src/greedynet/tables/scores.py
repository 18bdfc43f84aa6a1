"""Scores of a model on a table."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.losses import Loss, Squared, get_loss
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64
from greedynet.tables.columns import Input, Missing, encode_blocks, target_input
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.readers import Column, Table, TableError
from greedynet.tables.readers.base import label_text, looked_up, parse_numbers
from greedynet.tables.roles import check_some_weight, mean_of, read_weights, shares_of
from greedynet.tables.totals import leave_out_totals

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

    Parameters
    ----------
    target : str or None
        The column to predict; None for the one the model was fitted to.
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells, as for `TableModel.predict`, but "drop" leaves the rows out; None
        for the same as in training. Rows without a target are dropped in all cases.
    weights : str or None
        Column of weights, by which rows count; None if every row counts once.

    Returns
    -------
    scores : dict
        `rows`, `left_out`, and the scores of `scores_of`; for classes also `by_class`, see
        `scores_by_class`.
    """
    wanted, found, chances, counts, left_out = [], [], [], [], 0
    blocks = labelled_blocks(model, table, target, missing=missing, weights=weights)
    for X, y, w, n_left_out in blocks:
        left_out += n_left_out
        if not len(y):
            continue
        wanted.append(y)
        found.append(model.predict(X))
        if model.classes_ is not None:
            chances.append(model.predict_proba(X))
        if w is not None:
            counts.append(w)
    if not wanted:
        raise TableError(f"{table.label} has no rows to compare with.")
    y, predicted = np.concatenate(wanted), np.concatenate(found)
    p = np.concatenate(chances) if chances else None
    w = check_some_weight(np.concatenate(counts), weights, table.label) if counts else None
    scores = scores_of(model.estimator, y, predicted, p, w)
    if model.classes_ is not None:
        scores["by_class"] = scores_by_class(model.classes_, y, predicted, w)
    return {"rows": len(y), "left_out": left_out, **scores}


def labelled_blocks(
    model: "TableModel",
    table: Table,
    target: str | None = None,
    *,
    missing: Missing = None,
    weights: str | None = None,
) -> Iterator[tuple[Float64, NDArray[Any], Float64 | None, int]]:
    """Yield the rows of a table that have all inputs and a target, several thousand at a time.

    The parameters are those of `evaluate`. Yields inputs of the estimator, targets, weights, if
    there is a column of them, and the number of rows of the block that were dropped.
    """
    target = model.target if target is None else str(target)
    if target is None:
        raise TableError("The model does not know which column it predicts: give `target`.")
    check_present(table, [target], "target")
    if model.about.get("totals"):
        leave_out_totals(table)
    missing = missing or model.missing
    findings = Findings(table.label, empty_is_fine=missing is not None)
    start = 0
    column = target_input(target, model.classes_, model.target_kind, model.target_gaps)
    column = column.written(table.marks)
    also = [] if weights is None else [weights]
    how: dict[str, Any] = {"missing": missing, "also": also, "target": column}
    for rows in encode_blocks(model.columns, table, **how):
        y, has_y = read_target(rows.cells[target], column, model.classes_, findings, start)
        keep, w = rows.full & has_y, None
        if weights is not None:
            w, has_w = read_weights(rows.cells[weights], weights, findings, start)
            keep &= has_w
        start += len(y)
        if not findings.serious:
            yield rows.X[keep], y[keep], None if w is None else w[keep], int(np.sum(~keep))
    findings.check()


def labelled_rows(
    model: "TableModel", table: Table, weights: str | None = None
) -> tuple[Float64, NDArray[Any], Float64 | None]:
    """Return all rows of a table that have all inputs and a target, and their weights."""
    if weights is not None and not isinstance(weights, str):
        raise ValueError(
            "`sample_weight` must be the name of a column where `y` is one, got "
            f"{type(weights).__name__}: write `score(X, y, sample_weight)`."
        )
    parts = [part for part in labelled_blocks(model, table, weights=weights) if len(part[1])]
    if not parts:
        raise TableError(f"{table.label} has no rows to compare with.")
    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    if weights is None:
        return X, y, None
    w = np.concatenate([part[2] for part in parts if part[2] is not None])
    return X, y, check_some_weight(w, weights, table.label)


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
    share = shares_of(weights)

    def ratio(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> float | None:
        size = mean_of(whole, share)
        return mean_of(part & whole, share) / size if size > 0 else None

    scores = []
    for label in classes.tolist():
        has, predicted = y == label, found == label
        counts = {"class": label_text(label), "rows": int(has.sum())}
        scores.append(
            {**counts, "precision": ratio(has, predicted), "recall": ratio(predicted, has)}
        )
    return scores


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


def read_target(
    cells: Column,
    column: Input,
    classes: NDArray[Any] | None,
    findings: Findings,
    start: int,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target of a block, and a mask of the rows that have one; record problems.

    It has one of the classes; or, if these are None, one feature of its kind.
    """
    name = column.name
    if classes is None:
        y = np.zeros((len(cells), 1))
        column.encode(cells, y, findings, start)
        return y[:, 0], ~np.isnan(y[:, 0])
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
