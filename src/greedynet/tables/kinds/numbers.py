"""Numbers: one feature, the number itself; and how they are written, decided from all cells.

The rules, for cells that are not plain numbers already:

- `1,234,567`, `1,234.5`, `$1,234`, `1 234` and `1'234`: the mark separates thousands;
- `1,234` where all other cells are whole numbers below 1,000: assumed to separate thousands;
- `1,234` otherwise, such as beside `1.5` or among cells that are all like it: refused, as it could
  be a decimal comma;
- `1,5` and `42.000,00` have a decimal comma, unless another cell has a decimal point;
- `40 %` is 40; beside numbers without the sign it is refused; `5,850 sqft` likewise;
- one currency may come with any number of cells; two are refused.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from greedynet.support.duck import literal
from greedynet.support.types import Float64
from greedynet.tables.kinds.base import DURATIONS, Mask, Part, Problems, TextTally, Wording
from greedynet.tables.kinds.marks import ALIKE, read_marked
from greedynet.tables.readers import TableError
from greedynet.tables.readers.base import (
    Column,
    Expression,
    Marks,
    is_typed,
    looked_up,
    parse_numbers,
    plain_sql,
)

_SIGN = "[-+\u2212]"


@dataclass(frozen=True)
class Notation:
    """Marks of numbers beside digits, "" for none.

    `percent` says that every number has a per cent sign.
    """

    thousands: str = ""
    currency: str = ""
    percent: bool = False
    decimal: str = "."
    unit: str = ""

    @cached_property
    def _pattern(self) -> str:
        """What a cell must be, in the language that Python and DuckDB share."""
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

    @property
    def _words(self) -> list[str]:
        return [word for word in (self.currency, self.unit) if word]

    @property
    def _signs(self) -> tuple[str, str]:
        """Signs of a number and what they become, nothing at the end."""
        gone = "+ )%" + ALIKE.get(self.thousands, self.thousands)
        return "(\u2212" + self.decimal + gone.replace(self.decimal, ""), "--."

    def read(self, cell: str) -> float:
        """Return the number in a text, NaN if it is not written like this."""
        if re.fullmatch(self._pattern, cell) is None:
            return math.nan
        for word in self._words:
            cell = cell.replace(word, "")
        old, new = self._signs
        return float(cell.translate(str.maketrans(old[: len(new)], new, old[len(new) :])))

    def expression(self, cell: str) -> str:
        """Return the SQL of the number in a cell, null if it is not written like this."""
        if self == PLAIN:
            return plain_sql(cell)
        text = cell
        for word in self._words:
            text = f"replace({text}, {literal(word)}, '')"
        old, new = map(literal, self._signs)
        return (
            f"case when regexp_full_match({cell}, {literal(self._pattern)}) "
            f"then try_cast(translate({text}, {old}, {new}) as double) end"
        )

    @property
    def sample(self) -> str:
        """A number that is written so."""
        sign = self.currency if len(self.currency) == 1 else ""
        code = f" {self.currency}" if len(self.currency) > 1 else ""
        unit = f" {self.unit}" if self.unit else ""
        fraction = ",5" if self.decimal == "," else ""
        end = " %" if self.percent else ""
        return f"{sign}1{self.thousands}234{fraction}{code}{unit}{end}"


PLAIN = Notation()


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, see `base.Kind`, written by a notation: `$228,704`, `40 %`."""

    notation: Notation = PLAIN
    levels = None
    n_features = 1

    @property
    def wanted(self) -> str:
        """What the cells must be."""
        return "numbers" if self.notation == PLAIN else f"numbers such as {self.notation.sample!r}"

    @property
    def expression(self) -> Expression | None:
        """The SQL of a cell as a number."""
        return self.notation.expression

    def written(self, marks: Marks) -> "Numbers":
        """Return the numbers as they are written with other marks, which the user has named."""
        decimal = marks.decimal or self.notation.decimal
        thousands = marks.thousands or self.notation.thousands
        if thousands == decimal:
            thousands = "." if decimal == "," else ","
        return Numbers(replace(self.notation, decimal=decimal, thousands=thousands))

    def features(self, name: str) -> tuple[str, ...]:
        """Return the name of the column."""
        return (name,)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the numbers."""
        values, text = self._read(cells)
        out[:, 0] = values
        if np.isfinite(values).all():
            return {}
        return {"text": text, "infinite": np.isinf(values), "empty": np.isnan(values) & ~text}

    def _read(self, cells: Column) -> tuple[Float64, Mask]:
        if self.notation == PLAIN or not is_typed(cells, "O"):
            return parse_numbers(cells)
        found: list[float] = []
        empties: list[bool] = []

        def place(cell: str) -> int:
            found.append(self.notation.read(cell))
            empties.append(not cell)
            return len(found) - 1

        at = looked_up(cells, place)
        values = np.array(found)[at]
        return values, np.isnan(values) & ~np.array(empties, dtype=np.bool_)[at]

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return the number itself."""
        return (Part(name, (0,)),)

    def describe(self) -> str:
        """Return that it is a number, and how it is written."""
        written = "" if self.notation == PLAIN else f", written like {self.notation.sample}"
        return f"a number{written}"

    def example(self, means: Sequence[float]) -> Any:
        """Return the mean, written as in the table."""
        mean = float(f"{means[0]:.4g}") if means else 0.0
        notation = self.notation
        if not (notation.percent or notation.unit or notation.decimal == ","):
            return mean
        end = " %" if notation.percent else f" {notation.unit}" if notation.unit else ""
        return f"{mean:.4g}".replace(".", notation.decimal) + end

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        names = ("thousands", "currency", "percent", "decimal", "unit")
        return {"type": "number", **{name: getattr(self.notation, name) for name in names}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Numbers":
        """Return the numbers from plain values, or raise an error for what cannot be."""
        texts = [state[name] for name in ("thousands", "currency", "decimal", "unit")]
        thousands, currency, decimal, unit = texts
        if not all(isinstance(text, str) and len(text) <= 14 for text in texts):
            raise ValueError(f"marks of numbers must be short texts, got {texts!r}")
        if decimal not in (".", ",") or thousands not in ("", ".", *ALIKE) or thousands == decimal:
            raise ValueError(f"numbers with {decimal!r} as decimal mark and {thousands!r}")
        if not isinstance(state["percent"], bool):
            raise ValueError(f"`percent` must be true or false, got {state['percent']!r}")
        return cls(Notation(thousands, currency, state["percent"], decimal, unit))


# The decision

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


class NotationTally(TextTally):
    """Numbers among the texts of a column, by their marks, with one of the decimal marks.

    `is_promised` says that the user has named it.
    """

    def __init__(self, decimal: str = ".", *, is_promised: bool = False) -> None:
        super().__init__()
        self.decimal, self.is_promised = decimal, is_promised
        # Cells that need the other decimal mark, not in `n`.
        self.n_others = 0
        self.first_other: tuple[str, int] | None = None
        self.first: tuple[str, int] | None = None
        self._grouped: dict[str, str] = {}  # mark -> first cell
        self._unsure: str | None = None
        self._is_sure = False
        self._currencies: dict[str, str] = {}
        self._units: dict[str, list[tuple[str, int, int]]] = {}
        # Cells with one of two or three units, not in `n`, and the first cell of each.
        self.n_mixed = 0
        self.mixed: tuple[str, ...] = ()
        self._n_percent = 0
        self._percent: str | None = None
        self._ungrouped_large = self._has_points = self._has_small = False
        self._point: str | None = None

    @property
    def _ambiguous(self) -> str:
        """The mark that could be a decimal one."""
        return "." if self.decimal == "," else ","

    def takes(self, text: str, count: int, row: int) -> bool:
        """Count a text, or return False if it is no number."""
        found = read_marked(text, self.decimal)
        if found is None or math.isinf(found.value):
            return False
        if found.unit.lower() in DURATIONS:
            return False  # 90 min
        if found.has_decimal_comma:
            self.n_others += count
            self.first_other = min(self.first_other or (text, row), (text, row), key=_row)
            return False
        if found.thousands:
            self._grouped.setdefault(found.thousands, text)
            if found.is_sure or found.currency:
                self._is_sure = True
            else:
                self._unsure = self._unsure or text
        else:
            self._ungrouped_large |= abs(found.value) >= 1000
            self._has_small |= abs(found.value) < 1000
        if found.has_point:
            self._has_points, self._point = True, self._point or text
        if found.currency:
            self._currencies.setdefault(found.currency, text)
        if found.unit:
            self._units.setdefault(found.unit, []).append((text, count, row))
        if found.percent:
            self._n_percent += count
            self._percent = self._percent or text
        if self.first is None or row < self.first[1]:
            self.first = (text, row)
        return True

    def settle(self) -> None:
        """Take cells with several words, such as 1st and 2nd, for texts."""
        if len(self._units) > 1:
            if len(self._units) <= _MOST_UNITS:
                self.mixed = tuple(cells[0][0] for cells in self._units.values())
                self.n_mixed = sum(n for cells in self._units.values() for _, n, _ in cells)
            for cells in self._units.values():
                for text, count, row in cells:
                    self.n -= count
                    self.other = min(self.other or (text, row), (text, row), key=_row)
            self._units.clear()

    def decide(
        self, words: Wording, plain: PlainTally, thousands: str | None = None
    ) -> tuple[Numbers, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise.

        `thousands` is the mark between groups of digits, if the user has named it.
        """
        self._check(words, plain, thousands)
        mark, currency = next(iter(self._grouped), ""), next(iter(self._currencies), "")
        mark = mark or thousands or (self._ambiguous if currency else "")
        unit = next(iter(self._units), "")
        notation = Notation(mark, currency, self._n_percent > 0, self.decimal, unit)
        return Numbers(notation), self._note(notation, thousands)

    def _check(self, words: Wording, plain: PlainTally, thousands: str | None) -> None:
        """Raise an error if the numbers could be meant in several ways."""
        problem, remedy = None, "write all of them in the same way"
        n_unit = sum(count for cells in self._units.values() for _, count, _ in cells)
        if len(self._currencies) > 1:
            problem, remedy = _two(self._currencies), "convert them to one currency"
        elif self._n_percent and self._n_percent < self.n + plain.n:
            beside = "beside numbers without a per cent sign, which could be shares"
            problem = f"{self._percent!r} {beside}"
        elif n_unit and n_unit < self.n + plain.n:
            unit = next(iter(self._units))
            problem = f"{self._units[unit][0][0]!r} beside numbers without {unit!r}"
        elif len(self._grouped) > 1:
            problem = _two(self._grouped)
        elif self._ambiguous in self._grouped and not self._is_sure and thousands is None:
            problem = self._doubt(plain)
            mark = self._ambiguous
            remedy = (
                f'write `thousands="{mark}"` if the mark separates thousands, '
                f'`decimal="{mark}"` if it is a decimal one'
            )
        if problem is not None:
            raise TableError(f"{words.what} holds {problem}: {remedy}, or {words.as_text}.")

    def _doubt(self, plain: PlainTally) -> str | None:
        """Return why 1,234 may not be one thousand; None if all else is whole and below it."""
        cell = repr(self._unsure)
        if self._has_points or plain.has_fractions:
            return f"{cell} beside numbers with a decimal mark"
        if self._ungrouped_large or plain.largest >= 1000:
            return f"{cell} beside numbers of four digits without a mark"
        if self._has_small or plain.n:
            return None
        return f"{cell} and the like, all with one mark before three digits"

    def _note(self, notation: Notation, thousands: str | None) -> str:
        """Return what was assumed, in one line."""
        said = []
        if self._grouped and thousands is None:
            example = self._grouped[notation.thousands]
            found = read_marked(example, self.decimal)
            value = f"{found.value:.10g}" if found is not None else ""
            sure = "" if self._is_sure else ", as all numbers below 1,000 are without the mark"
            said.append(f"{example!r} is read as {value}{sure}")
        elif notation.currency:
            cell = next(iter(self._currencies.values()))
            said.append(f"{cell!r} is read as a number")
        elif notation.decimal == "," and not self.is_promised and self._point is not None:
            found = read_marked(self._point, ",")
            value = "" if found is None else f"{found.value:.10g}"
            said.append(f"{self._point!r} is read as {value}, with a decimal comma")
        if notation.percent:
            said.append(f"{self._percent!r} is read as a number of per cent")
        if notation.unit:
            cell = self._units[notation.unit][0][0]
            said.append(f"{cell!r} is read as a number of {notation.unit}")
        return "; ".join(said)


def _two(found: dict[str, str]) -> str:
    first, second, *_ = found.values()
    return f"both {first!r} and {second!r}"


def _row(found: tuple[str, int]) -> int:
    return found[1]
