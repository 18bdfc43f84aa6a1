"""Conditions in text, such as `age<=30` or `kind=A`, as the `where` of a question."""

import re
from collections.abc import Sequence
from typing import Any

from greedynet.tables.columns import Columns

_OPERATOR = re.compile(r"\s*(<=|>=|==|<|>|=)\s*")
_BETWEEN = re.compile(r"^\s*([^<>=]+?)\s*(<=?)\s*(.+?)\s*<=?\s*([^<>=]+?)\s*$")


def parse_conditions(texts: Sequence[str], columns: Columns) -> dict[str, Any]:
    """Return the region that conditions describe together.

    Parameters
    ----------
    texts : sequence of str
        `age<=30`, `10<=size<=80`, `rooms=3`, `kind=A` or `sold=2024-05-31`; two conditions on the
        levels of a category, or on dates, allow both, two on a number hold both. `<` is the same as
        `<=`: a largest value exists only where ends belong to the region.
    columns : Columns
        Those of the model.
    """
    are_numbers = {column.name: column.is_number for column in columns.inputs}
    where: dict[str, Any] = {}
    for text in texts:
        for name, operator, value in _parts(text, list(are_numbers)):
            if are_numbers[name]:
                where[name] = _narrowed(where.get(name, (None, None)), operator, value, text)
            else:
                _check_equal(text, name, operator)
                where.setdefault(name, []).append(value)
    return where


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
