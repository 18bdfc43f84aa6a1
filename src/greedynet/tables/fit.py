"""`fit_table`: from a table to a model, with categories, empty cells and classes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, Survey, cell_texts, encoded, survey
from greedynet.tables.findings import Findings, check_present, empty_cells
from greedynet.tables.holding import HoldOut, guess_of, held_out_record
from greedynet.tables.model import Missing, TableModel
from greedynet.tables.passes import TwoPasses
from greedynet.tables.readers import Table, TableError, is_text, open_table
from greedynet.tables.score import measure_of, read_target, scores_of

# Columns with more distinct values are not treated as categories.
MOST_LEVELS = 100

# A column with at least this fraction of numbers is taken to be numeric.
_MOSTLY = 0.9


def fit_table(
    source: Any,
    target: str,
    *,
    validate: Any = None,
    hold_out: float | None = None,
    hold_out_by: str | None = None,
    hold_out_last: float | None = None,
    classes: bool = False,
    missing: Missing = None,
    ignore: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    separator: str | None = None,
    decimal: str = ".",
    progress: Callable[[int, float], None] | None = None,
    on_stage: Callable[[str], None] | None = None,
    **parameters: Any,
) -> TableModel:
    """Fit a network to a table.

    Columns of numbers are used unchanged, columns of text are one-hot encoded. A target of text, or
    any target with `classes=True`, is fitted by a `GreedyNetClassifier`, a target of numbers by a
    `GreedyNetRegressor`.

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
    missing : {"drop", "mean"} or None, default=None
        How to treat empty cells: drop the row, insert the mean, or raise an error. Rows without a
        target are dropped in both cases.
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
    hold = HoldOut.of(hold_out, hold_out_by, hold_out_last)
    table = open_table(source, separator, decimal)
    target, ignore, text = str(target), _names(ignore), _names(text)
    if hold is not None and hold.by is not None:
        ignore = _without_groups(table, target, hold.by, ignore)
    names = _input_names(table, target, ignore, text)
    rows = TwoPasses(table)
    surveys = survey(rows, [*names, target])
    _check_rows(table, target, surveys[target])
    if missing is None:
        _refuse_empty(table, surveys)
    columns = Columns(tuple(_input(table, name, surveys[name], name in text) for name in names))
    labels = _classes(table, target, surveys[target], classes)
    by = None if hold is None else hold.by
    data = _read(rows, columns, target, labels, missing, surveys[target].rows, by)
    if data.n_left < 2:
        raise TableError(
            f"{table.label} has {data.n_left} rows without empty cells, and a fit needs at least "
            'two: write `missing="mean"`, or ignore columns that are mostly empty.'
        )
    aside = None
    if hold is not None:
        chosen = hold.mask(data.y, data.groups, _seed(parameters), classes=labels is not None)
        record = held_out_record(hold, chosen, data.y)
        aside, data = data.taken(chosen), data.taken(~chosen)
    columns = columns.with_means(data.X)
    data = data.filled(columns.means)
    if labels is not None:
        labels = np.unique(data.y)
    held = None
    if validate is not None:
        other = open_table(validate, separator, decimal)
        check_present(other, [*names, target], "column")
        held = _read(other, columns, target, labels, missing).filled(columns.means)
        if not held.n_left:
            raise TableError(f"{other.label} has no rows without empty cells.")
    estimator = _estimator(labels is not None, target, parameters)
    estimator.set_progress(progress, on_stage)
    try:
        _fit(estimator, data, held, columns.features)
    finally:
        estimator.set_progress()
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": table.label,
        "rows": data.n_left,
        "left_out": data.n_left_out,
        "training": _scores(estimator, data),
        "validation": None if held is None else _scores(estimator, held),
        "held_out": None,
        "seconds": time.perf_counter() - began,
    }
    if aside is not None:
        found = _scores(estimator, aside.filled(columns.means))
        measure = measure_of(found)
        guess = {"measure": measure, "constant": guess_of(data.y, aside.y, measure)}
        about["held_out"] = {**record, **found, **guess}
    return TableModel(columns, estimator, target, missing, about)


# Types of the columns


def _input_names(
    table: Table, target: str, ignore: Sequence[str], text: Sequence[str]
) -> list[str]:
    check_present(table, [target], "target")
    check_present(table, [*ignore, *text], "column")
    _refuse_target(target, ignore, text)
    others = [name for name in table.names if name != target]
    ignored = set(ignore)
    names = [name for name in others if name not in ignored]
    if not others:
        advice = "give columns to predict it from."
        if is_text(table):
            advice = (
                'if it should have more, set the separator, such as `separator=";"`, and name '
                "the columns in the first line: columns without a name are ignored."
            )
        raise TableError(f"{table.label} has no columns except the target {target!r}: {advice}")
    if not names:
        raise TableError(
            f"`ignore` contains every column of {table.label} except the target: keep at least one."
        )
    return names


def _without_groups(table: Table, target: str, by: str, ignore: list[str]) -> list[str]:
    """Return the columns to ignore, with the groups, which are no input."""
    check_present(table, [by], "column")
    if by == target:
        raise TableError(
            f"`hold_out_by` must be another column than the target, got {by!r}: name the column of "
            "the groups."
        )
    return ignore if by in ignore else [*ignore, by]


def _refuse_target(target: str, ignore: Sequence[str], text: Sequence[str]) -> None:
    if target in ignore:
        raise TableError(
            f"`ignore` contains the target {target!r}, which is not an input: remove it there, or "
            "choose another target."
        )
    if target in text:
        raise TableError(
            f"`text` contains the target {target!r}, which is not an input: write `classes=True` "
            "to treat its numbers as classes."
        )


def _names(given: Any) -> list[str]:
    """Return names of columns as a list of text; a single name is allowed."""
    return list(map(str, [given] if isinstance(given, str | int) else given))


def _check_rows(table: Table, target: str, found: Survey) -> None:
    if found.rows < 2:
        have = "no rows" if found.rows == 0 else "one row"
        raise TableError(f"{table.label} has {have} below the header: a fit needs at least two.")
    if found.rows - found.empty < 2:
        where = "every row" if found.rows == found.empty else "every row but one"
        raise TableError(
            f"{table.label}: the target {target!r} is empty in {where}: fill it in, or choose "
            "another target."
        )


def _refuse_empty(table: Table, surveys: dict[str, Survey]) -> None:
    found = {name: (s.empty, s.first_empty) for name, s in surveys.items() if s.empty}
    if found:
        raise TableError(f"{table.label}: {empty_cells(found)}")


def _input(table: Table, name: str, found: Survey, as_category: bool) -> Input:
    """Decide whether a column holds numbers or categories."""
    if found.empty == found.rows:
        raise TableError(
            f"{table.label}: column {name!r} is empty: drop it with `ignore={name!r}`."
        )
    if found.text is None and not as_category:
        return Input(name)
    if not as_category:
        _refuse_decimal_commas(table, f"column {name!r}", found, f"`text={name!r}`")
        _refuse_broken_numbers(table, name, found, f", or with `text={name!r}`")
    levels = _few(found)
    if levels is None:
        many = "more than 1,000" if found.distinct is None else f"{len(found.distinct):,}"
        example = "" if found.text is None else f" such as {found.text[0]!r}"
        raise TableError(
            f"{table.label}: column {name!r} is text with {many} distinct values{example} in "
            f"{found.rows:,} rows, too many for categories: drop it with `ignore={name!r}`, or "
            "convert it to numbers (with decimal points)."
        )
    return Input(name, levels)


def _refuse_decimal_commas(table: Table, what: str, found: Survey, as_text: str) -> None:
    """Raise an error for numbers with a decimal comma, which would be treated as categories."""
    full = found.rows - found.empty
    if found.text is None or not found.commas or found.numbers + found.commas < _MOSTLY * full:
        return
    raise TableError(
        f"{table.label}: {what} holds {found.commas:,} cells such as {found.text[0]!r} (data row "
        f'{found.text[1]}): if the comma is a decimal one, write `decimal=","`, or {as_text} to '
        "treat them as text."
    )


def _refuse_broken_numbers(table: Table, name: str, found: Survey, advice: str) -> None:
    full = found.rows - found.empty
    if found.text is None or found.numbers < _MOSTLY * full:
        return
    raise TableError(
        f"{table.label}: column {name!r} has {found.numbers:,} numbers, but {found.text[0]!r} in "
        f"data row {found.text[1]}: correct or empty such cells, or drop the column with "
        f"`ignore={name!r}`{advice} treat it as text."
    )


def _few(found: Survey) -> tuple[str, ...] | None:
    """Return the values of a column, sorted, if they are few enough for categories."""
    most = min(MOST_LEVELS, max(10, found.rows // 2))
    if found.distinct is None or len(found.distinct) > most:
        return None
    return tuple(sorted(found.distinct))


def _classes(table: Table, target: str, found: Survey, classes: bool) -> NDArray[Any] | None:
    """Return the classes of the target, or None if it contains numbers."""
    if found.text is None and not classes:
        return None
    if not classes:
        _refuse_decimal_commas(table, f"the target {target!r}", found, "`classes=True`")
    full = found.rows - found.empty
    if found.text is not None and not classes and found.numbers >= _MOSTLY * full:
        raise TableError(
            f"{table.label}: the target {target!r} has {found.numbers:,} numbers, but "
            f"{found.text[0]!r} in data row {found.text[1]}: correct such cells, empty them and "
            'write `missing="drop"`, or write `classes=True` to treat it as text.'
        )
    values = _few(found)
    if values is None:
        many = "more than 1,000" if found.distinct is None else f"{len(found.distinct):,}"
        what = "has" if found.text is None else f"is text (such as {found.text[0]!r}) with"
        raise TableError(
            f"{table.label}: the target {target!r} {what} {many} distinct values in "
            f"{found.rows:,} rows, too many for classes: choose another target, or convert it to "
            "numbers."
        )
    if len(values) < 2:
        raise TableError(
            f"{table.label}: the target {target!r} is {values[0]!r} in every row: there is "
            "nothing to learn."
        )
    if found.text is not None:
        return np.array(values)
    numbers = np.array(sorted(map(float, values)))
    whole = bool((numbers == np.floor(numbers)).all())
    return numbers.astype(np.int64) if whole else np.array(values)


# Rows


@dataclass(frozen=True)
class _Data:
    """Inputs, NaN for empty cells, and targets."""

    X: Float64
    y: NDArray[Any]
    n_left_out: int
    groups: NDArray[Any] | None = None

    @property
    def n_left(self) -> int:
        return len(self.y)

    def taken(self, mask: NDArray[np.bool_]) -> "_Data":
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[mask]
        return replace(self, X=self.X[mask], y=self.y[mask], groups=groups)

    def filled(self, means: Float64) -> "_Data":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=np.where(np.isnan(self.X), means, self.X))


def _read(
    table: Table,
    columns: Columns,
    target: str,
    labels: NDArray[Any] | None,
    missing: Missing,
    n_expected: int | None = None,
    by: str | None = None,
) -> _Data:
    """Read the rows, with their groups if asked for; in one piece if their number is known."""
    findings = Findings(table.label, empty_is_fine=missing is not None)
    whole = None if n_expected is None else columns.zeros(n_expected)
    parts_X, parts_y, parts_g, n_rows = [], [], [], 0
    also = [target] if by is None else [target, by]
    for X, block in encoded(columns, table, findings, also, whole):
        y, keep = read_target(block[target], target, labels, findings, n_rows)
        n_rows += len(X)
        if missing == "drop":
            keep = keep & ~np.isnan(X).any(axis=1)
        parts_X.append(X if keep.all() else X[keep])
        parts_y.append(y if keep.all() else y[keep])
        if by is not None:
            parts_g.append(cell_texts(block[by])[keep])
    findings.check()
    if not parts_X:
        raise TableError(f"{table.label} has no rows below the header.")
    y = np.concatenate(parts_y)
    if labels is not None:
        y = y.astype(labels.dtype)
    groups = None if by is None else np.concatenate(parts_g)
    if whole is not None and len(whole) == n_rows == len(y):
        return _Data(whole, y, 0, groups)
    return _Data(np.concatenate(parts_X), y, n_rows - len(y), groups)


# The fit


def _estimator(classify: bool, target: str, parameters: dict[str, Any]) -> Any:
    if not classify:
        return GreedyNetRegressor(**parameters)
    wrong = next((name for name in ("loss", "quantile", "tol") if name in parameters), None)
    if wrong is not None:
        raise TableError(
            f"`{wrong}` applies to a target of numbers, but {target!r} contains classes: omit it."
        )
    return GreedyNetClassifier(**parameters)


def _fit(
    estimator: Any,
    data: _Data,
    held: _Data | None,
    names: tuple[str, ...],
) -> None:
    """Fit, and name the features in the networks."""
    how: dict[str, Any] = {} if held is None else {"X_val": held.X, "y_val": held.y}
    if _folds_by_groups(estimator, data, held):
        how = {"groups": data.groups}
    estimator.fit(data.X, data.y, **how)
    estimator.path_ = estimator.path_.with_feature_names(names)
    estimator.network_ = replace(estimator.network_, feature_names=names)


def _folds_by_groups(estimator: Any, data: _Data, held: _Data | None) -> bool:
    """Whether folds choose the width, and shall keep groups together."""
    if data.groups is None or held is not None:
        return False
    asked = (estimator.n_nodes, estimator.validation_fraction)
    return asked == (None, None) and len(np.unique(data.groups)) > 1


def _seed(parameters: dict[str, Any]) -> int:
    seed = parameters.get("random_state", 0)
    return int(seed) if isinstance(seed, int | np.integer) else 0


def _scores(estimator: Any, data: _Data) -> dict[str, Any]:
    p = None
    if isinstance(estimator, GreedyNetClassifier):
        p = estimator.predict_proba(data.X)
    return scores_of(estimator, data.y, estimator.predict(data.X), p)
