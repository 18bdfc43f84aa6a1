"""Dates in texts -> moments, in microseconds; which order of day and month they have.

Understood are, each alone or followed by a time: year first (2024-01-31, 2024/01/31, 2024-01,
20240131T1200), day or month first (31/01/2024, 31.01.2024, 31-01-24), English names of months (31
January 2024, Jan 31, 2024, Jan-31-2024, 31-Jan-24), months (Jan 2024, 01/2024, Jan-24) and quarters
(2024Q1). Times are 13:45, 13:45:30.5 or 1:45 PM. An offset from universal time (Z, +02:00) is
dropped: the time is that of the clock on the wall.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

Moments = NDArray[np.datetime64]

DAY_FIRST, MONTH_FIRST = "dmy", "mdy"
ORDERS = {DAY_FIRST: "day/month/year", MONTH_FIRST: "month/day/year"}

# A text that NumPy reads as we do.
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")

_DAYS = "mon|tue|wed|thu|fri|sat|sun"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH_NUMBERS = {name: i for i, name in enumerate(_MONTHS.split("|"), 1)}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_FORMS = (
    r"(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})",
    r"(?P<y2>(?:1[5-9]|2[01])\d\d)[-/](?P<m2>\d{1,2})",
    r"(?P<y3>\d{4})(?P<m3>\d{2})(?P<d3>\d{2})(?=T)",
    r"(?P<a>\d{1,2})(?P<s4>[-/.])(?P<b>\d{1,2})(?P=s4)(?P<y4>\d{4}|\d{2})",
    rf"(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?[-/. ]*(?P<n5>{_MONTH})[-/., ]*(?P<y5>\d{{4}})",
    rf"(?P<n6>{_MONTH})[-. ]+(?P<d6>\d{{1,2}})(?:st|nd|rd|th)?[-, ]+(?P<y6>\d{{4}})",
    rf"(?P<n7>{_MONTH})[-/., ]*(?P<y7>\d{{4}})",
    r"(?P<y8>\d{4})[- ]?q(?P<q8>[1-4])",
    r"q(?P<q9>[1-4])[- /]?(?P<y9>\d{4})",
    r"(?P<m10>\d{1,2})[-/](?P<y10>\d{4})",
    rf"(?P<d11>\d{{1,2}})-(?P<n11>{_MONTH})-(?P<z11>\d\d)",
    rf"(?P<n12>{_MONTH})(?:-| ?')(?P<z12>\d\d)\Z",
)
_TIME = (
    r"(?:[T, ]+(?P<hour>\d{1,2}):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-]\d\d(?::?\d\d)?)?)?"
)
_DATE = re.compile(rf"(?:(?:{_DAYS})[a-z]*[., ]+)?(?:{'|'.join(_FORMS)}){_TIME}", re.IGNORECASE)


@dataclass(frozen=True)
class Moment:
    """A date in a text.

    Attributes
    ----------
    day_first, month_first : datetime or None
        What it is in either order; None if there is no such date. Both are the same where the order
        is plain.
    separator : str
        Between day, month and year, if the order is not plain: `/`, `-` or `.`; else "".
    short : int or None
        A year of two digits, as it stands.
    of_month : int or None
        What follows the name of a month in Jan-24, where there is nothing else.
    """

    day_first: datetime | None
    month_first: datetime | None
    separator: str = ""
    short: int | None = None
    of_month: int | None = None

    def in_order(self, order: str | None) -> datetime | None:
        """Return the date in this order; None for one whose order is not plain without."""
        if order == MONTH_FIRST:
            return self.month_first
        # Dates with points have the day first wherever they are used.
        if order == DAY_FIRST or self.separator in ("", "."):
            return self.day_first
        return None


def read_moment(text: str) -> Moment | None:
    """Return the date in a text, or None if there is none."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    time = _time(parts)
    if time is None:
        return None
    if "a" in parts:
        return _numeric(parts, time)
    date = _plain(parts)
    moment = _moment(*date, time)
    if moment is None:
        return None
    return Moment(moment, moment, of_month=int(parts["z12"]) if "z12" in parts else None)


def _plain(parts: dict[str, str]) -> tuple[int, int, int]:
    """Return year, month and day of a date whose order is plain."""
    given = {name[0]: value for name, value in parts.items() if name[1:].isdigit()}
    if "n" in given:
        month = _MONTH_NUMBERS[given["n"][:3].lower()]
    elif "q" in given:
        month = 3 * int(given["q"]) - 2
    else:
        month = int(given["m"])
    year = _century(int(given["z"])) if "z" in given else int(given["y"])
    return year, month, int(given.get("d", 1))


def _century(short: int) -> int:
    """Return the year of two digits, as POSIX does."""
    return short + (1900 if short >= 69 else 2000)


def _numeric(parts: dict[str, str], time: tuple[int, int, int, int]) -> Moment | None:
    first, second, year = int(parts["a"]), int(parts["b"]), int(parts["y4"])
    short = year if len(parts["y4"]) == 2 else None
    if short is not None:
        year = _century(short)
    both = _moment(year, second, first, time), _moment(year, first, second, time)
    return None if both == (None, None) else Moment(*both, parts["s4"], short)


def _time(parts: dict[str, str]) -> tuple[int, int, int, int] | None:
    """Return hours, minutes, seconds and microseconds, or None if there is no such time."""
    hour, minute = int(parts.get("hour", 0)), int(parts.get("minute", 0))
    half = parts.get("half", "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * half.startswith("p")
    second = min(int(parts.get("second", 0)), 59)  # a leap second is as good as the one before
    return hour, minute, second, int(parts.get("part", "0").ljust(6, "0")[:6])


def _moment(year: int, month: int, day: int, time: tuple[int, int, int, int]) -> datetime | None:
    try:
        return datetime(year, month, day, *time)
    except ValueError:
        return None


def iso_moments(texts: Sequence[str]) -> Moments | None:
    """Return dates that are all written as in ISO 8601, which is fast; None if they are not."""
    if not all(map(_ISO.fullmatch, texts)):
        return None
    try:
        return np.array(texts, dtype="M8[us]")
    except ValueError:
        return None  # there is no such date


def read_moments(texts: Sequence[str], order: str | None) -> Moments:
    """Return the dates in texts, NaT where there is none in this order."""
    plain = iso_moments(texts)
    if plain is not None:
        return plain
    found: list[Any] = []
    for text in texts:
        moment = read_moment(text)
        found.append(None if moment is None else moment.in_order(order))
    return np.array(found, dtype="M8[us]")
