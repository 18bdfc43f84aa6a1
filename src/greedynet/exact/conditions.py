"""Conditions and constraints in text -> what `where` and `constraints` say."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from greedynet.exact.moments import Curve, is_curve, moments_in
from greedynet.exact.questions import columns_of, network_of
from greedynet.exact.region import Constraint
from greedynet.exact.region_columns import GAP
from greedynet.exact.where import Problems, levels_of, number_in, region_of
from greedynet.tables.columns import Columns, Input
from greedynet.tables.kinds import Dates

_OPERATOR = re.compile(r"\s*(<=|>=|==|<|>|=)\s*")
_MISSING = " is missing"
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(r"^\s*([^<>=]+?)\s*(<=?)\s*(.+?)\s*(<=?)\s*([^<>=]+?)\s*$")
_OPPOSITE = {"<": ">", "<=": ">="}


def parse_question(
    model: Any,
    conditions: Sequence[str],
    sums: Sequence[str],
    integer: Sequence[str],
    along: Sequence[str],
) -> tuple[dict[str, Any], list[Constraint]]:
    """Return what conditions and constraints say; one error has all that is wrong with a question.

    `integer` are columns of whole numbers, and `along` those along which predictions shall rise.
    """
    columns, problems = columns_of(model), Problems()
    where = parse_conditions(conditions, columns, problems)
    constraints: list[Constraint] = []
    for text in sums:
        with problems.collected():
            constraints.append(parse_constraint(text, columns))
    with problems.collected():
        region = region_of(columns, where, integer, network_of(model).input_range, constraints)
        for name in along:
            with problems.collected():
                region.changing(name)
    problems.check()
    return where, constraints


def parse_conditions(
    texts: Sequence[str], columns: Columns, problems: Problems | None = None
) -> dict[str, Any]:
    """Return the region that conditions describe together.

    A condition is `age<=30`, `10<=size<=80`, `rooms=3`, `new=true`, `kind=A`, `kind=A,B`,
    `sold=2024-05-31`, `sold>=2024-01-01` or `age is missing`. Two levels of a category, or two
    dates, allow both; two conditions on a number, or two ends of dates, hold both. Of numbers, `<`
    is the same as `<=`: a largest value exists only where ends belong to the region. A day without
    a time stands for all of its moments. Errors are added to the problems, if these are given.
    """
    found = Problems() if problems is None else problems
    by_name = {column.name: column for column in columns.inputs}
    where: dict[str, Any] = {}
    empty: list[str] = []
    for text in texts:
        name = text.strip().removesuffix(_MISSING)
        if name != text.strip() and name in columns.names:
            empty.append(name)
            continue
        with found.collected():
            for label, operator, given in _parts(text, list(by_name)):
                where[label] = _with(where.get(label), by_name[label], operator, given, text)
    for name in empty:
        values = where.get(name, [])
        where[name] = [*(values if isinstance(values, list) else [values]), GAP]
    if problems is None:
        found.check()
    return where


def _with(said: Any, column: Input, operator: str, given: str, text: str) -> Any:
    """Return what `where` says of a column with another condition."""
    if is_curve(column.kind):
        return _of_moments(said, column, column.kind, operator, given, text)
    if column.is_number:
        low, high = said or (None, None)
        value = number_in(column, given)
        if value is None:
            raise ValueError(_no_comparison(column, text))
        if operator in (">", ">=", "=", "=="):
            low = value if low is None else max(low, value)
        if operator in ("<", "<=", "=", "=="):
            high = value if high is None else min(high, value)
        return low, high
    if operator not in ("=", "=="):
        raise ValueError(
            f"`where` must give levels of {column.name!r} by '=', such as "
            f"'{column.name}={column.kind.example(column.means)}', got {text!r}."
        )
    return [*(said or []), *_levels_in(given, column)]


def _no_comparison(column: Input, text: str) -> str:
    return f"`where` must compare {column.name!r} with {column.kind.wanted}, got {text!r}."


def _levels_in(given: str, column: Input) -> list[str]:
    """Return the levels between commas, or a single one, which may contain some."""
    levels, rare = levels_of(column.kind)
    known = {*levels, *rare}
    parts = [part.strip() for part in given.split(",")]
    return parts if given not in known and known.issuperset(parts) else [given]


def _of_moments(said: Any, column: Input, kind: Curve, operator: str, given: str, text: str) -> Any:
    """Return a list of dates, or the ends of a range of them."""
    is_single = operator in ("=", "==")
    if said is not None and is_single != isinstance(said, list):
        raise ValueError(
            f"`where` must give either values of {column.name!r} or its ends, got {text!r} beside "
            "the other."
        )
    if is_single:
        return [*(said or []), given]
    span = moments_in(kind, given)
    if span is None:
        raise ValueError(f"`where` must compare {column.name!r} with {kind.wanted}, got {text!r}.")
    low, high = said or (None, None)
    if operator in (">", ">="):
        end = _moment(kind, span.first if operator == ">=" else span.last + 1)
        low = end if low is None else max(low, end)
    else:
        end = _moment(kind, span.last if operator == "<=" else span.first - 1)
        high = end if high is None else min(high, end)
    return low, high


def _moment(kind: Curve, microseconds: int) -> np.datetime64 | np.timedelta64:
    if isinstance(kind, Dates):
        return np.datetime64(microseconds, "us")
    return np.timedelta64(microseconds, "us")


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
        low, first, name, second, high = between.groups()
        return [(name, _OPPOSITE[first], low), (name, second, high)]
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
