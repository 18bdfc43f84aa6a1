"""Dates and times: elapsed time, and the position in the year, the week and the day.

Understood are, each alone or followed by a time: year first (2024-01-31, 2024/01/31, 2024-01,
20240131T1200), day or month first (31/01/2024, 31.01.2024, 31-01-24), English names of months (31
January 2024, Jan 31, 2024, Jan-31-2024, 31-Jan-24), months (Jan 2024, 01/2024, Jan-24) and quarters
(2024Q1). Times are 13:45, 13:45:30.5 or 1:45 PM. An offset from universal time (Z, +02:00) is
dropped: the time is that of the clock on the wall.

A moment `t` becomes one feature that grows with it, and for each cycle of period `P` that the
training data span the pair `sin(2 pi p)`, `cos(2 pi p)`, where `p = t / P mod 1` is the position in
it: the last and the first moment of a cycle are neighbours. A cycle is kept if the dates span it
once and have at least three positions in it: months, days of the week or hours. The week is left
out if all dates are the first or the last day of a month.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.support.duck import evaluate, literal
from greedynet.support.types import Float64
from greedynet.tables.kinds.base import (
    EffectPart,
    Kind,
    Promises,
    Reading,
    Spelling,
    Wording,
    let,
    pair,
    require,
)
from greedynet.tables.readers import TableError

Moments = NDArray[np.datetime64]

DAY_FIRST, MONTH_FIRST = "dmy", "mdy"
ORDERS = {DAY_FIRST: "day/month/year", MONTH_FIRST: "month/day/year"}
CYCLES = ("year", "week", "day")
UNITS = ("years", "days", "hours")

_DAY = 86_400_000_000  # microseconds
_PERIODS = {"year": 365 * _DAY, "week": 7 * _DAY, "day": _DAY}
_LEAST = 3  # positions in a cycle
# As many numbers up to 31 behind names of months are rather days than years.
_MANY_DAYS = 20
# Of each cycle, what its positions are called, and the SQL of one.
_POSITIONS = {"year": ("month", "month"), "week": ("weekday", "isodow"), "day": ("hour", "hour")}
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Texts

_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR, _TWO, _SHORT = "([0-9]{4})", "([0-9]{1,2})", "([0-9]{2})"
_NTH = "(?:st|nd|rd|th)?"
# Forms of dates, and what their groups are: year, month, day; the name of a month; a quarter; a
# year of two digits; and first and second part where the order of day and month is to be found.
_FORMS = (
    *((f"{_YEAR}{s}{_TWO}{s}{_TWO}", "ymd") for s in ("-", "/", "[.]")),
    (f"((?:1[5-9]|2[01])[0-9]{{2}})[-/]{_TWO}", "ym"),
    ("([0-9]{4})([0-9]{2})([0-9]{2})", "ymd"),
    *((f"{_TWO}({s}){_TWO}{s}([0-9]{{4}}|[0-9]{{2}})", "aobe") for s in ("-", "/", "[.]")),
    (f"{_TWO}{_NTH}[-/. ]*{_MONTH}[-/., ]*{_YEAR}", "dny"),
    (f"{_MONTH}[-. ]+{_TWO}{_NTH}[-, ]+{_YEAR}", "ndy"),
    (f"{_MONTH}[-/., ]*{_YEAR}", "ny"),
    (f"{_YEAR}[- ]?q([1-4])", "yq"),
    (f"q([1-4])[- /]?{_YEAR}", "qy"),
    (f"{_TWO}[-/]{_YEAR}", "my"),
    (f"{_TWO}-{_MONTH}-{_SHORT}", "dnz"),
    (f"{_MONTH}(?:-| ?'){_SHORT}", "nw"),
)
_TIME = (
    r"(?:[T, ]+([0-9]{1,2}):?([0-9]{2})(?::?([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"\s*([ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_PATTERN = (
    "(?i)^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[., ]+)?"
    f"(?:{'|'.join(pattern for pattern, _ in _FORMS)}){_TIME}$"
)
_GROUPS = [f"{c}{i}" for i, (_, groups) in enumerate(_FORMS) for c in groups]
_GROUPS += ["hour", "minute", "second", "part", "half"]


# Written as DuckDB reads it, which is fast.
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"


# What each letter stands for in all forms, "" where it is in none.
_LETTERS = ", ".join(
    f"'{letter}': "
    + " || ".join(f"a.{name}" for name in _GROUPS if name[0] == letter and len(name) < 4)
    for letter in "ymdnqzwabeo"
)


def _century(short: str) -> str:
    """Return the SQL of a year of two digits, as POSIX has it."""
    return f"case when {short} >= '69' then '19' else '20' end || {short}"


# The year, as text, month and day; or the year beside two parts; the time.
_PLAIN = f"""{{
    'year': case when g.z || g.w <> '' then {_century("g.z || g.w")} else g.y end,
    'month': case
        when g.n <> ''
        then (position(left(lower(g.n), 3) in 'janfebmaraprmayjunjulaugsepoctnovdec') + 2) // 3
        when g.q <> '' then 3 * cast(g.q as int) - 2 else try_cast(g.m as int) end,
    'other': case when length(g.e) = 2 then {_century("g.e")} else g.e end,
    'hour': case when a.half = '' then coalesce(try_cast(a.hour as int), 0)
        when cast(a.hour as int) between 1 and 12
        then cast(a.hour as int) % 12 + case when a.half ilike 'p%' then 12 else 0 end end,
    'second': case when a.second > '59' then '59' else a.second end
}}"""
_CLOCK = (
    "' ' || c.hour || ':' || right('0' || a.minute, 2) || ':' || right('0' || c.second, 2) || '.' "
    "|| left(a.part || '0', 6)"
)
_FIXED = "c.year || '-' || c.month || '-' || case when g.d = '' then '1' else g.d end"


def _in_order(day: str, month: str) -> str:
    """Return the SQL of the moment, where day and month may be two open parts."""
    date = f"case when g.a = '' then {_FIXED} else c.other || '-' || {month} || '-' || {day} end"
    return f"try_cast({date} || {_CLOCK} as timestamp)"


_BOTH = f"{{'dmy': {_in_order('g.a', 'g.b')}, 'mdy': {_in_order('g.b', 'g.a')}}}"
_READING = """case when b.dmy is not null or b.mdy is not null then {
    'dmy': b.dmy, 'mdy': b.mdy, 'of_month': g.w,
    'form': {
        'separator': g.o,
        'only': case when b.mdy is null then 'dmy' when b.dmy is null then 'mdy' else '' end,
        'short': case when length(g.e) = 2 then g.e > '31' end,
        'is_month': g.w <> ''}
    } end"""


def _known(moment: str) -> str:
    """Return the SQL of the reading of a moment, whose order is plain."""
    form = "{'separator': '', 'only': '', 'short': cast(null as boolean), 'is_month': false}"
    found = f"{{'dmy': {moment}, 'mdy': {moment}, 'of_month': '', 'form': {form}}}"
    return f"case when {moment} is not null then {found} end"


@dataclass(frozen=True)
class Dates(Kind):
    """A column of dates or times.

    Attributes
    ----------
    first, last : str
        The earliest and the latest date of the training data, as in ISO 8601.
    unit : {"years", "days", "hours"}
        Of the elapsed time: the year with its fraction, or days or hours since the first date.
    cycles : tuple of {"year", "week", "day"}
        Those whose positions are features.
    order : {"dmy", "mdy"} or None
        Order of day and month in texts such as 01/02/2024; None if there were none.
    """

    first: str = "1970-01-01"
    last: str = "1970-01-01"
    unit: str = "days"
    cycles: tuple[str, ...] = ()
    order: str | None = None
    name: ClassVar[str] = "date"
    nouns: ClassVar[str] = "dates"
    typed: ClassVar[str] = "M"
    measures: ClassVar[Mapping[str, str]] = {
        f"{what}_{order}": sql.format(f"p.{order}")
        for order in ORDERS
        for what, sql in {
            "low": "min({})",
            "high": "max({})",
            "is_sane": "min(year({0})) >= 1 and max(year({0})) <= 9999",
            "first_days": "bool_and(day({}) = 1)",
            "last_days": "bool_and(day({} + interval 1 day) = 1)",
            **{cycle: f"list(distinct {sql}({{}}))" for cycle, (_, sql) in _POSITIONS.items()},
        }.items()
    } | {"of_month": "list(distinct p.of_month)"}

    # The decision

    def test(self, cell: str) -> str:
        """Return the SQL of whether a text may be a date."""
        return f"regexp_matches({cell}, {literal(_PATTERN)})"

    def reading(self, cell: str) -> str:
        """Return the SQL of the moment in both orders; the form says which of them there are."""
        careful = {"a": f"regexp_extract({cell}, {literal(_PATTERN)}, {_GROUPS})"}
        careful |= {"g": f"{{{_LETTERS}}}", "c": _PLAIN, "b": _BOTH}
        return (
            f"case when regexp_full_match({cell}, {literal(_ISO)}) "
            f"then {_known(f'try_cast({cell} as timestamp)')} "
            f"when {self.test(cell)} then {let(careful, _READING)} end"
        )

    @staticmethod
    def typed_reading(cell: str) -> str:
        """Return the SQL of the reading of a cell that is a moment."""
        return _known(cell)

    def decide(self, found: Reading, words: Wording, said: Promises) -> tuple[Kind, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise."""
        order, note = _order(found.forms, words, said.dates)
        note = _of_months(found, words) or note
        return _of_forms(found.forms, order, words), note

    # Cells

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        written = "such as 2024-01-31" if self.order is None else f"({ORDERS[self.order]})"
        return f"dates {written}"

    def expression(self, cell: str) -> str:
        """Return the SQL of the moment; without an order, one is not invented."""
        # Dates with points have the day first wherever they are used.
        plain = "p.form.separator in ('', '.')"
        is_known = "true" if self.order == DAY_FIRST else plain
        found = "p.mdy" if self.order == MONTH_FIRST else f"case when {is_known} then p.dmy end"
        return let({"p": self.reading(cell)}, found)

    def features(self, name: str) -> tuple[str, ...]:
        """Return the elapsed time, and two features per cycle."""
        pairs = (f"{name}: {f} of {cycle}" for cycle in self.cycles for f in ("sin", "cos"))
        return (f"{name}: {self._elapsed_name}", *pairs)

    @property
    def _elapsed_name(self) -> str:
        return "year" if self.unit == "years" else f"{self.unit} since {self.first[:10]}"

    def write(self, values: NDArray[Any], out: Float64) -> None:
        """Write the elapsed time and the pairs."""
        out[:, 0] = self._elapsed(values)
        for i, cycle in enumerate(self.cycles):
            out[:, 2 * i + 1 : 2 * i + 3] = pair(position(values, cycle))

    def _elapsed(self, moments: Moments) -> Float64:
        if self.unit == "years":
            return moments.astype("M8[Y]").astype(np.int64) + 1970 + position(moments, "year")
        # Days begin at midnight; hours would be lost in a fraction of a year.
        start = np.datetime64(self.first[:10], "us")
        unit = _DAY if self.unit == "days" else _DAY / 24
        elapsed: Float64 = (moments - start).astype(np.int64) / unit
        return elapsed

    def parts(self, name: str) -> tuple[EffectPart, ...]:
        """Return the elapsed time, and a turn of each cycle."""
        found = [EffectPart(self.features(name)[0], (0,))]
        for i, cycle in enumerate(self.cycles):
            places, labels = self._turn(cycle)
            what = f"{name}: {_POSITIONS[cycle][0]}"
            found.append(EffectPart(what, (2 * i + 1, 2 * i + 2), places, labels))
        return tuple(found)

    def _turn(self, cycle: str) -> tuple[Float64, Sequence[str]]:
        """Return the pairs of a turn of a cycle, and their names."""
        if cycle == "year":
            return pair((np.arange(12) + 0.5) / 12), _MONTHS
        if cycle == "week":
            noon = 0.5 if "day" in self.cycles else 0.0  # dates without a time are midnights
            return pair((np.arange(7) + noon) / 7), _WEEKDAYS
        return pair(np.arange(24) / 24), [str(hour) for hour in range(24)]

    def describe(self) -> str:
        """Return the range of the dates and what is made of them."""
        cycles = "".join(f", position in the {cycle}" for cycle in self.cycles)
        order = "" if self.order is None else f", written {ORDERS[self.order]}"
        between = f"from {_short(self.first)} to {_short(self.last)}"
        return f"a date {between}{order}: {self._elapsed_name}{cycles}"

    def example(self, means: Sequence[float]) -> str:
        """Return the last date."""
        return _short(self.last)

    def check(self) -> None:
        """Raise an error for fields that cannot be."""
        for end in (self.first, self.last):
            require(isinstance(end, str) and bool(datetime.fromisoformat(end)), "dates with", end)
        fields = (self.unit, self.cycles, self.order)
        is_right = self.unit in UNITS and self.order in (None, *ORDERS)
        is_right = is_right and isinstance(self.cycles, tuple) and set(self.cycles) <= set(CYCLES)
        require(is_right, "dates with unit, cycles and order", fields)


# Positions


def position(moments: Moments, cycle: str) -> Float64:
    """Return the position in a cycle, from 0 to 1; weeks begin on Monday."""
    if cycle == "year":
        years = moments.astype("M8[Y]")
        begin, end = years.astype("M8[us]"), (years + 1).astype("M8[us]")
        share: Float64 = (moments - begin).astype(np.int64) / (end - begin).astype(np.int64)
        return share
    monday = 3 * _DAY if cycle == "week" else 0  # 1970 began on a Thursday
    place: Float64 = (moments.astype(np.int64) + monday) % _PERIODS[cycle] / _PERIODS[cycle]
    return place


def _short(moment: str) -> str:
    """Return a date without a time that is midnight."""
    return moment.removesuffix(" 00:00:00")


# The decision


def _of_forms(forms: Sequence[Spelling], order: str | None, words: Wording) -> Dates:
    """Return the kind of a column with these dates: their range, and their positions in cycles."""

    def all_of(what: str) -> list[Any]:
        found = (form.measures[f"{what}_{order or DAY_FIRST}"] for form in forms)
        return [value for value in found if value is not None]

    is_sane = all_of("is_sane")
    if not is_sane or not all(is_sane):
        raise TableError(
            f"{words.what} holds dates beyond the years 1 to 9999: correct them, or "
            f"{words.as_text}."
        )
    first, last = min(all_of("low")), max(all_of("high"))
    span = (last - first) // timedelta(microseconds=1)
    n_positions = {cycle: len({*chain(*all_of(cycle))} - {None}) for cycle in CYCLES}
    cycles = [c for c in CYCLES if span >= _PERIODS[c] and n_positions[c] >= _LEAST]
    if "week" in cycles and (all(all_of("first_days")) or all(all_of("last_days"))):
        cycles.remove("week")
    n_days = span / _DAY
    unit = "years" if n_days >= 730 else "days" if n_days >= 2 else "hours"
    return Dates(str(first), str(last), unit, tuple(cycles), order)


def _of_months(found: Reading, words: Wording) -> str:
    """Return what was assumed of texts such as Jan-24, which may be a month or a day."""
    forms = [form for form in found.forms if form.how["is_month"]]
    if not forms:
        return ""
    text = forms[0].text
    parts = sorted(map(int, set(chain(*(form.measures["of_month"] for form in forms)))))
    are_days = parts[0] >= 1 and parts[-1] <= 31 and len(parts) >= _MANY_DAYS
    if are_days or len(forms) < len(found.forms):
        why = "may be days without a year" if are_days else "stands beside dates with a day"
        raise TableError(
            f"{words.what} holds {text!r}, which {why}: write years of four digits, or "
            f"{words.as_text}."
        )
    (moment,) = evaluate(Dates().expression, [text], "M")
    return f"{text!r} is read as {moment.item():%B %Y}"


def _order(
    forms: Sequence[Spelling], words: Wording, promised: str | None
) -> tuple[str | None, str]:
    """Return the order of day and month, and what was assumed of it."""
    open_ones = [form for form in forms if form.how["separator"]]
    only = {form.how["only"]: form.text for form in reversed(open_ones) if form.how["only"]}
    # Dates with points have the day first.
    slashed = [form for form in open_ones if form.how["separator"] != "."]
    either = next((form.text for form in slashed if not form.how["only"]), None)
    short = [form for form in slashed if form.how["short"] is not None]
    if not open_ones:
        return None, ""
    if len(only) > 1:
        raise TableError(
            f"{words.what} holds {only[DAY_FIRST]!r}, day first, and {only[MONTH_FIRST]!r}, month "
            f"first: write all dates in one order, or {words.as_text}."
        )
    shown = next(iter(only), None)
    if promised is not None:
        if shown not in (None, promised):
            raise TableError(
                f"{words.what} holds {only[shown]!r}, which is no date with "
                f"`dates={promised!r}`: write `dates={shown!r}`, or {words.as_text}."
            )
        return promised, ""
    if short and not any(form.how["short"] for form in short):
        raise TableError(
            f"{words.what} holds {short[0].text!r}, of which the year could be the first or the "
            'last part: write `dates="dmy"` or `dates="mdy"` if it is the last, years of four '
            f"digits, or {words.as_text}."
        )
    if shown is not None:
        return shown, f"dates are read as {ORDERS[shown]}, as in {only[shown]!r}"
    if either is not None:
        raise TableError(
            f"{words.what} holds dates such as {either!r}, none with a day above 12: "
            'write `dates="dmy"` if the day comes first, `dates="mdy"` if the month does, or '
            f"{words.as_text}."
        )
    return DAY_FIRST, "dates with points are read as day.month.year"
