"""Columns of dates and of times of day, whose features lie on a curve.

A moment `t` is one feature `e(t)` that grows with it, and `sin(2 pi p), cos(2 pi p)` of positions
`p` in cycles. Moments are whole days or whole seconds, so that there are finitely many, and few of
them are a choice. Many, from `a` to `b`, are enclosed by linear conditions. Over an arc of `w` in
angle, each of the two is within its range, the arc is beyond its chord, and where `p` is linear in
`e`, Taylor's formula `f(t) - chord(t) = f(s) (t - a) (b - t) / 2` bounds the distance of
`f = sin, cos` from its chord over `e` by `w^2 / 8` times its range.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from greedynet.exact.region_columns import ChoiceColumn, NumberColumn
from greedynet.support.types import Float64
from greedynet.tables.kinds import Dates, Durations
from greedynet.tables.kinds.dates import position

# In microseconds, as all moments here.
SECOND, DAY = 1_000_000, 86_400_000_000
_PERIODS = {"week": 7 * DAY, "day": DAY}
# So many moments are a choice of a mixed-integer programme.
_MOST_CHOICES = 32
# Features are known up to rounding.
_ROUNDING = 1e-9
# Arcs of at most this angle are close to their chords.
_SHORT_ARC = 2.0
_CORNERS = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
_HAS_TIME = re.compile(r"\d:\d\d|T\d\d|\d ?[ap]\.?m\b", re.IGNORECASE)


Curve = Dates | Durations


class Span(NamedTuple):
    """Moments from the first to the last."""

    first: int
    last: int


# Coefficients of features, and the most that the sum may be.
Cut = tuple[dict[int, float], float]


@dataclass(frozen=True, eq=False)
class MomentColumn:
    """A column of dates or times of day within some spans, or one of its empty cells.

    `features` are those of a moment, and the indicators of empty cells. All ends of the spans are
    moments, which follow each other by `step`; `gap` has the features of an empty cell if one is
    asked about.
    """

    name: str
    features: tuple[int, ...]
    kind: Curve
    spans: tuple[Span, ...]
    step: int
    gap: ChoiceColumn | None = None
    changes = False

    def __len__(self) -> int:
        return sum((span.last - span.first) // self.step + 1 for span in self.spans) + self.n_gaps

    @property
    def n_gaps(self) -> int:
        """Number of empty cells to choose from, 0 or 1."""
        return int(self.gap is not None)

    def rows(self, moments: NDArray[np.int64]) -> Float64:
        """Return the features of moments, without a gap."""
        cells = moments.astype("M8[us]" if isinstance(self.kind, Dates) else "m8[us]")
        out = np.zeros((len(moments), len(self.features)))
        self.kind.encode(cells, out[:, : self.kind.n_features])
        return out

    def spread(self, most: int) -> NDArray[np.int64]:
        """Return up to so many moments, all if they are no more, spread over the spans."""
        counts = [(span.last - span.first) // self.step + 1 for span in self.spans]
        starts = np.cumsum([0, *counts])
        n = int(starts[-1])
        at = np.unique(np.round(np.linspace(0, n - 1, min(n, most))).astype(np.int64))
        of = np.searchsorted(starts, at, side="right") - 1
        firsts = np.array([span.first for span in self.spans], dtype=np.int64)
        return np.asarray(firsts[of] + (at - starts[of]) * self.step)

    def choice(self, most: int) -> ChoiceColumn:
        """Return a choice among up to so many moments, and the empty cell."""
        moments = self.spread(most)
        labels: tuple[Any, ...] = tuple(moment_text(self.kind, int(t)) for t in moments)
        rows = self.rows(moments)
        if self.gap is not None:
            labels, rows = (*labels, *self.gap.labels), np.vstack([rows, self.gap.rows])
        return ChoiceColumn(self.name, self.features, labels, rows)

    def only(self, moment: int) -> ChoiceColumn:
        """Return the column with a single moment."""
        rows = self.rows(np.array([moment], dtype=np.int64))
        return ChoiceColumn(self.name, self.features, (moment_text(self.kind, moment),), rows)

    @property
    def exact(self) -> ChoiceColumn | None:
        """A choice among all moments, if they are few."""
        return self.choice(_MOST_CHOICES) if len(self) <= _MOST_CHOICES else None

    def value(self, x: Float64) -> Any:
        """Return the value of the column in a row of features, the nearest of some."""
        return self.choice(_MOST_CHOICES).value(x)

    # Branching

    def halves(self) -> "list[MomentColumn | ChoiceColumn]":
        """Return two parts; an empty cell alone, and years as long as there are several."""
        if self.gap is not None:
            return [self.gap, replace(self, gap=None)]
        if len(self.spans) > 1:
            middle = len(self.spans) // 2
            return [
                replace(self, spans=part) for part in (self.spans[:middle], self.spans[middle:])
            ]
        ((first, last),) = self.spans
        after = first + ((last - first) // self.step // 2 + 1) * self.step
        if isinstance(self.kind, Dates):
            new_years = [year for year in _new_years(first, last) if first < year <= last]
            after = min(new_years, key=lambda year: abs(year - after), default=after)
        before = after - self.step
        return [
            replace(self, spans=(Span(first, before),)),
            replace(self, spans=(Span(after, last),)),
        ]

    def enclosed(self) -> tuple[list[NumberColumn | ChoiceColumn], list[Cut]]:
        """Return columns and conditions that hold for all moments, and for some other rows."""
        if self.gap is not None:
            return self._box(), []
        ends = np.array([self.spans[0].first, self.spans[-1].last], dtype=np.int64)
        (low, high), places = self.rows(ends)[:, 0], self.features
        found: list[NumberColumn | ChoiceColumn] = [_number(places[0], low, high)]
        cuts: list[Cut] = []
        for i, (cycle, turns, is_linear) in enumerate(self._arcs(*ends)):
            sine, cosine = places[1 + 2 * i], places[2 + 2 * i]
            if cycle == "week" and self.step == DAY and turns >= 1.0:
                days = self.rows(ends[0] + DAY * np.arange(7))[:, 1 + 2 * i : 3 + 2 * i]
                labels = tuple(range(7))
                found.append(ChoiceColumn(f"{self.name} {cycle}", (sine, cosine), labels, days))
                continue
            of_arc = _Arc(float(position_in(self.kind, ends[:1], cycle)[0]), turns)
            found += [_number(at, *of_arc.range(j)) for j, at in enumerate((sine, cosine))]
            cuts += of_arc.cuts(sine, cosine)
            if is_linear and of_arc.angle <= _SHORT_ARC and low < high:
                cuts += of_arc.cuts_over(places[0], (low, high), sine, cosine)
        return found, cuts

    def _box(self) -> list[NumberColumn | ChoiceColumn]:
        """Return the smallest and the largest features of moments and of the empty cell."""
        assert self.gap is not None
        inner, _ = replace(self, gap=None).enclosed()
        low, high = self.gap.rows[0].copy(), self.gap.rows[0].copy()
        for column in inner:
            if isinstance(column, NumberColumn):
                at = self.features.index(column.feature)
                low[at], high[at] = min(low[at], column.low), max(high[at], column.high)
            else:
                at_choice = [self.features.index(feature) for feature in column.features]
                low[at_choice] = np.minimum(low[at_choice], column.rows.min(axis=0))
                high[at_choice] = np.maximum(high[at_choice], column.rows.max(axis=0))
        low[self.kind.n_features :] = 0.0
        return [_number(at, *ends) for at, *ends in zip(self.features, low, high, strict=True)]

    def _arcs(self, first: int, last: int) -> Iterator[tuple[str, float, bool]]:
        """Yield each cycle, the part of it that the moments span, and if `e` is linear in it."""
        if isinstance(self.kind, Durations):
            yield "day", (last - first) / DAY, True
            return
        is_one_year = not _new_years(first, last)
        for cycle in self.kind.cycles:
            if cycle == "year":
                years = np.array([first, last]).astype("M8[us]").astype("M8[Y]").astype(np.int64)
                places = position_in(self.kind, np.array([first, last]), cycle) + years
                turns = float(places[1] - places[0])
            else:
                turns = (last - first) / _PERIODS[cycle]
            yield cycle, turns, is_one_year or (self.kind.unit == "years") == (cycle == "year")


class _Arc:
    """An arc of the circle of sine and cosine, from a position, over a share of a turn."""

    def __init__(self, start: float, turns: float) -> None:
        self.is_whole = turns >= 1.0
        self.angle = 2.0 * np.pi * min(turns, 1.0)
        self.start = 2.0 * np.pi * start

    def range(self, which: int) -> tuple[float, float]:
        """Return the smallest and the largest sine, or cosine."""
        function = (np.sin, np.cos)[which]
        # Sines have their extremes at odd quarters of a turn, cosines at even ones.
        quarters = np.arange(-1, 10) * 2 + (1 if which == 0 else 0)
        extremes = 0.5 * np.pi * quarters
        inside = extremes[(extremes >= self.start) & (extremes <= self.start + self.angle)]
        values = function(np.array([self.start, self.start + self.angle, *inside]))
        return (-1.0, 1.0) if self.is_whole else (float(values.min()), float(values.max()))

    def cuts(self, sine: int, cosine: int) -> list[Cut]:
        """Return the conditions of an octagon, and of the chord of less than half a turn."""
        found: list[Cut] = [({sine: a, cosine: b}, np.sqrt(2.0) + _ROUNDING) for a, b in _CORNERS]
        if self.angle < np.pi:
            middle = self.start + 0.5 * self.angle
            inward = {sine: -float(np.sin(middle)), cosine: -float(np.cos(middle))}
            found.append((inward, _ROUNDING - float(np.cos(0.5 * self.angle))))
        return found

    def cuts_over(self, elapsed: int, ends: tuple[float, float], *pair: int) -> list[Cut]:
        """Return how far sine and cosine may be from their chords over the elapsed time."""
        found: list[Cut] = []
        low, high = ends
        for which, (at, function) in enumerate(zip(pair, (np.sin, np.cos), strict=True)):
            begin, end = function(np.array([self.start, self.start + self.angle])).tolist()
            slope = (end - begin) / (high - low)
            least, most = self.range(which)
            above = max(most, 0.0) * self.angle**2 / 8.0 + _ROUNDING
            below = min(least, 0.0) * self.angle**2 / 8.0 - _ROUNDING
            level = begin - slope * low
            found.append(({at: 1.0, elapsed: -slope}, level + above))
            found.append(({at: -1.0, elapsed: slope}, -level - below))
        return found


def position_in(kind: Curve, moments: NDArray[np.int64], cycle: str) -> Float64:
    """Return the positions of moments in a cycle, from 0 to 1."""
    if isinstance(kind, Durations):
        return np.asarray(moments / DAY)
    return position(moments.astype("M8[us]"), cycle)


def _number(feature: int, low: float, high: float) -> NumberColumn:
    return NumberColumn(f"feature {feature}", feature, float(low), float(high))


def _new_years(first: int, last: int) -> list[int]:
    """Return the beginnings of the years that begin after the first moment, up to the last."""
    years = np.array([first, last]).astype("M8[us]").astype("M8[Y]").astype(np.int64)
    begun = np.arange(years[0] + 1, years[1] + 1).astype("M8[Y]").astype("M8[us]")
    return list(begun.astype(np.int64).tolist())


# Reading and writing moments


def is_curve(kind: Any) -> TypeGuard[Curve]:
    """Whether the features of a column depend on each other as those of moments do."""
    return isinstance(kind, Dates) or (isinstance(kind, Durations) and kind.is_clock)


def step_of(kind: Curve) -> int:
    """Return by how much moments follow each other: whole days for dates without a time."""
    if isinstance(kind, Durations):
        return 60 * SECOND if kind.n_parts == 2 else SECOND
    ends = np.array([kind.first, kind.last], dtype="M8[us]").astype(np.int64)
    are_days = "day" not in kind.cycles and not (ends % DAY).any()
    return DAY if are_days else SECOND


def moment_text(kind: Curve, moment: int) -> str:
    """Return a moment as `2024-01-31`, `2024-01-31 15:00:00`, `15:00` or `15:00:30`."""
    if isinstance(kind, Dates):
        return str(np.datetime64(moment, "us").item()).removesuffix(" 00:00:00")
    minutes, seconds = divmod(moment // SECOND, 60)
    shown = f"{minutes // 60}:{minutes % 60:02}"
    return shown if kind.n_parts == 2 else f"{shown}:{seconds:02}"


def span_text(kind: Curve, span: Span) -> str:
    """Return a span in words."""
    return f"from {moment_text(kind, span.first)} to {moment_text(kind, span.last)}"


def span_of_data(kind: Curve, elapsed: tuple[float, float] | None) -> Span | None:
    """Return the moments between two numbers of the elapsed time, those of the data if None."""
    if isinstance(kind, Durations):
        if elapsed is None:
            return None
        return Span(round(elapsed[0] * 3600) * SECOND, round(elapsed[1] * 3600) * SECOND)
    if elapsed is None:
        ends = np.array([kind.first, kind.last], dtype="M8[us]").astype(np.int64)
    else:
        ends = np.array([_moment_at(kind, one) for one in elapsed])
    return Span(int(ends[0]), int(ends[1]))


def _moment_at(kind: Dates, elapsed: float) -> int:
    """Return the moment of an elapsed time, up to rounding."""
    if kind.unit != "years":
        start = int(np.datetime64(kind.first[:10], "us").astype(np.int64))
        unit = DAY if kind.unit == "days" else DAY / 24
        return start + _without_rounding(elapsed * unit)
    year = np.datetime64(int(np.floor(elapsed)) - 1970, "Y")
    begin, end = (int(y.astype("M8[us]").astype(np.int64)) for y in (year, year + 1))
    return begin + _without_rounding((elapsed % 1.0) * (end - begin))


def _without_rounding(microseconds: float) -> int:
    """Return whole milliseconds; what was rounded in the elapsed time is less than one."""
    return round(microseconds / 1000) * 1000


def on_grid(span: Span, step: int) -> Span | None:
    """Return the first and the last moment of a span that are whole days, or seconds."""
    first, last = -(-span.first // step) * step, span.last // step * step
    return Span(first, last) if first <= last else None


def moments_in(kind: Curve, given: Any) -> Span | None:
    """Return the moments that a value stands for: a day for all of its moments; None for none."""
    if isinstance(kind, Durations):
        return _time_of_day(given)
    if isinstance(given, str):
        moment = kind.value(given)
        if moment is None:
            return None
        first = int(moment.astype(np.int64))
        return Span(first, first if _HAS_TIME.search(given) else first + DAY - 1)
    if isinstance(given, np.datetime64):
        is_day = np.datetime_data(given.dtype)[0] in ("Y", "M", "W", "D")
        first = int(given.astype("M8[us]").astype(np.int64))
        return None if np.isnat(given) else Span(first, first + DAY - 1 if is_day else first)
    if isinstance(given, datetime):
        # The clock on the wall counts.
        moment = np.datetime64(given.replace(tzinfo=None), "us")
        first = int(moment.astype(np.int64))
        return None if np.isnat(moment) else Span(first, first)
    if isinstance(given, date):
        first = int(np.datetime64(given, "us").astype(np.int64))
        return Span(first, first + DAY - 1)
    return None


def _time_of_day(given: Any) -> Span | None:
    if isinstance(given, time):
        given = timedelta(hours=given.hour, minutes=given.minute, seconds=given.second)
    if isinstance(given, timedelta | np.timedelta64):
        moment = int(np.timedelta64(given, "us").astype(np.int64))
    else:
        found = Durations().value(given) if isinstance(given, str) else None
        if found is None:
            return None
        moment = round(int(found.astype(np.int64)) / SECOND) * SECOND
    return Span(moment, moment) if 0 <= moment < DAY else None
