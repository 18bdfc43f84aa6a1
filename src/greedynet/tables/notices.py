"""What a table may have that its owner did not mean: constants, keys, a target of two numbers.

Nothing is left out for it. A constant column does no harm, and a numbered row may be a time; who
knows the table decides.
"""

import re
from collections.abc import Mapping

from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.kinds import Numbers
from greedynet.tables.kinds.date_texts import read_moment
from greedynet.tables.readers import Table
from greedynet.tables.survey import MOST_DISTINCT, Survey

_SHOWN = 4
_FEWEST = 10  # rows, below which anything may come in order
# house_id, ID, customerId, row number
_KEY = re.compile(r"(?:(?i:.*[\s_.-])?(?i:id|key|index|idx|nr|no|row|number)|.*[a-z]I[dD])")


def notices(table: Table, surveys: Mapping[str, Survey], types: ColumnTypes) -> list[str]:
    """Return what is worth a look, a line each."""
    found = [_constants(surveys, types), _keys(surveys, types), _numbered_dates(surveys, types)]
    found.append(_two_numbers(surveys[types.target], types))
    return [f"{table.label}: {line}" for line in found if line]


def _constants(surveys: Mapping[str, Survey], types: ColumnTypes) -> str:
    names = [
        name
        for name in types.inputs.names
        if len(surveys[name].distinct or ()) == 1 and not surveys[name].empty
    ]
    if not names:
        return ""
    value = next(iter(surveys[names[0]].distinct or ()))
    what = f"{names[0]!r} is {value!r} in every row" if len(names) == 1 else f"{_some(names)} are "
    end = "" if len(names) == 1 else "the same in every row"
    return f"{what}{end}, which tells nothing: drop with `ignore={names[0]!r}`"


def _keys(surveys: Mapping[str, Survey], types: ColumnTypes) -> str:
    names = [
        column.name
        for column in types.inputs.of_table
        if column.kind == Numbers() and _is_key(column.name, surveys[column.name])
    ]
    if not names:
        return ""
    looks = "looks like a key" if len(names) == 1 else "look like keys"
    return (
        f"{_some(names)} {looks} or a row number, and is used as a number: unless it is a time, "
        f"drop it with `ignore={names[0]!r}`"
    )


def _is_key(name: str, found: Survey) -> bool:
    """Whether numbers count the rows, or are whole, all different and called a key."""
    plain = found.plain
    if plain.has_fractions or found.rows < _FEWEST:
        return False
    if plain.is_counting and plain.low in (0.0, 1.0):
        return True
    many = found.distinct is None  # more than are counted
    all_differ = many if found.rows > MOST_DISTINCT else len(found.distinct or ()) == found.rows
    return all_differ and _KEY.fullmatch(name.strip()) is not None


def _numbered_dates(surveys: Mapping[str, Survey], types: ColumnTypes) -> str:
    names = [
        column.name
        for column in types.inputs.of_table
        if column.kind == Numbers() and _is_date(surveys[column.name])
    ]
    if not names:
        return ""
    low = surveys[names[0]].plain.low
    return (
        f"{_some(names)} looks like dates, such as {low:.0f}, and is used as a number: write "
        f"{_dashed(low)} for a date"
    )


def _is_date(found: Survey) -> bool:
    """Whether whole numbers lie between two dates written like 20240131."""
    plain = found.plain
    if plain.has_fractions or not plain.low < plain.high:
        return False
    in_range = plain.low >= 15000101 and plain.high <= 21991231
    return in_range and all(read_moment(_dashed(x)) is not None for x in (plain.low, plain.high))


def _dashed(number: float) -> str:
    text = f"{number:.0f}"
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _two_numbers(found: Survey, types: ColumnTypes) -> str:
    if types.classes is not None or len(found.distinct or ()) != 2:
        return ""
    low, high = sorted(found.distinct or ())
    return (
        f"the target {types.target!r} holds only {low} and {high}, and is fitted as a number, so "
        "that predictions may lie between: write `classes=True` for classes with probabilities"
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
