"""Columns that say nothing about other rows: keys, names, row numbers, constants, empty columns.

They are left out, which is said: a network would learn the order of the rows from them, or nothing.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from greedynet.tables.survey import Survey

_SHOWN = 4
_FEWEST = 10  # rows, below which anything may come in order
# house_id, ID, customerId, row number, rownames
_KEY = re.compile(
    r"(?:(?i:.*[\s_.-])?(?i:id|key|index|idx|nr|no|row|number|row[\s_.]?names?)|.*[a-z]I[dD])"
)
# Columns of these names count something that goes on beyond the table.
_TIME = re.compile(
    r"x|(?i:t|.*(?:time|day|week|month|quarter|year|date|hour|minute|second|step))s?"
)

_CONSTANT, _EMPTY, _KEYS, _NUMBERS = "constant", "empty", "keys", "row numbers"
# Text of which most values come once, which takes a look at all of them.
NAMES = "names"


def useless_columns(
    surveys: Mapping[str, Survey], target: str, kept: Collection[str]
) -> dict[str, str]:
    """Return the columns that say nothing about other rows, with the reason.

    If all others are such, those that are not empty are used after all.
    """
    names = [name for name in surveys if name != target]
    found = {
        name: reason
        for name in names
        if name not in kept and (reason := _reason(name, surveys[name])) is not None
    }
    if len(found) == len(names):
        empty = {name: why for name, why in found.items() if why == _EMPTY}
        found = empty if len(empty) < len(names) else {}
    return found


def _reason(name: str, found: Survey) -> str | None:
    """Return why a column says nothing, None if it may say something."""
    if found.empty == found.rows:
        return _EMPTY
    if found.distinct is not None and len(found.distinct) == 1 and not found.empty:
        return _CONSTANT
    if found.rows < _FEWEST:
        return None
    plain, is_key = found.plain, _KEY.fullmatch(name.strip()) is not None
    if found.numbers == found.full:
        if plain.is_counting and plain.low in (0.0, 1.0) and _TIME.fullmatch(name.strip()) is None:
            return _NUMBERS
        return _KEYS if is_key and found.all_differ and not plain.has_fractions else None
    return _KEYS if is_key and found.all_differ else None


_WORDS = {
    _EMPTY: ("is empty", "are empty"),
    _CONSTANT: ("is the same in every row", "are the same in every row"),
    _KEYS: ("is a key, different in every row", "are keys, different in every row"),
    _NUMBERS: ("counts the rows", "count the rows"),
    NAMES: ("is text that hardly repeats", "are texts that hardly repeat"),
}


def reasons_in_words(left_out: Mapping[str, str], surveys: Mapping[str, Survey]) -> tuple[str, ...]:
    """Return a line for each reason, with the columns that are left out for it."""
    lines = []
    for reason, (one, several) in _WORDS.items():
        names = [name for name, why in left_out.items() if why == reason]
        if names:
            said = f"{some_names(names)} {one if len(names) == 1 else several}"
            if reason == _CONSTANT and len(names) == 1:
                value = next(iter(surveys[names[0]].distinct or ()))
                said = f"{names[0]!r} is {value!r} in every row"
            example = surveys[names[0]].text if reason == NAMES else None
            said += "" if example is None else f", such as {example[0]!r}"
            which = "it" if len(names) == 1 else "them"
            keeps = f"; `use={names[0]!r}` keeps {which}" if reason != NAMES else ""
            lines.append(f"{said}: left out{keeps}")
    return tuple(lines)


def some_names(names: Sequence[str]) -> str:
    """List the first few names."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
