"""What `where` and conditions in text say -> a `Region`.

By default it is the box of the training data, without empty cells; `where` narrows it, or goes
beyond it where it says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from greedynet.exact.region import (
    GAP,
    ChoiceColumn,
    Column,
    Constraint,
    NumberColumn,
    Region,
    position_of,
)
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, encode_blocks, joined
from greedynet.tables.kinds import Truths
from greedynet.tables.readers import open_table

_OPERATOR = re.compile(r"\s*(<=|>=|==|<|>|=)\s*")
_MISSING = " is missing"
_BOOLEANS = {"true": "1", "false": "0"}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(r"^\s*([^<>=]+?)\s*(<=?)\s*(.+?)\s*<=?\s*([^<>=]+?)\s*$")


def parse_conditions(texts: Sequence[str], columns: Columns) -> dict[str, Any]:
    """Return the region that conditions describe together.

    A condition is `age<=30`, `10<=size<=80`, `rooms=3`, `new=true`, `kind=A`, `sold=2024-05-31` or
    `age is missing`. Two conditions on the levels of a category, or on dates, allow both; two on a
    number hold both. `<` is the same as `<=`: a largest value exists only where ends belong to the
    region.
    """
    are_numbers = {column.name: column.is_number for column in columns.inputs}
    booleans = {column.name for column in columns.inputs if isinstance(column.kind, Truths)}
    where: dict[str, Any] = {}
    empty = [text.strip().removesuffix(_MISSING) for text in texts]
    empty = [name for name in empty if name in columns.names]
    for text in texts:
        if text.strip().removesuffix(_MISSING) in empty:
            continue
        for name, operator, given in _parts(text, list(are_numbers)):
            value = _BOOLEANS.get(given.lower(), given) if name in booleans else given
            if are_numbers[name]:
                where[name] = _narrowed(where.get(name, (None, None)), operator, value, text)
            else:
                if operator not in ("=", "=="):
                    raise ValueError(
                        f"`where` must give a value of {name!r}, which is no number, by '=', got "
                        f"{text!r}."
                    )
                where.setdefault(name, []).append(value)
    for name in empty:
        values = where.get(name, [])
        where[name] = [*(values if isinstance(values, list) else [values]), GAP]
    return where


def parse_constraint(text: str, columns: Columns) -> Constraint:
    """Return the constraint that a text describes, such as `size + 2 age <= 90`."""
    names = "|".join(map(re.escape, sorted(columns.names, key=len, reverse=True)))
    term = rf"(^[+-]?|[+-])\s*({_NUMBER})?\s*\*?\s*({names})\s*"
    found = re.fullmatch(rf"((?:{term})+)([<>])=?\s*([+-]?{_NUMBER})", text.strip())
    if found is None:
        raise ValueError(
            "`constraint` must be a sum of columns that is at most, or at least, a number, such as "
            f"'size + 2 age <= 90', got {text!r}; the columns are {', '.join(columns.names[:8])}."
        )
    side = 1.0 if found[5] == "<" else -1.0
    sums: dict[str, float] = {}
    for sign, factor, name in re.findall(term, found[1]):
        sums[name] = sums.get(name, 0.0) + side * float(f"{sign}{factor or 1}")
    return sums, side * float(found[6])


def _parts(text: str, names: list[str]) -> list[tuple[str, str, str]]:
    """Return the parts of a condition: a column, an operator, a value."""
    between = _BETWEEN.match(text)
    if between and between[3] in names:
        return [(between[3], ">=", between[1]), (between[3], "<=", between[4])]
    # The longest name that fits: names may contain operators.
    for name in sorted(names, key=len, reverse=True):
        if text.strip().startswith(name):
            rest = text.strip()[len(name) :]
            found = _OPERATOR.match(rest)
            if found:
                return [(name, found[1], rest[found.end() :].strip())]
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise ValueError(
        f"`where` must be a condition on a column, such as 'age<=30' or 'kind=A', got {text!r}; "
        f"the columns are {listed}."
    )


def _narrowed(ends: tuple[Any, Any], operator: str, value: str, text: str) -> tuple[Any, Any]:
    """Return the ends of a number after another condition."""
    try:
        limit = float(value)
    except ValueError:
        raise ValueError(f"`where` must compare with a number, got {text!r}.") from None
    low, high = ends
    if operator in (">", ">=", "=", "=="):
        low = limit if low is None else max(low, limit)
    if operator in ("<", "<=", "=", "=="):
        high = limit if high is None else min(high, limit)
    return low, high


Where = Mapping[Any, Any]


def region_of(
    columns: Columns,
    where: Where | None,
    integer: Sequence[Any] = (),
    box: Float64 | None = None,
    constraints: Sequence[Constraint] = (),
) -> Region:
    """Return the region of a question about a model.

    `where` has, by the name or the position of a column: a pair `(low, high)`, in which None stands
    for the end of the data; a number; a level, or several in a list; a date, or several; NaN for an
    empty cell, also in a list with others. `box` has the smallest and the largest features of the
    data, `(2, n_features)`.
    """
    indicators = [column for column in columns.inputs if column.gaps_of is not None]
    names = (*columns.names, *(column.name for column in indicators))
    wanted = {names[position_of(key, names)]: said for key, said in (where or {}).items()}
    whole = {names[position_of(key, names)] for key in integer}
    starts = np.cumsum([0, *(column.n_features for column in columns.inputs)]).tolist()
    start_of = dict(zip(columns.labels, starts, strict=False))
    found: list[Column] = []
    for column in columns.of_table:
        of_gaps = [one.name for one in indicators if one.gaps_of == column.name]
        own = range(start_of[column.name], start_of[column.name] + column.n_features)
        features = (*own, *(start_of[label] for label in of_gaps))
        flags = {label: wanted[label] for label in of_gaps if label in wanted}
        asked = _asked(column, wanted.get(column.name), flags)
        found.append(_column(column, features, *asked, box, whole=column.name in whole))
    region = Region(tuple(found), starts[-1])
    for constraint in constraints:
        region = region.limited(constraint)
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
        there, empty = _booleans(label, flag, (0.0, 1.0))
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
        raise ValueError(f"`integer` must name columns of numbers, got the category {name!r}.")
    number = None
    labels: tuple[Any, ...] = ()
    rows = np.zeros((0, n))
    if there and column.is_number and not isinstance(column.kind, Truths):
        number = NumberColumn(name, first, *_number(name, said, ends, whole=whole), whole)
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


def _values(
    column: Input, said: Any, ends: tuple[float, float] | None
) -> tuple[tuple[Any, ...], Float64]:
    """Return the values that are asked about, and their features."""
    if column.levels is not None:
        places = _levels(column.name, column.levels, said)
        return tuple(column.levels[i] for i in places), np.eye(len(column.levels))[places]
    if isinstance(column.kind, Truths):
        kept = _booleans(column.name, said, ends or (0.0, 1.0))
        found = [value for value, is_kept in zip((False, True), kept, strict=True) if is_kept]
        return tuple(found), np.array(found, dtype=np.float64)[:, None]
    if said is None or isinstance(said, tuple):
        raise ValueError(
            f"`where` must give values of {column.name!r}, which becomes {column.n_features} "
            f"features that depend on each other, got {said!r}: write one of them, or several in "
            "a list."
        )
    cells = list(said) if isinstance(said, list | set | np.ndarray) else [said]
    own = Columns((column,))
    rows = joined(own, encode_blocks(own, open_table({column.name: cells}))).X
    return tuple(map(str, cells)), rows


def _levels(name: str, levels: tuple[str, ...], said: Any) -> list[int]:
    """Return the positions of the levels that are asked about."""
    if said is None:
        return list(range(len(levels)))
    places = set()
    for given in [said] if isinstance(said, str | int | float | np.generic) else list(said):
        level = str(given).strip()
        if level not in levels and isinstance(given, float) and given.is_integer():
            level = f"{given:g}"  # as tables write it
        if level not in levels:
            listed = ", ".join(levels[:8]) + (", ..." if len(levels) > 8 else "")
            raise ValueError(
                f"`where` must give levels of the category {name!r}, which are {listed}; got "
                f"{level!r}."
            )
        places.add(levels.index(level))
    if not places:
        raise ValueError(f"`where` must leave a level of {name!r}, got none.")
    return sorted(places)


def _booleans(name: str, said: Any, ends: tuple[float, float]) -> tuple[bool, bool]:
    """Return whether false and true are asked about."""
    pairs = [_ends(name, one, ends) for one in (said if isinstance(said, list | set) else [said])]
    false, true = (any(low <= value <= high for low, high in pairs) for value in (0, 1))
    if not false and not true:
        raise ValueError(f"`where` must leave True or False for {name!r}, got {said!r}.")
    return false, true


def _number(
    name: str, said: Any, ends: tuple[float, float] | None, *, whole: bool
) -> tuple[float, float]:
    """Return the ends of a column of numbers, whole ones for whole numbers."""
    low, high = _ends(name, said, ends)
    if whole:
        low, high = float(np.ceil(low - 1e-9)), float(np.floor(high + 1e-9))
    if low > high:
        what = "whole number" if whole else "value"
        of_data = "" if ends is None else f"; in the data it goes from {ends[0]:g} to {ends[1]:g}"
        raise ValueError(
            f"`where` must leave a {what} of {name!r}, got {said!r}{of_data}: give both ends to "
            "ask about rows beyond the data."
        )
    return low, high


def _ends(name: str, said: Any, ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return two ends, those of the data where none are said."""
    pair = (None, None) if said is None else said
    if isinstance(pair, int | float | np.number | np.bool_):
        pair = (pair, pair)
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise ValueError(
            f"`where` must give a number or a pair (low, high) for {name!r}, got {said!r}."
        )
    if ends is None and any(end is None for end in pair):
        raise ValueError(
            f"`where` must give both ends of {name!r}, because the network does not know the range "
            "of its data: write them, or pass rows as `X=`."
        )
    filled = [e if end is None else float(end) for end, e in zip(pair, ends or pair, strict=True)]
    if not np.isfinite(filled).all():
        raise ValueError(f"`where` must give finite ends for {name!r}, got {said!r}.")
    return filled[0], filled[1]
