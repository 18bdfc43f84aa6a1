"""`fit_table`: from a table to a model, with categories, empty cells and classes."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from greedynet.estimators.checkpoint import checkpoint
from greedynet.estimators.gap_choice import expects_less
from greedynet.support.errors import TableWarning
from greedynet.tables.column_types import ColumnTypes, as_names, column_types, input_names
from greedynet.tables.columns import Missing, check_missing
from greedynet.tables.estimator import fitted, scores_aside, scores_on
from greedynet.tables.findings import check_present
from greedynet.tables.hold_out import HoldOut, held_out_record
from greedynet.tables.kinds.dates import ORDERS
from greedynet.tables.labelled import LabelledRows, read_filled, read_rows
from greedynet.tables.memory import OF_DUCKDB, limit_of, matrix_bytes
from greedynet.tables.model import TableModel
from greedynet.tables.notices import notices
from greedynet.tables.readers import Table, TableError, open_table, reading_record
from greedynet.tables.roles import Roles
from greedynet.tables.survey import survey
from greedynet.tables.totals import leave_out_totals
from greedynet.tables.training import Aside, FitRows, with_units


def fit_table(
    source: Any,
    target: str,
    *,
    validate: Any = None,
    hold_out: float | None = None,
    hold_out_last: float | None = None,
    groups: str | None = None,
    weights: str | None = None,
    time: str | None = None,
    classes: bool = False,
    missing: Missing = "learn",
    ignore: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
    encoding: str | None = None,
    na: str | Sequence[str] = (),
    use: str | Sequence[str] = (),
    keep_totals: bool = False,
    sheet: str | None = None,
    query: str | None = None,
    memory_limit: float | None = None,
    progress: Callable[[int, float], None] | None = None,
    on_stage: Callable[[str], None] | None = None,
    **parameters: Any,
) -> TableModel:
    """Fit a network to a table.

    Columns of numbers are used unchanged, true and false are 1 and 0, columns of text are one-hot
    encoded, dates become elapsed time and positions in the year, the week and the day, whichever
    way the table comes. Levels with fewer than three rows and less than 1 % of all rows become one,
    "(other)", to which levels that are not in the table will belong, too. What is assumed about
    cells that could be meant otherwise is said in a `TableWarning`; what cannot be decided is an
    error.

    A target of text, or any target with `classes=True`, is fitted by a `GreedyNetClassifier`, a
    target of numbers by a `GreedyNetRegressor`.

    Parameters
    ----------
    source : str, path, data frame, Arrow table, mapping, Table, or iterable of these
        A file of CSV, TSV (also compressed), JSON lines, Parquet, Excel, DuckDB or NPZ; a folder of
        Parquet files; several files by `*`; columns in memory; or parts with the same columns,
        such as a list of files, which can be read repeatedly.
    target : str
        The column to predict; all others are inputs.
    validate : like `source`, or None, default=None
        Validation rows by which the width is chosen.
    hold_out : float or None, default=None
        Share of the rows to set aside, such as 0.2: they take no part in the fit, and show how good
        it is. A report on the same table shows them.
    hold_out_last : float or None, default=None
        Share of the rows to set aside at the end of the table, for rows in order of time.
    groups : str or None, default=None
        Column of groups, such as patients, which is not an input: the width is chosen by folds that
        keep groups together, and `hold_out` sets whole groups aside.
    weights : str or None, default=None
        Column of weights, which is not an input. Rows count by them in the fit and in the errors
        that it tells; an integer weight is equivalent to that many copies of the row.
    time : str or None, default=None
        Column of numbers or of dates: the width is chosen by folds that go forward, of
        which each is predicted from all earlier rows, and `hold_out` sets the latest rows aside. It
        is an input, too, unless it is ignored.
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
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers in text; None to detect it for each column. The model remembers it
        for files to predict from.
    thousands : {",", ".", " ", "'"} or None, default=None
        Mark between groups of three digits in text, which is remembered too; None to detect it
        where it cannot be meant otherwise.
    dates : {"dmy", "mdy"} or None, default=None
        Order of day and month in dates such as 01/02/2024; None to detect it by a day above 12.
    encoding : str or None, default=None
        Encoding of a text file, such as "cp1252"; None to detect it. The model remembers it for
        files that do not tell theirs.
    na : str or sequence of str, default=()
        Texts that stand for an empty cell, beside "NA" and the like. "n/a", "-", "?" and "." do so
        in any case where the other cells of a column are numbers or dates.
    use : str or sequence of str, default=()
        Columns to use although they look like keys or count the rows.
    keep_totals : bool, default=False
        Whether a last row of totals is a row like all others.
    sheet : str or None, default=None
        Sheet of an Excel file, or table of a DuckDB file.
    query : str or None, default=None
        What to select from a DuckDB file, such as "select * from sales where year > 2020".
    memory_limit : float or None, default=None
        Bytes that the table may take in memory as numbers, 8 for each feature and target of a row;
        a larger one is kept in a temporary file, and fitted in blocks. None for a sixth of the
        memory.
    progress : callable or None, default=None
        Called after each network that is tried with its number of nodes and its error.
    on_stage : callable or None, default=None
        Called at the start of each other stage of the fit with its description, such as "network
        of 6 neurons on 5 folds"; it may be called from several threads.
    **parameters
        Parameters of the estimator, such as `max_nodes`, `cv=5` or `class_weight="balanced"`; the
        keys of a `class_weight` may be the texts of the classes.

    Returns
    -------
    model : TableModel
    """
    began = perf_counter()
    check_missing(missing)
    _check_dates(dates)
    roles = Roles.of(groups, weights, time, dates)
    roles.check_choice(parameters, validate)
    hold, seed = HoldOut.of(hold_out, hold_out_last, roles), _seed(parameters)
    limit = limit_of(memory_limit)
    opened = partial(
        open_table,
        separator=separator,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        na=na,
        sheet=sheet,
        query=query,
        memory_limit=limit * OF_DUCKDB,
    )

    # What the columns hold.
    table, target = opened(source), str(target)
    if decimal is None and thousands is None:
        texts = {*as_names(text, table), *roles.names, *([target] if classes else [])}
        table.read_numbers([name for name in table.names if name not in texts])
    totals = "" if keep_totals else leave_out_totals(table)
    how: dict[str, Any] = {"classes": classes, "missing": missing, "dates": dates}
    types, noticed = _surveyed(table, target, roles, ignore=ignore, text=text, use=use, **how)

    # The rows, and those set aside.
    is_large = matrix_bytes(table.n_rows, types.inputs.n_features) > limit
    if is_large:
        _check_large(parameters, table.n_rows, roles)
        if on_stage is not None:
            on_stage(f"reading in blocks: {table.n_rows:,} rows")
    data = read_rows(types.inputs, types.target, table, missing, roles, on_disk=is_large)
    table.release()
    _check_enough(table, data)
    data, aside = _set_aside(data, hold, seed, classes=types.target.classes is not None)

    # Fits to them, of which one is kept.
    held = partial(_validation_rows, opened, validate, missing=missing, weights=roles.weights)
    units = with_units(types, data, aside)
    rows = FitRows.learned(types, data, aside, held, seed)
    others = [] if units is None else [FitRows.learned(*units, held, seed)]
    only_one = is_large or parameters.get("max_seconds") is not None
    fit = partial(fitted, parameters=parameters, progress=progress, on_stage=on_stage)
    best, estimator = (rows, fit(rows)) if only_one else _best_fit(fit, rows, others)

    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": table.label,
        "assumed": list(types.assumed),
        "noticed": [*([f"{table.label}: {totals}"] if totals else []), *noticed],
        "totals": bool(totals),
        "reading": reading_record(table, types.target.kind.state(), types.target.gaps),
        **roles.record(),
        **_about_rows(best, estimator),
        "seconds": perf_counter() - began,
        **({"in_blocks": True} if is_large else {}),
    }
    return TableModel(best.types.inputs, estimator, target, missing, about)


def _surveyed(
    table: Table,
    target: str,
    roles: Roles,
    *,
    ignore: str | Sequence[str],
    text: str | Sequence[str],
    use: str | Sequence[str],
    **how: Any,
) -> tuple[ColumnTypes, list[str]]:
    """Return what the columns hold, and what is noticed; warn of what is assumed."""
    use, text = as_names(use, table), as_names(text, table)
    check_present(table, use, "column")
    names = input_names(table, target, as_names(ignore, table), text, roles)
    found = survey(table, [*names, target])
    types = column_types(table, found, target, text, use=[*use, *roles.names], **how)
    for line in types.assumed:
        warnings.warn(f"{table.label}: {line}.", TableWarning, stacklevel=3)
    return types, notices(table, found, types)


def _best_fit(
    fit: Callable[[FitRows], Any], rows: FitRows, others: Sequence[FitRows]
) -> tuple[FitRows, Any]:
    """Return the rows and the fit of the smallest expected error, and the mean alone for gaps.

    A checkpoint is of the first fit.
    """
    best, estimator = rows, fit(rows)
    with checkpoint(None):
        for other in others:
            found = fit(other)
            if expects_less(found, estimator):
                best, estimator = other, found
        if best.indicators.any():
            other = best.without_indicators()
            found = fit(other)
            if expects_less(found, estimator):
                best, estimator = other, found
    return best, estimator


def _about_rows(rows: FitRows, estimator: Any) -> Mapping[str, Any]:
    """Return the numbers of rows and the scores on them, as plain values."""
    data, aside, held = rows.data, rows.aside, rows.held
    return {
        "rows": len(data),
        "left_out": data.n_left_out,
        "training": scores_on(estimator, data),
        "validation": None if held is None else scores_on(estimator, held),
        "held_out": None if aside is None else scores_aside(estimator, data, aside),
    }


def _check_dates(order: str | None) -> None:
    if order is not None and order not in ORDERS:
        raise TableError(
            f'`dates` must be "dmy" if days come before months, or "mdy", got {order!r}.'
        )


# Parameters of the estimators that need all rows in memory, and the values that do not.
_IN_MEMORY = {"cv": (None,), "search": (None, "continuous")}


def _check_large(parameters: dict[str, Any], n_rows: int, roles: Roles) -> None:
    """Raise an error for what needs all rows in memory, such as columns of groups, by argument."""
    given = {"groups": roles.groups, "time": roles.time}
    given |= {name: parameters.get(name) for name in _IN_MEMORY}
    for name, value in given.items():
        if not any(value is fine or value == fine for fine in _IN_MEMORY.get(name, (None,))):
            raise TableError(
                f"`{name}` needs all rows in memory, got {name}={value!r} for {n_rows:,} rows that "
                f"are read in blocks: omit `{name}`, give fewer rows, or raise `memory_limit`."
            )


# Rows


def _check_enough(table: Table, data: LabelledRows) -> None:
    if len(data) < 2:
        raise TableError(
            f"{table.label} has {len(data)} rows without empty cells, and a fit needs at least "
            'two: write `missing="mean"`, or ignore columns that are mostly empty.'
        )


def _set_aside(
    data: LabelledRows, hold: HoldOut | None, seed: int, *, classes: bool
) -> tuple[LabelledRows, Aside | None]:
    """Return the rows to learn from, and those set aside."""
    if hold is None:
        return data, None
    chosen = hold.mask(data.y, data.groups, seed, classes=classes, times=data.times)
    record = held_out_record(hold, chosen, data.y)
    return data.taken(~chosen), Aside(data.taken(chosen), record, hold.is_later)


def _seed(parameters: dict[str, Any]) -> int:
    seed = parameters.get("random_state", 0)
    return int(seed) if isinstance(seed, int | np.integer) else 0


def _validation_rows(
    opened: Callable[[Any], Table],
    source: Any,
    types: ColumnTypes,
    *,
    missing: Missing,
    weights: str | None,
) -> LabelledRows | None:
    """Return the validation rows, if there are some, with means of the training rows for gaps."""
    if source is None:
        return None
    return read_filled(types.inputs, types.target, opened(source), missing, Roles(weights=weights))
