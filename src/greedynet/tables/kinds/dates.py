"""Dates and times: elapsed time, and the position in the year, the week and the day.

A moment `t` becomes one feature that grows with it, and for each cycle of period `P` that the
training data span the pair `sin(2 pi p)`, `cos(2 pi p)`, where `p = t / P mod 1` is the position in
it: the last and the first moment of a cycle are neighbours. A cycle is kept if the dates span it
once and have at least three positions in it: months, days of the week or hours. The week is left
out if all dates are the first or the last day of a month.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Part, Problems, Tally, TextTally, Wording
from greedynet.tables.kinds.date_texts import (
    DAY_FIRST,
    MONTH_FIRST,
    ORDERS,
    Moments,
    iso_moments,
    read_moment,
    read_moments,
)
from greedynet.tables.readers import TableError
from greedynet.tables.readers.base import Column, distinct_texts, is_typed

CYCLES = ("year", "week", "day")
UNITS = ("years", "days", "hours")

_DAY = 86_400_000_000  # microseconds
_YEAR = 365 * _DAY
_LEAST = 3  # positions in a cycle
# As many numbers up to 31 behind names of months are rather days than years.
_MANY_DAYS = 20
# Of each cycle, what its positions are called, and how many are told apart.
_POSITIONS = {"year": ("month", 12), "week": ("weekday", 7), "day": ("hour", 24)}
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Dates:
    """A column of dates or times, see `base.Kind`.

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

    first: str
    last: str
    unit: str = "days"
    cycles: tuple[str, ...] = ()
    order: str | None = None
    levels = None
    expression = None

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        written = "such as 2024-01-31" if self.order is None else f"({ORDERS[self.order]})"
        return f"dates {written}"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1 + 2 * len(self.cycles)

    def features(self, name: str) -> tuple[str, ...]:
        """Return the elapsed time, and two features per cycle."""
        pairs = (f"{name}: {f} of {cycle}" for cycle in self.cycles for f in ("sin", "cos"))
        return (f"{name}: {self._elapsed_name}", *pairs)

    @property
    def _elapsed_name(self) -> str:
        return "year" if self.unit == "years" else f"{self.unit} since {self.first[:10]}"

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the elapsed time and the pairs."""
        moments, empty = _moments(cells, self.order)
        none = np.isnat(moments)
        out[:, 0] = self._elapsed(moments)
        for i, cycle in enumerate(self.cycles):
            out[:, 2 * i + 1 : 2 * i + 3] = pair(position(moments, cycle))
        if not none.any():
            return {}
        out[none] = np.nan
        return {"empty": empty, "text": none & ~empty}

    def _elapsed(self, moments: Moments) -> Float64:
        if self.unit == "years":
            return moments.astype("M8[Y]").astype(np.int64) + 1970 + position(moments, "year")
        # Days begin at midnight; hours would be lost in a fraction of a year.
        start = np.datetime64(self.first[:10], "us")
        unit = _DAY if self.unit == "days" else _DAY / 24
        elapsed: Float64 = (moments - start).astype(np.int64) / unit
        return elapsed

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return the elapsed time, and a turn of each cycle."""
        found = [Part(self.features(name)[0], (0,))]
        for i, cycle in enumerate(self.cycles):
            places, labels = self._turn(cycle)
            what = f"{name}: {_POSITIONS[cycle][0]}"
            found.append(Part(what, (2 * i + 1, 2 * i + 2), places, labels))
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

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"type": "date", **vars(self), "cycles": list(self.cycles)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Dates":
        """Return the dates from plain values, or raise an error for what cannot be."""
        ends = [str(datetime.fromisoformat(str(state[end]))) for end in ("first", "last")]
        unit, cycles, order = state["unit"], tuple(state["cycles"]), state["order"]
        if unit not in UNITS or not set(cycles) <= set(CYCLES) or order not in (None, *ORDERS):
            raise ValueError(f"dates with unit {unit!r}, cycles {cycles!r} and order {order!r}")
        return cls(ends[0], ends[1], unit, cycles, order)


# Positions


def position(moments: Moments, cycle: str) -> Float64:
    """Return the position in a cycle, from 0 to 1; weeks begin on Monday."""
    if cycle == "year":
        years = moments.astype("M8[Y]")
        begin, end = years.astype("M8[us]"), (years + 1).astype("M8[us]")
        share: Float64 = (moments - begin).astype(np.int64) / (end - begin).astype(np.int64)
        return share
    period = 7 * _DAY if cycle == "week" else _DAY
    monday = 3 * _DAY if cycle == "week" else 0  # 1970 began on a Thursday
    place: Float64 = (moments.astype(np.int64) + monday) % period / period
    return place


def pair(places: Float64) -> Float64:
    """Return sine and cosine of positions in a cycle, `(n, 2)`."""
    angles = 2.0 * np.pi * places
    return np.column_stack([np.sin(angles), np.cos(angles)])


def _moments(cells: Column, order: str | None) -> tuple[Moments, Any]:
    """Return cells as dates, NaT where there is none, and a mask of the empty cells."""
    if is_typed(cells, "M"):
        moments: Moments = np.asarray(cells)
        return moments, np.isnat(moments)
    texts, codes = distinct_texts(cells)
    full = [text for text in texts if text]
    found = np.full(len(texts), "NaT", dtype="M8[us]")
    found[[i for i, text in enumerate(texts) if text]] = read_moments(full, order)
    empty = np.array([not text for text in texts], dtype=np.bool_)
    return found[codes], empty[codes]


def _short(moment: str) -> str:
    """Return a date without a time that is midnight."""
    return moment.removesuffix(" 00:00:00")


# The decision


class Spread(Tally):
    """The range of dates, and their positions in each cycle."""

    def __init__(self) -> None:
        self.first: np.datetime64 | None = None
        self.last: np.datetime64 | None = None
        self._positions: dict[str, set[int]] = {cycle: set() for cycle in CYCLES}
        self._is_monthly = {"first": True, "last": True}

    def add(self, moments: Moments) -> None:
        """Add dates, none of them NaT."""
        if not len(moments):
            return
        low, high = moments.min(), moments.max()
        self.first = low if self.first is None else min(self.first, low)
        self.last = high if self.last is None else max(self.last, high)
        for cycle, seen in self._positions.items():
            n = _POSITIONS[cycle][1]
            seen |= set(np.unique(np.floor(n * position(moments, cycle))).astype(int).tolist())
        day = moments.astype("M8[D]")
        months = day.astype("M8[M]")
        self._is_monthly["first"] &= bool((day == months.astype("M8[D]")).all())
        self._is_monthly["last"] &= bool((day + 1 == (months + 1).astype("M8[D]")).all())

    @property
    def is_sane(self) -> bool:
        """Whether there are dates, all in the calendar."""
        ends = (self.first, self.last)
        return all(end is not None and isinstance(end.item(), datetime) for end in ends)

    def kind(self, order: str | None) -> Dates:
        """Return the kind of a column with these dates."""
        assert self.first is not None
        assert self.last is not None
        span = int((self.last - self.first).astype(np.int64))
        periods = {"year": _YEAR, "week": 7 * _DAY, "day": _DAY}
        cycles = [
            cycle
            for cycle in CYCLES
            if span >= periods[cycle] and len(self._positions[cycle]) >= _LEAST
        ]
        if "week" in cycles and any(self._is_monthly.values()):
            cycles.remove("week")
        unit = "years" if span >= 2 * _YEAR else "days" if span >= 2 * _DAY else "hours"
        ends = (str(self.first.item()), str(self.last.item()))
        return Dates(*ends, unit, tuple(cycles), order)


class DateTally(TextTally):
    """Dates among the texts of a column, in both orders of day and month."""

    def __init__(self) -> None:
        super().__init__()
        self._spreads = {DAY_FIRST: Spread(), MONTH_FIRST: Spread()}
        self._found: dict[str, list[datetime]] = {DAY_FIRST: [], MONTH_FIRST: []}
        self._only: dict[str, str] = {}  # an order -> the first text that has no other
        self._either: str | None = None
        self._short: str | None = None
        self._is_year = False  # some year of two digits is no day
        self._has_points = False
        self._months: dict[int, str] = {}  # what follows the name of a month -> the first text
        self._n_months = 0

    def add(self, texts: Sequence[str], counts: Sequence[int], rows: Sequence[int]) -> None:
        """Add distinct texts, how often each comes, and the row of the first, from 1."""
        plain = iso_moments(texts)
        if plain is not None and len(plain):
            self._add_moments(plain, sum(counts))
            return
        super().add(texts, counts, rows)
        for order, found in self._found.items():
            self._spreads[order].add(np.array(found, dtype="M8[us]"))
            found.clear()

    def add_moments(self, moments: Moments) -> None:
        """Add dates that are no texts, NaT for empty cells."""
        full = moments[~np.isnat(moments)]
        self._add_moments(full, len(full))

    def _add_moments(self, moments: Moments, count: int) -> None:
        self.n += count
        for spread in self._spreads.values():
            spread.add(moments)

    def takes(self, text: str, count: int, row: int) -> bool:
        """Count a text, or return False if it is no date."""
        moment = read_moment(text)
        if moment is None:
            return False
        both = {DAY_FIRST: moment.day_first, MONTH_FIRST: moment.month_first}
        possible = {order: date for order, date in both.items() if date is not None}
        for order, date in possible.items():
            self._found[order].append(date)
        if moment.of_month is not None:
            self._months.setdefault(moment.of_month, text)
            self._n_months += count
        if moment.separator:
            if len(possible) == 1:
                self._only.setdefault(next(iter(possible)), text)
            elif moment.separator != ".":
                self._either = self._either or text
            self._has_points |= moment.separator == "."
        if moment.short is not None and moment.separator != ".":
            self._short = self._short or text
            self._is_year |= moment.short > 31
        return True

    def decide(self, words: Wording, promised: str | None = None) -> tuple[Dates, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise.

        `promised` is the order of day and month, if the user has given it.
        """
        order, note = self._order(words, promised)
        note = self._of_months(words) or note
        if not self._spreads[order or DAY_FIRST].is_sane:
            raise TableError(
                f"{words.what} holds dates beyond the years 1 to 9999: correct them, or "
                f"{words.as_text}."
            )
        return self._spreads[order or DAY_FIRST].kind(order), note

    def _of_months(self, words: Wording) -> str:
        """Return what was assumed of texts such as Jan-24, which may be a month or a day."""
        if not self._months:
            return ""
        parts, text = sorted(self._months), next(iter(self._months.values()))
        are_days = parts[0] >= 1 and parts[-1] <= 31 and len(parts) >= _MANY_DAYS
        if are_days or self._n_months < self.n:
            why = "may be days without a year" if are_days else "stands beside dates with a day"
            raise TableError(
                f"{words.what} holds {text!r}, which {why}: write years of four digits, or "
                f"{words.as_text}."
            )
        moment = read_moment(text)
        assert moment is not None
        return f"{text!r} is read as {moment.day_first:%B %Y}"

    def _order(self, words: Wording, promised: str | None) -> tuple[str | None, str]:
        if not self._only and self._either is None and not self._has_points:
            return None, ""
        if len(self._only) > 1:
            raise TableError(
                f"{words.what} holds {self._only[DAY_FIRST]!r}, day first, and "
                f"{self._only[MONTH_FIRST]!r}, month first: write all dates in one order, or "
                f"{words.as_text}."
            )
        shown = next(iter(self._only), None)
        if promised is not None:
            if shown not in (None, promised):
                raise TableError(
                    f"{words.what} holds {self._only[shown]!r}, which is no date with "
                    f"`dates={promised!r}`: write `dates={shown!r}`, or {words.as_text}."
                )
            return promised, ""
        if self._short is not None and not self._is_year:
            raise TableError(
                f"{words.what} holds {self._short!r}, of which the year could be the first or the "
                'last part: write `dates="dmy"` or `dates="mdy"` if it is the last, years of four '
                f"digits, or {words.as_text}."
            )
        if shown is not None:
            return shown, f"dates are read as {ORDERS[shown]}, as in {self._only[shown]!r}"
        if self._either is not None:
            raise TableError(
                f"{words.what} holds dates such as {self._either!r}, none with a day above 12: "
                'write `dates="dmy"` if the day comes first, `dates="mdy"` if the month does, or '
                f"{words.as_text}."
            )
        return DAY_FIRST, "dates with points are read as day.month.year"
