"""Numbers: one feature, the number itself; and how they are written, decided from all cells.

The rules, for cells that are not plain numbers already:

- `1,234,567`, `1,234.5`, `$1,234`, `1 234` and `1'234`: the mark separates thousands;
- `1,234` where all other cells are whole numbers below 1,000: assumed to separate thousands;
- `1,234` otherwise, such as beside `1.5` or among cells that are all like it: refused, as it could
  be a decimal comma;
- `1,5` and `42.000,00` have a decimal comma, unless another cell has a decimal point;
- `40 %` is 40; beside numbers without the sign it is refused; `5,850 sqft` likewise;
- one currency may come with any number of cells; two are refused.

The rules are those of decimal points; where the decimal mark is a comma, both are exchanged first.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from greedynet.support.duck import evaluate, literal
from greedynet.support.types import Float64
from greedynet.tables.kinds.base import (
    DURATIONS,
    Kind,
    Problems,
    Promises,
    Reading,
    Spelling,
    Wording,
    let,
    require,
)
from greedynet.tables.readers import TableError
from greedynet.tables.readers.base import Column, plain_sql

_SIGNS, _SIGN = "$€£¥₹₽₩₺₪", "[-+\u2212]"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK"
# Marks between groups of three digits, each with others that look the same.
ALIKE = {",": ",", "'": "'\u2019", " ": " \u00a0\u202f"}
_ANY_MARK = "".join(ALIKE.values())
_PLAIN = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_GROUPED = r"[1-9][0-9]{{0,2}}(?:[{}][0-9]{{3}})+(?:\.[0-9]*)?"
# What a decimal comma looks like, with groups of thousands or without.
_COMMA = (
    rf"(?:[0-9]{{1,3}}(?:[.{_ANY_MARK[1:]}][0-9]{{3}})+|[0-9]+),[0-9]*|,[0-9]+|"
    r"[0-9]{1,3}(?:\.[0-9]{3}){2,}"
)
# A word behind a number, such as sqft or km/h; a letter without a space may be a part of a code.
_LETTER, _SQUARED = "[A-Za-z\u00b5\u00b0\u03a9]", "[/\u00b2\u00b3]"
_UNIT = rf"{_LETTER}(?:{_LETTER}|{_SQUARED}){{1,11}}\.?|(?:m|ft|cm|km|in)[23]"
_S = r"\s*"
_AROUND = (
    rf"^(\()?{_S}({_SIGN})?{_S}([{_SIGNS}]|{_CODES})?{_S}({_SIGN})?{_S}"
    rf"([0-9.,][0-9.{_ANY_MARK}]*?(?:[eE][+-]?[0-9]+)?)"
    rf"(?:{_S}([{_SIGNS}]|{_CODES})|{_S}(%)|{_S}({_UNIT})|\s+([A-Za-z]))?{_S}(\))?$"
)
_GROUPS = ["open", "sign", "left", "inner", "core", "right", "percent", "unit", "letter", "close"]
# More different words behind numbers are no units, such as those of 12 Main and 7 Station.
_MOST_UNITS = 3


@dataclass
class PlainTally:
    """What is known of the cells of a column that are plain numbers: how many, and the range.

    `is_counting` says that each is a whole number, one more than the one before.
    """

    n: int = 0
    low: float | None = None
    high: float | None = None
    has_fractions: bool = False
    is_counting: bool = False

    @property
    def largest(self) -> float:
        """The largest, without its sign."""
        return max(abs(self.low or 0.0), abs(self.high or 0.0))


@dataclass(frozen=True)
class Numbers(Kind):
    """A column of numbers, written by some marks beside digits, "" for none: `$228,704`, `40 %`.

    `percent` says that every number has a per cent sign.
    """

    thousands: str = ""
    currency: str = ""
    percent: bool = False
    decimal: str = "."
    unit: str = ""
    name: ClassVar[str] = "number"

    # The decision

    def test(self, cell: str) -> str:
        """Return the SQL of whether a text may be a number with marks."""
        return f"regexp_matches({self._swapped(cell)}, {literal(_AROUND)})"

    def _swapped(self, cell: str) -> str:
        return cell if self.decimal == "." else f"translate({cell}, ',.', '.,')"

    def reading(self, cell: str) -> str:
        """Return the SQL of the marks in a text; those of `form` are "" where there is none."""
        marks = {mark: literal(_GROUPED.format(alike)) for mark, alike in ALIKE.items()}
        cases = " ".join(
            f"when regexp_full_match(a.core, {pattern}) then {literal(mark)}"
            for mark, pattern in marks.items()
        )
        core = (
            f"{{'is_plain': regexp_full_match(a.core, '{_PLAIN}'), "
            f"'mark': case {cases} else '' end, 'unit': a.unit || a.letter, "
            f"'is_comma': regexp_full_match(a.core, {literal(_COMMA)}), "
            f"'value': try_cast(translate(a.core, {literal(_ANY_MARK)}, '') as double)}}"
        )
        mark = "b.mark" if self.decimal == "." else "translate(b.mark, ',', '.')"
        form = (
            f"{{'comma': not b.is_plain and b.mark = '', 'mark': {mark}, "
            "'sure': b.mark <> '' and (b.mark <> ',' or a.left || a.right <> '' "
            "or contains(a.core, '.') or length(a.core) - length(replace(a.core, ',', '')) > 1), "
            "'currency': a.left || a.right, 'percent': a.percent <> '', "
            "'point': contains(a.core, '.'), 'unit': b.unit, 'large': b.value >= 1000}"
        )
        signs = "length(a.open || a.sign || a.inner) <= 1 and (a.open = '') = (a.close = '')"
        is_number = (
            f"{signs} and (a.left = '' or a.right || a.percent || b.unit = '') "
            "and (b.is_comma or ((b.is_plain or b.mark <> '') and isfinite(b.value))) "
            f"and not regexp_full_match(b.unit, '(?i){DURATIONS}')"
        )
        found = f"case when {is_number} then {{'form': {form}}} end"
        groups = f"regexp_extract({self._swapped(cell)}, {literal(_AROUND)}, {_GROUPS})"
        steps = let({"a": groups, "b": core}, found)
        return f"case when {self.test(cell)} then {steps} end"

    def decide(
        self, found: Reading, words: Wording, said: Promises, plain: PlainTally | None = None
    ) -> tuple[Kind, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise.

        `plain` are the cells that are numbers without marks.
        """
        forms = found.forms
        self._check(forms, words, plain or PlainTally(), said.thousands)
        mark, currency, unit = (_first(forms, what)[0] for what in ("mark", "currency", "unit"))
        mark = mark or said.thousands or (self._ambiguous if currency else "")
        kind = Numbers(mark, currency, _first(forms, "percent")[0] != "", self.decimal, unit)
        return kind, kind._assumed(forms, said)

    @property
    def _ambiguous(self) -> str:
        """The mark that could be a decimal one."""
        return "." if self.decimal == "," else ","

    def _check(
        self, forms: Sequence[Spelling], words: Wording, plain: PlainTally, thousands: str | None
    ) -> None:
        """Raise an error if the numbers could be meant in several ways."""
        currencies, marks = _texts_by(forms, "currency"), _texts_by(forms, "mark")
        problem, remedy = None, "write all of them in the same way"
        beside = {
            what: (_first(forms, what), plain.n or any(not form.how[what] for form in forms))
            for what in ("percent", "unit")
        }
        (percent, percent_cell), is_beside = beside["percent"]
        (unit, unit_cell), is_beside_unit = beside["unit"]
        if len(currencies) > 1:
            problem, remedy = _two(currencies), "convert them to one currency"
        elif percent and is_beside:
            what = "beside numbers without a per cent sign, which could be shares"
            problem = f"{percent_cell!r} {what}"
        elif unit and is_beside_unit:
            problem = f"{unit_cell!r} beside numbers without {unit!r}"
        elif len(marks) > 1:
            problem = _two(marks)
        elif (
            self._ambiguous in marks
            and thousands is None
            and not any(form.how["sure"] for form in forms)
        ):
            problem = self._doubt(marks[self._ambiguous], forms, plain)
            mark = self._ambiguous
            remedy = (
                f'write `thousands="{mark}"` if the mark separates thousands, '
                f'`decimal="{mark}"` if it is a decimal one'
            )
        if problem is not None:
            raise TableError(f"{words.what} holds {problem}: {remedy}, or {words.as_text}.")

    def _doubt(self, cell: str, forms: Sequence[Spelling], plain: PlainTally) -> str | None:
        """Return why 1,234 may not be one thousand; None if all else is whole and below it."""
        others = [form.how for form in forms if not form.how["mark"]]
        if plain.has_fractions or any(form.how["point"] for form in forms):
            return f"{cell!r} beside numbers with a decimal mark"
        if plain.largest >= 1000 or any(how["large"] for how in others):
            return f"{cell!r} beside numbers of four digits without a mark"
        if plain.n or others:
            return None
        return f"{cell!r} and the like, all with one mark before three digits"

    def _assumed(self, forms: Sequence[Spelling], promised: Promises) -> str:
        """Return what was assumed of the cells, in one line."""
        said = []
        mark, currency, percent, unit = (
            _first(forms, what)[1] for what in ("mark", "currency", "percent", "unit")
        )
        point = next((form.text for form in forms if form.how["point"]), "")
        if mark and promised.thousands is None:
            is_sure = any(form.how["sure"] for form in forms)
            sure = "" if is_sure else ", as all numbers below 1,000 are without the mark"
            said.append(f"{mark!r} is read as {self._value(mark)}{sure}")
        elif currency:
            said.append(f"{currency!r} is read as a number")
        elif self.decimal == "," and promised.decimal is None and point:
            said.append(f"{point!r} is read as {self._value(point)}, with a decimal comma")
        if self.percent:
            said.append(f"{percent!r} is read as a number of per cent")
        if self.unit:
            said.append(f"{unit!r} is read as a number of {self.unit}")
        return "; ".join(said)

    def _value(self, cell: str) -> str:
        return f"{evaluate(self.expression, [cell])[0]:.10g}"

    # Cells

    @property
    def is_plain(self) -> bool:
        """Whether the cells have no marks."""
        return self == Numbers()

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        return "numbers" if self.is_plain else f"numbers such as {self.sample!r}"

    @property
    def sample(self) -> str:
        """A number that is written so."""
        sign = self.currency if len(self.currency) == 1 else ""
        code = f" {self.currency}" if len(self.currency) > 1 else ""
        fraction = ",5" if self.decimal == "," else ""
        return f"{sign}1{self.thousands}234{fraction}{code}{self._end}"

    @property
    def _end(self) -> str:
        return (f" {self.unit}" if self.unit else "") + (" %" if self.percent else "")

    def expression(self, cell: str) -> str:
        """Return the SQL of the number in a cell, null if it is not written like this."""
        text = cell
        for word in filter(None, (self.currency, self.unit)):
            text = f"replace({text}, {literal(word)}, '')"
        # Signs and what they become, nothing at the end.
        gone = "+ )%" + ALIKE.get(self.thousands, self.thousands)
        signs = "(\u2212" + self.decimal + gone.replace(self.decimal, "")
        marked = (
            f"case when regexp_full_match({cell}, {literal(self._pattern)}) "
            f"then try_cast(translate({text}, {literal(signs)}, '--.') as double) end"
        )
        return f"coalesce({plain_sql(cell)}, {marked})" if self.is_plain else marked

    @property
    def _pattern(self) -> str:
        """What a cell must be."""
        point = re.escape(self.decimal)
        core = rf"(?:[0-9]+{point}?[0-9]*|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        if self.thousands:
            mark = f"[{re.escape(ALIKE.get(self.thousands, self.thousands))}]"
            core = rf"(?:[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{point}[0-9]*)?|{core})"
        core = rf"{core}[ ]*{re.escape(self.unit)}" if self.unit else core
        core = rf"{core}[ ]*%" if self.percent else core
        signed, inner = [rf"{_SIGN}?[ ]*{core}"], [core]
        if self.currency:
            name = re.escape(self.currency)
            before = rf"(?:{_SIGN}[ ]*{name}|{name}[ ]*{_SIGN}?)[ ]*{core}"
            signed += [before, rf"{_SIGN}?[ ]*{core}[ ]*{name}"]
            inner += [rf"{name}[ ]*{core}", rf"{core}[ ]*{name}"]
        return rf"(?:{'|'.join(signed)})|\([ ]*(?:{'|'.join(inner)})[ ]*\)"

    def written(self, decimal: str | None, thousands: str | None) -> "Numbers":
        """Return the numbers as they are written with other marks, which the user has named."""
        decimal, thousands = decimal or self.decimal, thousands or self.thousands
        if thousands == decimal:
            thousands = "." if decimal == "," else ","
        return replace(self, decimal=decimal, thousands=thousands)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the numbers."""
        problems = super().encode(cells, out)
        if np.isfinite(out).all():
            return {}
        return {"infinite": np.isinf(out[:, 0])} | problems

    def describe(self) -> str:
        """Return that it is a number, and how it is written."""
        return "a number" if self.is_plain else f"a number, written like {self.sample}"

    def example(self, means: Sequence[float]) -> Any:
        """Return the mean, written as in the table."""
        mean = super().example(means)
        if not self._end and self.decimal == ".":
            return mean
        return f"{mean:.4g}".replace(".", self.decimal) + self._end

    def check(self) -> None:
        """Raise an error for fields that cannot be."""
        texts = (self.thousands, self.currency, self.decimal, self.unit)
        are_short = all(isinstance(text, str) and len(text) <= 14 for text in texts)
        require(are_short, "marks of numbers must be short texts", texts)
        is_right = self.decimal in (".", ",") and self.thousands in ("", ".", *ALIKE)
        require(is_right and self.thousands != self.decimal, "numbers with marks", texts)
        require(isinstance(self.percent, bool), "`percent` must be true or false", self.percent)


def _texts_by(forms: Iterable[Spelling], what: str) -> dict[Any, str]:
    """Return the first text with each of some marks."""
    found: dict[Any, str] = {}
    for form in forms:
        if form.how[what]:
            found.setdefault(form.how[what], form.text)
    return found


def _first(forms: Iterable[Spelling], what: str) -> tuple[str, str]:
    """Return the first of some marks, and a text with it; "" for none."""
    return next(iter(_texts_by(forms, what).items()), ("", ""))


def _two(found: Mapping[Any, str]) -> str:
    first, second, *_ = found.values()
    return f"both {first!r} and {second!r}"


def read_numbers(found: Reading) -> tuple[Reading, Reading, Reading]:
    """Return numbers that belong together; those with another decimal mark; those of other units.

    Several words, such as those of 1st and 2nd, are no units; two or three may be.
    """
    forms = [form for form in found.forms if not form.how["comma"]]
    commas = [form for form in found.forms if form.how["comma"]]
    mixed: list[Spelling] = []
    if len(_texts_by(forms, "unit")) > 1:
        mixed = [form for form in forms if form.how["unit"]]
        forms = [form for form in forms if not form.how["unit"]]
    firsts = [(form.text, form.row) for form in (*mixed, *commas)]
    others = [*firsts, *([found.other] if found.other else [])]
    other = min(others, key=lambda cell: cell[1], default=None)
    if len(_texts_by(mixed, "unit")) > _MOST_UNITS:
        mixed = []
    return Reading(tuple(forms), other), Reading(tuple(commas)), Reading(tuple(mixed))


def advice_for(cells: Sequence[str]) -> str:
    """Return what to write if these texts, which are not read as numbers, are some after all."""

    def are(what: str) -> bool:
        expression = f"case when p.form.{what} then 1 end"
        found = evaluate(lambda cell: let({"p": Numbers().reading(cell)}, expression), cells)
        return bool(np.isfinite(found).all())

    if are("point and not p.form.comma"):
        return 'they have a decimal point: if all numbers of the table do, write `decimal="."`.'
    if are("comma"):
        return 'if the comma is a decimal one, write `decimal=","`.'
    if are("mark = ','"):
        return (
            'if the comma separates thousands, write `thousands=","`; if it is a decimal one, '
            '`decimal=","`.'
        )
    return "correct these cells."
