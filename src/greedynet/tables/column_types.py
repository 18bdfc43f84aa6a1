"""Types of the columns: which are inputs, which kinds they have, and the classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.level_means import REPEATED, Folds, class_targets, has_unit_rows
from greedynet.rows.rows import most_levels
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, Missing
from greedynet.tables.findings import check_present, empty_cells, split_names
from greedynet.tables.kinds import Categories, Coded, Dates, Durations, Kind, Numbers, Truths
from greedynet.tables.kinds.dates import DAY_FIRST
from greedynet.tables.labelled import TargetColumn
from greedynet.tables.readers import Table, TableError
from greedynet.tables.readers.base import as_text
from greedynet.tables.readers.store import as_block_column
from greedynet.tables.roles import Roles
from greedynet.tables.survey import Survey, decide, wording_of_input, wording_of_target
from greedynet.tables.useless import NAMES, reasons_in_words, some_names, useless_columns

_NUMBERS = Numbers()


@dataclass(frozen=True, eq=False)
class ColumnTypes:
    """What the columns of a table are to a fit.

    Attributes
    ----------
    inputs : Columns
        The columns to predict from.
    assumed : tuple of str
        How cells were read that could be meant otherwise, a line each.
    left_out : tuple of str
        Columns that are no inputs because they say nothing, a line each.
    """

    inputs: Columns
    target: TargetColumn
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def has_codes(self) -> bool:
        """Whether some column has so many levels that they are coded."""
        return any(isinstance(column.kind, Coded) for column in self.inputs.inputs)

    def one_hot(self, n_rows: int) -> "ColumnTypes":
        """Return the types with a feature for each level, where levels have enough rows."""
        inputs = [
            replace(one, kind=Categories.with_rare(one.kind.texts, one.kind.rare))
            if isinstance(one.kind, Coded) and has_unit_rows(len(one.kind.texts), n_rows)
            else one
            for one in self.inputs.inputs
        ]
        return replace(self, inputs=Columns(tuple(inputs)))

    def with_codes(
        self, X: Float64, y: NDArray[Any], folds: Folds, weights: Float64 | None
    ) -> "ColumnTypes":
        """Learn the codes of categories with many levels, and put them into `X`."""
        Y = y[:, None] if self.target.classes is None else class_targets(y)
        inputs = []
        for column, part in self.inputs.split(X):
            kind = column.kind
            learned = kind.learned(part, Y, folds, weights) if isinstance(kind, Coded) else kind
            inputs.append(replace(column, kind=learned))
        return replace(self, inputs=Columns(tuple(inputs)))

    def recode(self, X: Float64) -> None:
        """Put learned codes into rows that were read before they were learned."""
        for column, part in self.inputs.split(X):
            if isinstance(column.kind, Coded):
                column.kind.recode(part)

    def learned(self, X: Float64, y: NDArray[Any]) -> "ColumnTypes":
        """Return the types with the means and the classes of the training rows."""
        classes = None if self.target.classes is None else np.unique(y)
        target = replace(self.target, classes=classes)
        return replace(self, inputs=self.inputs.with_means(X), target=target)


def column_types(
    table: Table,
    surveys: Mapping[str, Survey],
    target: str,
    text: Sequence[str] = (),
    *,
    use: Sequence[str] = (),
    classes: bool = False,
    missing: Missing = None,
    dates: str | None = None,
) -> ColumnTypes:
    """Decide what the columns hold, or raise one error for all that cannot be learned from.

    `text` names columns of numbers to treat as text, `use` columns to use although they seem to say
    nothing; `dates` is the order of day and month, if it is known. Each column with empty cells has
    an indicator, which may turn out to be useless, if `missing` is "learn".
    """
    _check_rows(table, target, surveys[target])
    problems, inputs = [], []
    names_of: dict[str, list[str]] = {}  # of each assumption
    left_out = useless_columns(surveys, target, {*use, *text})
    for name, found in surveys.items():
        if name == target or name in left_out:
            continue
        try:
            held, said = _input(table, name, found, name in text, dates)
        except TableError as error:
            problems.append(str(error))
            continue
        if held is None:
            if name in {*use, *text}:
                problems.append(_no_category(table, name, found))
            left_out[name] = NAMES
            continue
        gaps, na = missing == "learn" and found.empty > 0, tuple(found.gaps)
        inputs.append(Input(name, held, gaps=gaps, na=na))
        if said:
            names_of.setdefault(said, []).append(name)
    assumed = [
        f"column{'s' if len(names) > 1 else ''} {some_names(names)}: {said}"
        for said, names in names_of.items()
    ]
    try:
        predicted, said = target_of(table, target, surveys[target], classes=classes)
        assumed += [f"target {target!r}: {said}"] if said else []
    except TableError as error:
        problems.append(str(error))
    if not inputs and not problems:
        names = [name for name, why in left_out.items() if why == NAMES]
        problems += [_no_category(table, name, surveys[name]) for name in names]
    if problems:
        raise TableError("\n".join(problems))
    if missing is None:
        _refuse_empty(table, {n: s for n, s in surveys.items() if n not in left_out})
    taken = [column.name for column in inputs]
    if predicted.classes is not None and len(predicted.classes) > 2:
        n_targets = len(predicted.classes)
        inputs = [
            replace(one, kind=replace(one.kind, n_targets=n_targets))
            if isinstance(one.kind, Coded)
            else one
            for one in inputs
        ]
    inputs += [
        replace(Input.indicator(column.name, taken), na=column.na)
        for column in inputs
        if column.gaps
    ]
    lines = reasons_in_words(left_out, surveys)
    return ColumnTypes(Columns(tuple(inputs)), predicted, tuple(assumed), lines)


# Names


def as_names(given: Any, table: Table) -> list[str]:
    """Return names of columns as a list of text; one name may be several between commas."""
    names = list(map(str, [given] if isinstance(given, str | int) else given))
    return [name for part in names for name in split_names(part, table)]


def input_names(
    table: Table,
    target: str,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    roles: Roles | None = None,
) -> list[str]:
    """Return the columns to predict from; raise an error for names that the table does not have."""
    if roles is not None:
        roles.check(table, target)
        ignore = [*ignore, *roles.no_inputs]
    check_present(table, [target], "target")
    check_present(table, [*ignore, *text], "column")
    _refuse_target(target, ignore, text)
    others = [name for name in table.names if name != target]
    ignored = set(ignore)
    names = [name for name in others if name not in ignored]
    if not others:
        advice = "give columns to predict it from."
        if table.is_text:
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


def _input(
    table: Table,
    name: str,
    found: Survey,
    as_category: bool,
    dates: str | None,
) -> tuple[Kind | None, str]:
    """Return what a column holds, None for text that hardly repeats, and what was assumed."""
    if found.empty == found.rows:
        raise TableError(
            f"{table.label}: column {name!r} is empty: drop it with `ignore={name!r}`."
        )
    if found.text is None and not as_category:
        return _NUMBERS, ""
    if not as_category and Truths.are(found.distinct):
        return Truths(), ""
    if not as_category:
        words = wording_of_input(table.label, name)
        kind, said = decide(found, words, dates, table.marks)
        if kind is not None:
            return kind, said
    levels = _few(found)
    if levels is None:
        coded = _coded(table, name, found)
        said = (
            f"{_many(found)} distinct values are one input each of their mean and their number "
            "of rows"
        )
        return coded, "" if coded is None else said
    assert found.distinct is not None
    return Categories.of_counts(found.distinct, found.rows), ""


def _no_category(table: Table, name: str, found: Survey) -> str:
    example = "" if found.text is None else f" such as {found.text[0]!r}"
    return (
        f"{table.label}: column {name!r} is text with {_many(found)} distinct values{example} "
        f"in {found.rows:,} rows, most of them once, which is no category: drop it with "
        f"`ignore={name!r}`, or convert it to numbers."
    )


def _coded(table: Table, name: str, found: Survey) -> Coded | None:
    """Return the levels of a column that come more than once, None if few rows have such a one."""
    cell = table.store().cell(name)
    groups = table.store().query(
        f"select {cell} as v, count(*) as n from {{t}} where {cell} is not null group by 1 "
        "order by 1"
    )
    texts, counts = as_text(as_block_column(groups["v"])), groups["n"]
    if counts[counts > 1].sum() < REPEATED * found.full:
        return None
    repeated, rare = (tuple(texts[which].tolist()) for which in (counts > 1, counts == 1))
    return Coded(repeated, rare=rare)


def _many(found: Survey) -> str:
    return "more than 1,000" if found.distinct is None else f"{len(found.distinct):,}"


def _few(found: Survey) -> tuple[str, ...] | None:
    """Return the values of a column, sorted, if they are few enough for categories."""
    if found.distinct is None or len(found.distinct) > most_levels(found.rows):
        return None
    return tuple(sorted(found.distinct))


def target_of(table: Table, name: str, found: Survey, *, classes: bool) -> tuple[TargetColumn, str]:
    """Return what the target holds, numbers or classes, and what was assumed."""
    kind: Kind | None = None
    said = ""
    if not classes:
        kind, said = decide(found, wording_of_target(table.label, name), DAY_FIRST, table.marks)
    if isinstance(kind, Dates):
        raise TableError(
            f"{table.label}: the target {name!r} holds dates, such as {kind.example(())!r}: write "
            "a number to predict, such as the days since the first of them."
        )
    if isinstance(kind, Durations):  # a time of day is predicted as its hours
        kind = Durations(kind.n_parts)
    if kind is None:
        return TargetColumn(
            name, classes=_classes(table, name, found), gaps=tuple(found.gaps)
        ), said
    return TargetColumn(name, kind, gaps=tuple(found.gaps)), said


def _classes(table: Table, target: str, found: Survey) -> NDArray[Any]:
    """Return the classes of the target."""
    values = _few(found)
    if values is None:
        what = "has" if found.text is None else f"is text (such as {found.text[0]!r}) with"
        raise TableError(
            f"{table.label}: the target {target!r} {what} {_many(found)} distinct values in "
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
    whole = bool(((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**63)).all())
    return numbers.astype(np.int64) if whole else np.array(values)
