"""Durations and times of day: hours, and the position in the day of a time of day.

Understood are 1:30:00, 1:30, `2 days, 1:30:00`, `0 days 01:30:00`, PT1H30M, `1 h 30 min`, `90 min`
and 1:30 PM. Texts such as 13:45 are times of day if one comes before 6:00, one from 18:00 on and
none is 24 hours or more; their position in the day is then a pair of features too, as of dates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.support.duck import literal
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

_SIGN, _NUMBER = "([-+])?", r"([0-9]+(?:\.[0-9]+)?)"
_WORDS = {"d": "d|days?", "h": "h|hrs?|hours?", "m": "m|mins?|minutes?", "s": "s|secs?|seconds?"}
_CLOCK = (
    rf"(?:(-?[0-9]+) ?d(?:ays?)?,? +\+?|{_SIGN})([0-9]+):([0-5][0-9])"
    r"(?::([0-5][0-9](?:[.,][0-9]+)?))?\s*([ap]\.?m\.?)?"
)
_ISO = rf"{_SIGN}P(?:{_NUMBER}D)?(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?"
_IN_WORDS = "".join(rf"(?:{_NUMBER} ?(?:{words}),? ?)?" for words in _WORDS.values())
_PATTERN = f"(?i)^(?:{_CLOCK}|{_ISO}|{_IN_WORDS})$"
_GROUPS = [f"{unit}0" for unit in ("d", "sign", "h", "m", "s", "half")]
_GROUPS += [f"{unit}1" for unit in ("sign", "d", "h", "m", "s")] + [f"{unit}2" for unit in "dhms"]
# P is a letter.
_NONE = "(?i)[-+]?PT?|.*T|"
# 5 m is a length and 80s are years, unless 1h 30m stands beside them.
_UNSURE = "(?i)[0-9]+(?:[.][0-9]+)? ?[dms]"
_HOUR = 3.6e9  # microseconds


@dataclass(frozen=True)
class Durations(Kind):
    """A column of durations or times of day.

    `n_parts` is 2 for texts like 1:30, 3 for 1:30:00, 0 for others, such as `90 min`; times of day
    have `is_clock`.
    """

    n_parts: int = 0
    is_clock: bool = False
    name: ClassVar[str] = "duration"
    nouns: ClassVar[str] = "durations"
    typed: ClassVar[str] = "m"
    measures: ClassVar[Mapping[str, str]] = {"low": "min(p.hours)", "high": "max(p.hours)"}

    def test(self, cell: str) -> str:
        """Return the SQL of whether a text may be a duration."""
        pattern, none = literal(_PATTERN), literal(_NONE)
        return f"(regexp_matches({cell}, {pattern}) and not regexp_full_match({cell}, {none}))"

    def reading(self, cell: str) -> str:
        """Return the SQL of the hours in a text, the parts of 1:30:00, and whether it has am."""

        def number(unit: str) -> str:
            found = " || ".join(f"a.{unit}{i}" for i in range(3))
            return f"coalesce(cast(replace(nullif({found}, ''), ',', '.') as double), 0)"

        d, h, m, s = map(number, "dhms")
        half = f"{h} % 12 + case when lower(a.half0) like 'p%' then 12 else 0 end"
        h = f"case when a.half0 = '' then {h} when {h} between 1 and 12 then {half} end"
        sign = "case when a.sign0 || a.sign1 = '-' then -1 else 1 end"
        parts = "case when a.h0 = '' or a.d0 <> '' then 0 when a.s0 = '' then 2 else 3 end"
        hours = f"{sign} * (24 * {d} + {h} + {m} / 60 + {s} / 3600)"
        span = (
            f"case when {hours} is not null then {{'hours': {hours}, "
            f"'form': {{'parts': {parts}, 'half': a.half0 <> '', "
            f"'sure': not regexp_full_match({cell}, {literal(_UNSURE)})}}}} end"
        )
        groups = f"regexp_extract({cell}, {literal(_PATTERN)}, {_GROUPS})"
        return f"case when {self.test(cell)} then {let({'a': groups}, span)} end"

    @staticmethod
    def typed_reading(cell: str) -> str:
        """Return the SQL of the reading of a cell that is a span of time."""
        form = "{'parts': 0, 'half': false, 'sure': true}"
        return f"case when {cell} is not null then {{'hours': 0.0, 'form': {form}}} end"

    def is_likely(self, found: Reading) -> bool:
        """Whether the cells are durations, and not lengths."""
        return any(form.how["sure"] for form in found.forms)

    def decide(self, found: Reading, words: Wording, said: Promises) -> tuple[Kind, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise."""
        texts = {form.how["parts"]: form.text for form in reversed(found.forms)}
        has_half = any(form.how["half"] for form in found.forms)
        if {2, 3} <= texts.keys() and not has_half:
            raise TableError(
                f"{words.what} holds {texts[2]!r} beside {texts[3]!r}, which could be hours or "
                f"minutes: write the seconds of all, or of none, or {words.as_text}."
            )
        clock: list[Spelling] = [form for form in found.forms if form.how["parts"]]
        low = min(form.measures["low"] for form in found.forms)
        high = max(form.measures["high"] for form in found.forms)
        is_day = 0 <= low < 6 and 18 <= high < 24 and len(clock) == len(found.forms)
        kind = Durations(0 if has_half or not clock else clock[0].how["parts"], has_half or is_day)
        if not clock:
            return kind, ""
        what = "time of day" if kind.is_clock else "duration"
        return kind, f"{clock[0].text!r} is read as a {what}"

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        return f"{'times of day' if self.is_clock else 'durations'} such as {self._sample!r}"

    @property
    def _sample(self) -> str:
        return {2: "1:30", 3: "1:30:00"}.get(self.n_parts, "90 min")

    def expression(self, cell: str) -> str:
        """Return the SQL of the span of time; 59:59 beside 1:00:05 could be hours or minutes."""
        parts = f"in (0, {self.n_parts})" if self.n_parts else ">= 0"
        span = f"to_microseconds(cast(round(p.hours * {_HOUR}) as bigint))"
        return let({"p": self.reading(cell)}, f"case when p.form.parts {parts} then {span} end")

    def features(self, name: str) -> tuple[str, ...]:
        """Return the hours, and the position in the day of a time of day."""
        hours = f"{name}: hours"
        return (hours, f"{name}: sin of day", f"{name}: cos of day") if self.is_clock else (hours,)

    def write(self, values: NDArray[Any], out: Float64) -> None:
        """Write the hours, and the pair."""
        out[:, 0] = values.astype(np.int64) / _HOUR
        if self.is_clock:
            out[:, 1:] = pair(out[:, 0] / 24)

    def parts(self, name: str) -> tuple[EffectPart, ...]:
        """Return the hours, or a turn of the clock."""
        if not self.is_clock:
            return super().parts(name)
        hours = np.arange(24.0)
        values = np.column_stack([hours, pair(hours / 24)])
        return (EffectPart(f"{name}: hour", (0, 1, 2), values, [str(hour) for hour in range(24)]),)

    def describe(self) -> str:
        """Return what it is, and its unit."""
        what = "a time of day" if self.is_clock else "a duration"
        return f"{what}, in hours" + (", and its position in the day" if self.is_clock else "")

    def example(self, means: Sequence[float]) -> str:
        """Return a text."""
        return self._sample

    def check(self) -> None:
        """Raise an error for fields that cannot be."""
        is_right = self.n_parts in (0, 2, 3) and isinstance(self.n_parts, int)
        require(is_right and isinstance(self.is_clock, bool), "durations of parts", vars(self))
