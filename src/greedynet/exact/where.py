"""What `where` says -> a `Region`.

By default it is the box of the training data, without empty cells; `where` narrows it, or goes
beyond it where it says so. Values may be given as the file writes them.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from greedynet.exact.moments import (
    Curve,
    MomentColumn,
    Span,
    is_curve,
    moments_in,
    on_grid,
    span_of_data,
    span_text,
    step_of,
)
from greedynet.exact.region import Column, Constraint, Region, position_of
from greedynet.exact.region_columns import GAP, ChoiceColumn, NumberColumn
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, encode_blocks, joined
from greedynet.tables.kinds import Categories, Coded, Durations, Kind, Truths
from greedynet.tables.readers import TableError, open_table

Where = Mapping[Any, Any]


class Problems:
    """Errors of a question, collected to be raised as one."""

    def __init__(self) -> None:
        self.found: list[str] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the message of an error for later."""
        try:
            yield
        except ValueError as error:
            self.found += [str(error)]

    def check(self) -> None:
        """Raise one error for all of them."""
        if self.found:
            raise ValueError("\n".join(dict.fromkeys(self.found)))


def region_of(
    columns: Columns,
    where: Where | None,
    integer: Sequence[Any] = (),
    box: Float64 | None = None,
    constraints: Sequence[Constraint] = (),
) -> Region:
    """Return the region of a question about a model.

    `where` has, by the name or the position of a column: a pair `(low, high)` of numbers or of
    dates, in which None stands for the end of the data; a number; a level, or several in a list; a
    date, or several; NaN for an empty cell, also in a list with others. `box` has the smallest and
    the largest features of the data, `(2, n_features)`.
    """
    indicators = [column for column in columns.inputs if column.gaps_of is not None]
    names = (*columns.names, *(column.name for column in indicators))
    problems = Problems()
    wanted: dict[str, Any] = {}
    for key, said in (where or {}).items():
        with problems.collected():
            wanted[names[position_of(key, names, "`where`")]] = said
    whole: set[str] = set()
    for key in integer:
        with problems.collected():
            whole.add(names[position_of(key, names, "`integer`")])
    starts = np.cumsum([0, *(column.n_features for column in columns.inputs)]).tolist()
    start_of = dict(zip(columns.labels, starts, strict=False))
    found: list[Column] = []
    for column in columns.of_table:
        of_gaps = [one.name for one in indicators if one.gaps_of == column.name]
        own = range(start_of[column.name], start_of[column.name] + column.n_features)
        features = (*own, *(start_of[label] for label in of_gaps))
        flags = {label: wanted[label] for label in of_gaps if label in wanted}
        with problems.collected():
            asked = _asked(column, wanted.get(column.name), flags)
            found.append(_column(column, features, *asked, box, whole=column.name in whole))
    region = Region(tuple(found), starts[-1])
    if len(found) == len(columns.of_table):
        for constraint in constraints:
            with problems.collected():
                region = region.limited(constraint)
    problems.check()
    return region


# Empty cells


def _asked(column: Input, said: Any, flags: Mapping[str, Any]) -> tuple[Any, bool, bool]:
    """Return the values that are asked about, whether there may be some, and an empty cell.

    `said` is what `where` says of the column, `flags` what it says of the indicators of its empty
    cells.
    """
    several = isinstance(said, list | set | np.ndarray)
    cells = list(said) if several else [said]
    values = [cell for cell in cells if not _is_gap(cell)]
    empty = len(values) < len(cells)
    there = bool(values) or not empty
    for label, flag in flags.items():
        there, empty = _booleans(Input(label, Truths()), flag, (0.0, 1.0))
    if empty and not column.gaps:
        raise ValueError(
            f"`where` must give values of {column.name!r}, got {said!r}: the training data had no "
            "empty cells there, so that nothing is known about them."
        )
    if several and empty:
        said = values[0] if len(values) == 1 else values
    return said, there, empty


def _is_gap(cell: Any) -> bool:
    is_nan = isinstance(cell, float | np.floating) and np.isnan(cell)
    return bool(is_nan) or str(cell) in ("<NA>", "NaT")


# Columns


def _column(
    column: Input,
    features: tuple[int, ...],
    said: Any,
    there: bool,
    empty: bool,
    box: Float64 | None,
    *,
    whole: bool,
) -> Column:
    """Return what a column may be, whose features are followed by indicators of its gaps."""
    name, first, n = column.name, features[0], column.n_features
    ends = None if box is None else (float(box[0, first]), float(box[1, first]))
    if whole and not column.is_number:
        raise ValueError(
            f"`integer` must name columns of numbers, got {name!r}: {column.kind.describe()}."
        )
    number = None
    labels: tuple[Any, ...] = ()
    rows = np.zeros((0, n))
    if there and is_curve(column.kind):
        spans, step = _moments(column, column.kind, said, ends)
        moments = MomentColumn(name, features, column.kind, spans, step)
        if empty:
            gap = np.array([[*column.means, *np.ones(len(features) - n)]])
            moments = replace(moments, gap=ChoiceColumn(name, features, (GAP,), gap))
        return moments.exact or moments
    if there and column.is_number and not isinstance(column.kind, Truths):
        low, high = _number(column, said, ends, whole=whole)
        is_duration = isinstance(column.kind, Durations)
        number = NumberColumn(name, first, low, high, whole, is_duration=is_duration)
        labels, rows = (number.low,), np.array([[number.low]])
    elif there:
        labels, rows = _values(column, said, ends)
    if number is not None and not empty:
        return number
    rows = np.pad(rows, ((0, 0), (0, len(features) - n)))
    if empty:
        labels = (*labels, GAP)
        rows = np.vstack([rows, [*column.means, *np.ones(len(features) - n)]])
    choice = ChoiceColumn(name, features, labels, rows)
    return choice if number is None or not number.changes else replace(number, presence=choice)


def _moments(
    column: Input, kind: Curve, said: Any, ends: tuple[float, float] | None
) -> tuple[tuple[Span, ...], int]:
    """Return the moments that are asked about, in one or several spans, and how they follow."""
    step = step_of(kind)
    data = span_of_data(kind, ends)
    cells = list(said) if isinstance(said, list | set | np.ndarray) else [said]
    spans: list[Span] = []
    for cell in cells:
        pair = cell if isinstance(cell, tuple) and len(cell) == 2 else (cell, cell)
        given = [None if end is None else moments_in(kind, end) for end in pair]
        for end, moments in zip(pair, given, strict=True):
            if moments is None and end is not None:
                raise ValueError(
                    f"`where` must give {kind.wanted} for {column.name!r}, got {end!r}."
                )
        low, high = (data if moments is None else moments for moments in given)
        if low is None or high is None:
            raise ValueError(_unknown_ends(column))
        span = Span(low.first, high.last)
        found = span if span.first == span.last else on_grid(span, step)
        if found is None:
            of_data = "" if data is None else f"; in the data it goes {span_text(kind, data)}"
            raise ValueError(
                f"`where` must leave moments of {column.name!r}, got {said!r}{of_data}: give both "
                "ends to ask about moments beyond the data."
            )
        spans.append(found)
    return tuple(sorted(set(spans))), step


def _values(
    column: Input, said: Any, ends: tuple[float, float] | None
) -> tuple[tuple[Any, ...], Float64]:
    """Return the values that are asked about, and their features."""
    if isinstance(column.kind, Categories | Coded):
        return _levels(column, said)
    if isinstance(column.kind, Truths):
        kept = _booleans(column, said, ends or (0.0, 1.0))
        found = [value for value, is_kept in zip((False, True), kept, strict=True) if is_kept]
        return tuple(found), np.array(found, dtype=np.float64)[:, None]
    if said is None or isinstance(said, tuple):
        raise ValueError(
            f"`where` must give values of {column.name!r}, which becomes {column.n_features} "
            f"features that depend on each other, got {said!r}: write one of them, or several in "
            "a list."
        )
    cells = list(said) if isinstance(said, list | set | np.ndarray) else [said]
    return tuple(map(str, cells)), _encoded(column, cells)


def _levels(column: Input, said: Any) -> tuple[tuple[Any, ...], Float64]:
    """Return the levels that are asked about, and their features; equal ones once."""
    levels, rare = levels_of(column.kind)
    given = list(levels) if said is None else _listed(said)
    known = {*levels, *rare}
    texts = [_level_text(level, known) for level in given]
    for text in texts:
        if text not in known:
            close = difflib.get_close_matches(text, levels, n=1)
            advice = f"; did you mean {close[0]!r}?" if close else "."
            shown = ", ".join(levels[:8]) + (f", ... ({len(levels)})" if len(levels) > 8 else "")
            raise ValueError(
                f"`where` must give levels of the category {column.name!r}, which are {shown}; "
                f"got {text!r}{advice}"
            )
    if not texts:
        raise ValueError(f"`where` must leave a level of {column.name!r}, got none.")
    rows = _encoded(column, texts)
    if isinstance(column.kind, Categories):
        texts = [levels[place] for place in rows.argmax(axis=1)]
    _, first = np.unique(rows, axis=0, return_index=True)
    kept = sorted(first.tolist(), key=lambda i: levels.index(texts[i]) if texts[i] in levels else i)
    return tuple(texts[i] for i in kept), rows[kept]


def levels_of(kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the levels of a category, and its rare ones."""
    if isinstance(kind, Coded):
        return kind.texts, kind.rare
    return (kind.levels, kind.rare) if isinstance(kind, Categories) else ((), ())


def _listed(said: Any) -> list[Any]:
    return [said] if isinstance(said, str | int | float | np.generic) else list(said)


def _level_text(given: Any, known: set[str]) -> str:
    text = str(given).strip()
    if text not in known and isinstance(given, float) and given.is_integer():
        return f"{given:g}"  # as tables write it
    return text


def _encoded(column: Input, cells: list[Any]) -> Float64:
    """Return the features of cells."""
    own = Columns((column,))
    return joined(own, encode_blocks(own, open_table({column.name: cells}))).X


def _booleans(column: Input, said: Any, ends: tuple[float, float]) -> tuple[bool, bool]:
    """Return whether false and true are asked about."""
    given = said if isinstance(said, list | set) else [said]
    pairs = [_ends(column, one, ends) for one in given]
    false, true = (any(low <= value <= high for low, high in pairs) for value in (0, 1))
    if not false and not true:
        raise ValueError(f"`where` must leave True or False for {column.name!r}, got {said!r}.")
    return false, true


def _number(
    column: Input, said: Any, ends: tuple[float, float] | None, *, whole: bool
) -> tuple[float, float]:
    """Return the ends of a column of numbers, whole ones for whole numbers."""
    low, high = _ends(column, said, ends)
    if whole:
        low, high = float(np.ceil(low - 1e-9)), float(np.floor(high + 1e-9))
    if low > high:
        what = "whole number" if whole else "value"
        of_data = "" if ends is None else f"; in the data it goes from {ends[0]:g} to {ends[1]:g}"
        raise ValueError(
            f"`where` must leave a {what} of {column.name!r}, got {said!r}{of_data}: give both "
            "ends to ask about rows beyond the data."
        )
    return low, high


def _ends(column: Input, said: Any, ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return two ends, those of the data where none are said."""
    pair = (None, None) if said is None else said
    if isinstance(pair, int | float | str | timedelta | np.generic):
        pair = (pair, pair)
    if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise ValueError(
            f"`where` must give a number or a pair (low, high) for {column.name!r}, got {said!r}."
        )
    if ends is None and any(end is None for end in pair):
        raise ValueError(_unknown_ends(column))
    low, high = (
        e if end is None else _number_of(column, end)
        for end, e in zip(pair, ends or pair, strict=True)
    )
    if not np.isfinite([low, high]).all():
        raise ValueError(f"`where` must give finite ends for {column.name!r}, got {said!r}.")
    return low, high


def _number_of(column: Input, given: Any) -> float:
    found = number_in(column, given)
    if found is None:
        raise ValueError(
            f"`where` must give {column.kind.wanted}, or a pair (low, high) for {column.name!r}, "
            f"got {given!r}."
        )
    return found


def number_in(column: Input, given: Any) -> float | None:
    """Return the number in a cell of a column of numbers, durations or booleans; None for none."""
    if isinstance(given, int | float | np.number | np.bool_):
        return float(given)
    cell = np.timedelta64(given, "us") if isinstance(given, timedelta) else given
    with suppress(TableError):
        return float(_encoded(column, [cell])[0, 0])
    # As in `weight<=3000` for a column of `3504 lbs`.
    with suppress(ValueError, TypeError):
        return float(given)
    return None


def _unknown_ends(column: Input) -> str:
    return (
        f"`where` must give both ends of {column.name!r}, because the network does not know the "
        "range of its data: write them."
    )
