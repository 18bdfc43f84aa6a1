"""What a table may have that its owner did not mean: numbered dates, a target of two numbers."""

from collections.abc import Mapping
from datetime import date

from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.kinds import Numbers
from greedynet.tables.readers import Table
from greedynet.tables.survey import Survey
from greedynet.tables.useless import some_names


def notices(table: Table, surveys: Mapping[str, Survey], types: ColumnTypes) -> list[str]:
    """Return what is worth a look, a line each."""
    found = [*table.noticed, *types.left_out, _numbered_dates(surveys, types)]
    found.append(_two_numbers(surveys[types.target.name], types))
    return [f"{table.label}: {line}" for line in found if line]


def _numbered_dates(surveys: Mapping[str, Survey], types: ColumnTypes) -> str:
    names = [
        column.name
        for column in types.inputs.of_table
        if column.kind == Numbers() and _is_date(surveys[column.name])
    ]
    if not names:
        return ""
    low = surveys[names[0]].plain.low or 0.0
    return (
        f"{some_names(names)} looks like dates, such as {low:.0f}, and is used as a number: write "
        f"{_dashed(low)} for a date"
    )


def _is_date(found: Survey) -> bool:
    """Whether whole numbers lie between two dates written like 20240131."""
    plain = found.plain
    if plain.has_fractions or plain.low is None or plain.high is None or plain.low == plain.high:
        return False
    in_range = plain.low >= 15000101 and plain.high <= 21991231
    return in_range and all(_is_day(_dashed(x)) for x in (plain.low, plain.high))


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _dashed(number: float) -> str:
    text = f"{number:.0f}"
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _two_numbers(found: Survey, types: ColumnTypes) -> str:
    if types.target.classes is not None or len(found.distinct or ()) != 2:
        return ""
    low, high = sorted(found.distinct or ())
    return (
        f"the target {types.target.name!r} holds only {low} and {high}, and is fitted as a number, "
        "so that predictions may lie between: write `classes=True` for classes with probabilities"
    )
