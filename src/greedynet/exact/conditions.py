"""Conditions in text, such as `age<=30` or `kind=A`, as `where` and `constraints` of a question."""

import re
from collections.abc import Sequence
from typing import Any

from greedynet.exact.region import GAP, Constraint
from greedynet.tables.columns import Columns
from greedynet.tables.kinds import Truths

_OPERATOR = re.compile(r"\s*(<=|>=|==|<|>|=)\s*")
_MISSING = " is missing"
_TRUTHS = {"true": "1", "false": "0"}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(r"^\s*([^<>=]+?)\s*(<=?)\s*(.+?)\s*<=?\s*([^<>=]+?)\s*$")


def parse_conditions(texts: Sequence[str], columns: Columns) -> dict[str, Any]:
    """Return the region that conditions describe together.

    Parameters
    ----------
    texts : sequence of str
        `age<=30`, `10<=size<=80`, `rooms=3`, `new=true`, `kind=A`, `sold=2024-05-31` or `age is
        missing`; two conditions on the levels of a category, or on dates, allow both, two on a
        number hold both. `<` is the same as `<=`: a largest value exists only where ends belong to
        the region.
    columns : Columns
        Those of the model.
    """
    are_numbers = {column.name: column.is_number for column in columns.inputs}
    truths = {column.name for column in columns.inputs if isinstance(column.kind, Truths)}
    where: dict[str, Any] = {}
    empty = [text.strip().removesuffix(_MISSING) for text in texts]
    empty = [name for name in empty if name in columns.names]
    for text in texts:
        if text.strip().removesuffix(_MISSING) in empty:
            continue
        for name, operator, given in _parts(text, list(are_numbers)):
            value = _TRUTHS.get(given.lower(), given) if name in truths else given
            if are_numbers[name]:
                where[name] = _narrowed(where.get(name, (None, None)), operator, value, text)
            else:
                _check_equal(text, name, operator)
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


def _check_equal(text: str, name: str, operator: str) -> None:
    if operator not in ("=", "=="):
        raise ValueError(
            f"`where` must give a value of {name!r}, which is no number, by '=', got {text!r}."
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
