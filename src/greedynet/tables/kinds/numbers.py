"""Numbers: one feature, the number itself; and how they are written, decided from all cells.

The rules, for cells that are not plain numbers already:

- `1,234,567`, `1,234.5`, `$1,234`, `1 234` and `1'234`: the mark separates thousands;
- `1,234` where all other cells are whole numbers below 1,000: assumed to separate thousands;
- `1,234` otherwise, such as beside `1.5` or among cells that are all like it: refused, as it could
  be a decimal comma;
- `40 %` is 40; beside numbers without the sign it is refused;
- one currency may come with any number of cells; two are refused.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Mask, Part, Problems, Tally, TextTally, Wording
from greedynet.tables.readers import Column, TableError
from greedynet.tables.readers.base import is_typed, looked_up, parse_numbers
from greedynet.tables.readers.marks import read_marked


@dataclass(frozen=True)
class Notation:
    """Marks of numbers beside digits and the decimal point, "" for none.

    `percent` says that every number has a per cent sign.
    """

    thousands: str = ""
    currency: str = ""
    percent: bool = False

    def read(self, cell: str) -> float:
        """Return the number in a text, NaN if it is not written like this."""
        found = read_marked(cell)
        if found is None or found.thousands not in ("", self.thousands):
            return math.nan
        if found.currency not in ("", self.currency) or found.percent != self.percent:
            return math.nan
        return found.value

    @property
    def sample(self) -> str:
        """A number that is written so."""
        sign = self.currency if len(self.currency) == 1 else ""
        code = f" {self.currency}" if len(self.currency) > 1 else ""
        return f"{sign}1{self.thousands}234{code}{' %' if self.percent else ''}"


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
        values, text = parse_numbers(cells)
        if self.notation == PLAIN or is_typed(cells, "f"):
            return values, text
        if self.notation.percent:
            # 0.4 beside 40 % could be either.
            text = ~np.isnan(values) | text
        if not text.any():
            return values, text
        found: list[float] = []

        def place(cell: str) -> int:
            found.append(self.notation.read(cell))
            return len(found) - 1

        at = looked_up(cells, place)
        marked = np.array(found)[at]
        values = np.where(text, marked, values)
        return values, text & np.isnan(marked)

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
        return f"{mean:.4g} %" if self.notation.percent else mean

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"type": "number", **vars(self.notation)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Numbers":
        """Return the numbers from plain values."""
        thousands, currency = str(state["thousands"]), str(state["currency"])
        return cls(Notation(thousands, currency, bool(state["percent"])))


# The decision

_FEW = 64


class PlainTally(Tally):
    """What is known of the cells of a column that are plain numbers: how many, and the range.

    `is_counting` says that each is a whole number, one more than the one before.
    """

    def __init__(self) -> None:
        self.n = 0
        self.low, self.high = math.inf, -math.inf
        self.has_fractions = False
        self.is_counting = True
        self._last = 0.0

    @property
    def largest(self) -> float:
        """The largest, without its sign."""
        return max(abs(self.low), abs(self.high)) if self.n else 0.0

    def add(self, values: Float64) -> None:
        """Add numbers, none of them NaN."""
        if not len(values):
            return
        # NumPy takes longer for a few, and there may be many columns.
        some = values.tolist() if len(values) < _FEW else [values.min(), values.max()]
        self.low, self.high = min(self.low, *some), max(self.high, *some)
        if not self.has_fractions:
            # The first number tells of most columns.
            first = float(values[0])
            self.has_fractions = first % 1.0 != 0.0 or bool((np.floor(values) != values).any())
        if self.has_fractions:
            self.is_counting = False
        elif self.is_counting:
            goes_on = self.n == 0 or values[0] == self._last + 1.0
            self.is_counting = bool(goes_on and (values[1:] == values[:-1] + 1.0).all())
            self._last = values[-1]
        self.n += len(values)


class NotationTally(TextTally):
    """Numbers among the texts of a column, by their marks."""

    def __init__(self) -> None:
        super().__init__()
        self.n_commas = 0  # cells that need a decimal comma, not in `n`
        self.comma: tuple[str, int] | None = None
        self._grouped: dict[str, str] = {}  # mark -> first cell
        self._unsure: str | None = None
        self._is_sure = False
        self._currencies: dict[str, str] = {}
        self._n_percent = 0
        self._percent: str | None = None
        self._ungrouped_large = self._has_points = self._has_small = False

    def takes(self, text: str, count: int, row: int) -> bool:
        """Count a text, or return False if it is no number."""
        found = read_marked(text)
        if found is None or math.isinf(found.value):
            return False
        if found.has_decimal_comma:
            self.n_commas += count
            self.comma = min(self.comma or (text, row), (text, row), key=_row)
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
        self._has_points |= found.has_point
        if found.currency:
            self._currencies.setdefault(found.currency, text)
        if found.percent:
            self._n_percent += count
            self._percent = self._percent or text
        return True

    def decide(self, words: Wording, plain: PlainTally) -> tuple[Numbers, str]:
        """Return the kind and what was assumed; raise an error if it could be meant otherwise."""
        self._check(words, plain)
        mark, currency = next(iter(self._grouped), ""), next(iter(self._currencies), "")
        notation = Notation(mark or ("," if currency else ""), currency, self._n_percent > 0)
        return Numbers(notation), self._note(notation, words)

    def _check(self, words: Wording, plain: PlainTally) -> None:
        """Raise an error if the numbers could be meant in several ways."""
        problem, remedy = None, "write all of them in the same way"
        if len(self._currencies) > 1:
            problem, remedy = self._two(self._currencies, words), "convert them to one currency"
        elif self._n_percent and self._n_percent < self.n + plain.n:
            cell = words.cell(self._percent or "")
            problem = f"{cell} beside numbers without a per cent sign, which could be shares"
        elif len(self._grouped) > 1:
            problem = self._two(self._grouped, words)
        elif "," in self._grouped and not self._is_sure:
            problem = self._doubt(words, plain)
            comma = words.cell(",")
            remedy = (
                f"write `thousands={comma}` if the mark separates thousands, "
                f"`decimal={comma}` if it is a decimal one"
            )
        if problem is not None:
            raise TableError(f"{words.what} holds {problem}: {remedy}, or {words.as_text}.")

    def _two(self, found: dict[str, str], words: Wording) -> str:
        first, second, *_ = found.values()
        return f"both {words.cell(first)} and {words.cell(second)}"

    def _doubt(self, words: Wording, plain: PlainTally) -> str | None:
        """Return why 1,234 may not be one thousand; None if all else is whole and below it."""
        cell = words.cell(self._unsure or "")
        if self._has_points or plain.has_fractions:
            return f"{cell} beside numbers with a decimal mark"
        if self._ungrouped_large or plain.largest >= 1000:
            return f"{cell} beside numbers of four digits without a mark"
        if self._has_small or plain.n:
            return None
        return f"{cell} and the like, all with one mark before three digits"

    def _note(self, notation: Notation, words: Wording) -> str:
        """Return what was assumed, in one line."""
        said = []
        if self._grouped:
            example = self._grouped[notation.thousands]
            found = read_marked(example)
            value = f"{found.value:.10g}" if found is not None else ""
            sure = "" if self._is_sure else ", as all numbers below 1,000 are without the mark"
            said.append(f"{words.cell(example)} is read as {value}{sure}")
        elif notation.currency:
            cell = next(iter(self._currencies.values()))
            said.append(f"{words.cell(cell)} is read as a number")
        if notation.percent:
            said.append(f"{words.cell(self._percent or '')} is read as a number of per cent")
        return "; ".join(said)


def _row(found: tuple[str, int]) -> int:
    return found[1]
