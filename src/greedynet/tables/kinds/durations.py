"""Durations and times of day: hours, and the position in the day of a time of day.

Understood are 1:30:00, 1:30, `2 days, 1:30:00`, `0 days 01:30:00`, PT1H30M, `1 h 30 min`, `90 min`
and 1:30 PM. Texts such as 13:45 are times of day if one comes before 6:00, one from 18:00 on and
none is 24 hours or more; their position in the day is then a pair of features too, as of dates.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Part, Problems, TextTally, Wording
from greedynet.tables.readers import TableError
from greedynet.tables.readers.base import Column, is_typed, looked_up

_CLOCK = re.compile(
    r"(?:(?P<days>-?\d+) ?d(?:ays?)?,? +\+?|(?P<sign>[-+])?)(?P<h>\d+):(?P<m>[0-5]\d)"
    r"(?::(?P<s>[0-5]\d(?:[.,]\d+)?))?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_NUMBER = r"(?P<{}>\d+(?:\.\d+)?)"
_ISO = re.compile(
    rf"(?P<sign>[-+])?P(?=[\dT])(?:{_NUMBER.format('days')}D)?(?:T(?:{_NUMBER.format('h')}H)?"
    rf"(?:{_NUMBER.format('m')}M)?(?:{_NUMBER.format('s')}S)?)?"
)
_TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[a-z]+),? ?", re.IGNORECASE)
_UNITS = {
    24.0: ("d", "day", "days"),
    1.0: ("h", "hr", "hrs", "hour", "hours"),
    1 / 60: ("m", "min", "mins", "minute", "minutes"),
    1 / 3600: ("s", "sec", "secs", "second", "seconds"),
}
_HOURS_OF = {name: hours for hours, names in _UNITS.items() for name in names}
_NEVER_ALONE = ("d", "m", "s")  # 5 m is a length, and the 80s are years
_HOUR = 3.6e9  # microseconds


@dataclass(frozen=True)
class Span:
    """A duration in a text: its hours; the number of parts of 1:30:00; whether it has am or pm."""

    hours: float
    n_parts: int = 0
    half: bool = False


def read_span(text: str) -> Span | None:
    """Return the duration or the time of day in a text, or None if there is none."""
    text = text.strip()
    found = _CLOCK.fullmatch(text) or _ISO.fullmatch(text)
    if found is None:
        return _in_units(text)
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    if not parts.keys() & {"days", "h", "m", "s"}:
        return None
    days, h, m, s = (float(parts.get(n, "0").replace(",", ".")) for n in ("days", "h", "m", "s"))
    if "half" in parts:
        if not 1 <= h <= 12:
            return None
        h = h % 12 + 12 * (parts["half"][0] in "pP")
    sign = -1.0 if parts.get("sign") == "-" else 1.0
    n_parts = 0 if found.re is _ISO or "days" in parts else 2 + ("s" in parts)
    return Span(sign * (24 * days + h + m / 60 + s / 3600), n_parts, "half" in parts)


def _in_units(text: str) -> Span | None:
    """Return a duration such as `1 h 30 min`."""
    tokens = list(_TOKEN.finditer(text))
    units = [token["unit"].lower() for token in tokens]
    if "".join(token.group() for token in tokens) != text or not tokens:
        return None
    sizes = [_HOURS_OF.get(unit, 0.0) for unit in units]
    falls = sorted(set(sizes), reverse=True) == sizes
    if 0.0 in sizes or not falls or (len(units) == 1 and units[0] in _NEVER_ALONE):
        return None
    return Span(sum(float(t["number"]) * size for t, size in zip(tokens, sizes, strict=True)))


@dataclass(frozen=True)
class Durations:
    """A column of durations or times of day, see `base.Kind`.

    `n_parts` is 2 for texts like 1:30, 3 for 1:30:00, 0 for others, such as `90 min`; times of day
    have `is_clock`.
    """

    n_parts: int = 0
    is_clock: bool = False
    levels = None
    expression = None

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        return f"{'times of day' if self.is_clock else 'durations'} such as {self._sample!r}"

    @property
    def _sample(self) -> str:
        return {2: "1:30", 3: "1:30:00"}.get(self.n_parts, "90 min")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 3 if self.is_clock else 1

    def features(self, name: str) -> tuple[str, ...]:
        """Return the hours, and the position in the day of a time of day."""
        hours = f"{name}: hours"
        return (hours, f"{name}: sin of day", f"{name}: cos of day") if self.is_clock else (hours,)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the hours, and the pair."""
        hours, empty = self._hours(cells)
        out[:, 0] = hours
        if self.is_clock:
            angles = 2.0 * np.pi * hours / 24.0
            out[:, 1], out[:, 2] = np.sin(angles), np.cos(angles)
        none = np.isnan(hours)
        return {"empty": empty, "text": none & ~empty} if none.any() else {}

    def _hours(self, cells: Column) -> tuple[Float64, Any]:
        if is_typed(cells, "m"):
            spans = np.asarray(cells)
            empty = np.isnat(spans)
            return np.where(empty, np.nan, spans.astype(np.int64) / _HOUR), empty
        found: list[float] = []
        empties: list[bool] = []

        def place(text: str) -> int:
            span = read_span(text)
            # 59:59 beside 1:00:05 could be hours or minutes.
            other = span is None or (self.n_parts and span.n_parts not in (0, self.n_parts))
            found.append(np.nan if span is None or other else span.hours)
            empties.append(not text)
            return len(found) - 1

        at = looked_up(cells, place)
        return np.array(found)[at], np.array(empties, dtype=np.bool_)[at]

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return the hours."""
        if not self.is_clock:
            return (Part(self.features(name)[0], (0,)),)
        hours = np.arange(24.0)
        angles = 2.0 * np.pi * hours / 24.0
        values = np.column_stack([hours, np.sin(angles), np.cos(angles)])
        return (Part(f"{name}: hour", (0, 1, 2), values, [str(hour) for hour in range(24)]),)

    def describe(self) -> str:
        """Return what it is, and its unit."""
        what = "a time of day" if self.is_clock else "a duration"
        return f"{what}, in hours" + (", and its position in the day" if self.is_clock else "")

    def example(self, means: Sequence[float]) -> str:
        """Return a text."""
        return self._sample

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"type": "duration", **vars(self)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Durations":
        """Return the durations from plain values."""
        n_parts, is_clock = state["n_parts"], state["is_clock"]
        if n_parts not in (0, 2, 3) or not isinstance(is_clock, bool):
            raise ValueError(f"durations of {n_parts!r} parts, {is_clock!r}")
        return cls(n_parts, is_clock)


class DurationTally(TextTally):
    """Durations among the texts of a column."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[int, str] = {}
        self._low, self._high = np.inf, -np.inf
        self._n_clock = self._n_half = 0

    def add_spans(self, spans: Any) -> None:
        """Add durations that are no texts, NaT for empty cells."""
        self.n += int((~np.isnat(spans)).sum())

    def takes(self, text: str, count: int, row: int) -> bool:
        """Count a text, or return False if it is no duration."""
        span = read_span(text)
        if span is None:
            return False
        if span.n_parts:
            self._parts.setdefault(span.n_parts, text)
            self._n_clock += count
        self._n_half += count * span.half
        self._low, self._high = min(self._low, span.hours), max(self._high, span.hours)
        return True

    def decide(self, words: Wording) -> tuple[Durations, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise."""
        if len(self._parts) > 1 and not self._n_half:
            raise TableError(
                f"{words.what} holds {self._parts[2]!r} beside {self._parts[3]!r}, which could be "
                f"hours or minutes: write the seconds of all, or of none, or {words.as_text}."
            )
        is_day = 0 <= self._low < 6 and 18 <= self._high < 24 and self._n_clock == self.n
        is_clock = bool(self._n_half) or is_day
        n_parts = 0 if self._n_half else next(iter(self._parts), 0)
        kind = Durations(n_parts, is_clock)
        if n_parts == 0 and not is_clock:
            return kind, ""
        return kind, f"{self._first()!r} is read as a {'time of day' if is_clock else 'duration'}"

    def _first(self) -> str:
        return next(iter(self._parts.values()), "1:30")
