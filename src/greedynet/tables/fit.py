"""`fit_table`: from a table to a model, with categories, empty cells and classes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators.gap_choice import expects_less
from greedynet.tables.column_types import ColumnTypes, as_names, column_types, input_names
from greedynet.tables.columns import survey
from greedynet.tables.encoding import Missing, check_choices
from greedynet.tables.findings import check_present
from greedynet.tables.gaps import Aside, FitRows
from greedynet.tables.holding import HoldOut, guess_of, held_out_record
from greedynet.tables.model import TableModel
from greedynet.tables.passes import TwoPasses
from greedynet.tables.readers import Table, TableError, open_table
from greedynet.tables.score import measure_of, scores_of
from greedynet.tables.training import TrainingRows, read_rows


def fit_table(
    source: Any,
    target: str,
    *,
    validate: Any = None,
    hold_out: float | None = None,
    hold_out_by: str | None = None,
    hold_out_last: float | None = None,
    classes: bool = False,
    missing: Missing = "learn",
    ignore: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    separator: str | None = None,
    decimal: str = ".",
    progress: Callable[[int, float], None] | None = None,
    on_stage: Callable[[str], None] | None = None,
    **parameters: Any,
) -> TableModel:
    """Fit a network to a table.

    Columns of numbers are used unchanged, columns of text are one-hot encoded; levels with fewer
    than three rows and less than 1 % of all rows become one, "(other)", to which levels that are
    not in the table will belong, too. A target of text, or any target with `classes=True`, is
    fitted by a `GreedyNetClassifier`, a target of numbers by a `GreedyNetRegressor`.

    Parameters
    ----------
    source : str, path, data frame, mapping or Table
        A CSV, TSV, Parquet or NPZ file; or columns in memory.
    target : str
        The column to predict; all others are inputs.
    validate : like `source`, or None, default=None
        Validation rows by which the width is chosen.
    hold_out : float or None, default=None
        Share of the rows to set aside, such as 0.2: they take no part in the fit, and tell how good
        it is. A report on the same table shows them.
    hold_out_by : str or None, default=None
        Column of groups, such as patients, which are set aside as a whole: `hold_out` of the rows,
        or a fifth. It is not an input, and the width is chosen by folds that keep groups together.
    hold_out_last : float or None, default=None
        Share of the rows to set aside at the end of the table, for rows in order of time.
    classes : bool, default=False
        Whether the numbers of the target are classes.
    missing : {"learn", "drop", "mean"} or None, default="learn"
        How to treat empty cells: learn what to insert, by the mean and, for each column whose empty
        cells say something about the target, an indicator, the input "... is missing" (its weights
        are those of a filling value of each neuron), if held-out rows are predicted better with
        than without; drop the row; insert the mean; or raise an error (None). Rows without a target
        are dropped in all cases but the last.
    ignore : str or sequence of str, default=()
        Columns to ignore.
    text : str or sequence of str, default=()
        Columns of numbers to treat as text, such as codes.
    separator : str or None, default=None
        Separator of the cells of a text file; None to detect it.
    decimal : {".", ","}, default="."
        Decimal separator of numbers in text. It is a property of the file, not of the model: a file
        to predict from may have another.
    progress : callable or None, default=None
        Called after each new neuron with the number of nodes and the error.
    on_stage : callable or None, default=None
        Called at the start of each other stage of the fit with its description, such as "pruning:
        31 neurons"; it may be called from several threads.
    **parameters
        Parameters of the estimator.

    Returns
    -------
    model : TableModel
    """
    began = time.perf_counter()
    check_choices(missing)
    hold = HoldOut.of(hold_out, hold_out_by, hold_out_last)
    by = None if hold is None else hold.by
    table = open_table(source, separator, decimal)
    target, ignore, text = str(target), as_names(ignore), as_names(text)
    names = input_names(table, target, ignore, text, by)

    rows = TwoPasses(table)
    found = survey(rows, [*names, target])
    types = column_types(table, found, target, text, classes=classes, missing=missing)
    data = read_rows(rows, types, missing, found[target].rows, by)
    _check_enough(table, data)

    data, aside = _set_aside(data, hold, _seed(parameters), classes=types.classes is not None)
    types = types.learned(data.X, data.y)
    means = types.inputs.means
    aside = None if aside is None else replace(aside, rows=aside.rows.filled(means))
    held = None
    if validate is not None:
        held = _validation_rows(open_table(validate, separator, decimal), types, missing)

    fit_rows = FitRows(types, data.filled(means), aside, held).with_telling_gaps()
    estimator = _fitted(fit_rows, parameters, progress, on_stage)
    if fit_rows.indicators.any() and parameters.get("max_seconds") is None:
        by_mean = fit_rows.without_indicators()
        other = _fitted(by_mean, {**parameters, "checkpoint": None}, progress, on_stage)
        if expects_less(other, estimator):
            fit_rows, estimator = by_mean, other
    types, data, aside, held = fit_rows.types, fit_rows.data, fit_rows.aside, fit_rows.held

    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": table.label,
        "rows": len(data),
        "left_out": data.n_left_out,
        "training": _scores(estimator, data),
        "validation": None if held is None else _scores(estimator, held),
        "held_out": None if aside is None else _scores_aside(estimator, data, aside),
        "seconds": time.perf_counter() - began,
    }
    return TableModel(types.inputs, estimator, target, missing, about)


# Rows


def _check_enough(table: Table, data: TrainingRows) -> None:
    if len(data) < 2:
        raise TableError(
            f"{table.label} has {len(data)} rows without empty cells, and a fit needs at least "
            'two: write `missing="mean"`, or ignore columns that are mostly empty.'
        )


def _set_aside(
    data: TrainingRows, hold: HoldOut | None, seed: int, *, classes: bool
) -> tuple[TrainingRows, Aside | None]:
    """Return the rows to learn from, and those set aside."""
    if hold is None:
        return data, None
    chosen = hold.mask(data.y, data.groups, seed, classes=classes)
    record = held_out_record(hold, chosen, data.y)
    return data.taken(~chosen), Aside(data.taken(chosen), record)


def _seed(parameters: dict[str, Any]) -> int:
    seed = parameters.get("random_state", 0)
    return int(seed) if isinstance(seed, int | np.integer) else 0


def _validation_rows(table: Table, types: ColumnTypes, missing: Missing) -> TrainingRows:
    check_present(table, types.names, "column")
    held = read_rows(table, types, missing).filled(types.inputs.means)
    if not len(held):
        raise TableError(f"{table.label} has no rows without empty cells.")
    return held


# The fit


def _estimator(types: ColumnTypes, parameters: dict[str, Any]) -> Any:
    if types.classes is None:
        return GreedyNetRegressor(**parameters)
    of_numbers = ("loss", "quantile", "tol", "hidden_layers")
    wrong = next((name for name in of_numbers if name in parameters), None)
    if wrong is not None:
        raise TableError(
            f"`{wrong}` applies to a target of numbers, but {types.target!r} contains classes: "
            "omit it."
        )
    return GreedyNetClassifier(**parameters)


def _fitted(
    rows: FitRows,
    parameters: dict[str, Any],
    progress: Callable[[int, float], None] | None,
    on_stage: Callable[[str], None] | None,
) -> Any:
    """Return a fitted estimator, with names of the features in its networks."""
    estimator = _estimator(rows.types, parameters)
    estimator.set_progress(progress, on_stage)
    try:
        _fit(estimator, rows.data, rows.held, rows.types.inputs.features)
    finally:
        estimator.set_progress()
    return estimator


def _fit(
    estimator: Any,
    data: TrainingRows,
    held: TrainingRows | None,
    names: tuple[str, ...],
) -> None:
    """Fit, and name the features in the networks."""
    how: dict[str, Any] = {} if held is None else {"X_val": held.X, "y_val": held.y}
    if _folds_by_groups(estimator, data, held):
        how = {"groups": data.groups}
    estimator.fit(data.X, data.y, **how)
    estimator.path_ = estimator.path_.with_feature_names(names)
    estimator.network_ = replace(estimator.network_, feature_names=names)


def _folds_by_groups(estimator: Any, data: TrainingRows, held: TrainingRows | None) -> bool:
    """Whether folds choose the width, and shall keep groups together."""
    if data.groups is None or held is not None:
        return False
    asked = (estimator.n_nodes, estimator.validation_fraction)
    return asked == (None, None) and len(np.unique(data.groups)) > 1


def _scores(estimator: Any, data: TrainingRows) -> dict[str, Any]:
    p = None
    if isinstance(estimator, GreedyNetClassifier):
        p = estimator.predict_proba(data.X)
    return scores_of(estimator, data.y, estimator.predict(data.X), p)


def _scores_aside(estimator: Any, data: TrainingRows, aside: Aside) -> dict[str, Any]:
    """Return the scores on the rows set aside, with that of a constant."""
    found = _scores(estimator, aside.rows)
    measure = measure_of(found)
    constant = guess_of(data.y, aside.rows.y, measure)
    return {**aside.record, **found, "measure": measure, "constant": constant}
