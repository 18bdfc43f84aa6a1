"""Types of the columns: which are inputs, which hold numbers, categories or classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, Survey
from greedynet.tables.encoding import Missing
from greedynet.tables.findings import check_present, empty_cells
from greedynet.tables.readers import Table, TableError, is_text

# Columns with more distinct values are not treated as categories.
MOST_LEVELS = 100

# The name of the level of all rare and unknown ones.
OTHER = "(other)"
# A level with fewer rows than both, this number and this share of all rows, is pooled with others.
RARE_ROWS, RARE_SHARE = 3, 0.01

# A column with at least this fraction of numbers is taken to be numeric.
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class ColumnTypes:
    """What the columns of a table are to a fit.

    Attributes
    ----------
    inputs : Columns
        The columns to predict from.
    target : str
        The column to predict.
    classes : ndarray or None
        The classes of the target; None for numbers.
    """

    inputs: Columns
    target: str
    classes: NDArray[Any] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, the target last."""
        return (*self.inputs.names, self.target)

    def learned(self, X: Float64, y: NDArray[Any]) -> "ColumnTypes":
        """Return the types with the means and the classes of the training rows."""
        classes = None if self.classes is None else np.unique(y)
        return replace(self, inputs=self.inputs.with_means(X), classes=classes)


def column_types(
    table: Table,
    surveys: Mapping[str, Survey],
    target: str,
    text: Sequence[str] = (),
    *,
    classes: bool = False,
    missing: Missing = None,
) -> ColumnTypes:
    """Decide what the columns hold, or raise an error for what cannot be learned from.

    Parameters
    ----------
    table : Table
        The table, whose label is in the messages.
    surveys : mapping of str to Survey
        Summaries of the cells of the inputs and of the target.
    target : str
        The column to predict.
    text : sequence of str
        Columns of numbers to treat as text.
    classes : bool
        Whether numbers of the target are classes.
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells: with an indicator for each column that has some, which may turn
        out to be useless, or without; None to raise an error.
    """
    _check_rows(table, target, surveys[target])
    if missing is None:
        _refuse_empty(table, surveys)
    inputs = tuple(
        _input(table, name, found, name in text)
        for name, found in surveys.items()
        if name != target
    )
    if missing == "learn":
        inputs = tuple(replace(one, gaps=surveys[one.name].empty > 0) for one in inputs)
        inputs += tuple(Input.indicator(one.name) for one in inputs if one.gaps)
    return ColumnTypes(Columns(inputs), target, _classes(table, target, surveys[target], classes))


# Names


def as_names(given: Any) -> list[str]:
    """Return names of columns as a list of text; a single name is allowed."""
    return list(map(str, [given] if isinstance(given, str | int) else given))


def input_names(
    table: Table,
    target: str,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    groups: str | None = None,
) -> list[str]:
    """Return the columns to predict from, or raise an error if names are wrong.

    Parameters
    ----------
    table : Table
    target : str
        The column to predict.
    ignore, text : sequence of str
        Columns to ignore, and columns to treat as text.
    groups : str or None
        Column of groups, which is no input.
    """
    if groups is not None:
        ignore = _without_groups(table, target, groups, ignore)
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


def _without_groups(table: Table, target: str, by: str, ignore: Sequence[str]) -> Sequence[str]:
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


# Cells


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


def _refuse_empty(table: Table, surveys: Mapping[str, Survey]) -> None:
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
    return _pooled(Input(name, levels), found)


def _pooled(column: Input, found: Survey) -> Input:
    """Return a category whose rare levels are one, the last; it takes unknown levels, too.

    A level with a handful of rows says little about the next row of that level; together, they say
    something about rare levels.
    """
    assert column.levels is not None
    assert found.distinct is not None
    least = min(RARE_ROWS, RARE_SHARE * found.rows)
    common = tuple(level for level in column.levels if found.distinct[level] >= least)
    if len(common) == len(column.levels):
        return column
    label = OTHER
    while label in common:
        label = f"({label})"
    return replace(column, levels=(*common, label), pooled=True)


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
