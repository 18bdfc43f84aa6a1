"""How numbers are written: marks between thousands, currencies, per cents; decided from all cells.

The rules, for cells that are not plain numbers already:

- `1,234,567`, `1,234.5`, `$1,234`, `1 234` and `1'234`: the mark separates thousands;
- `1,234` where all other cells are whole numbers below 1,000: assumed to separate thousands;
- `1,234` otherwise, such as beside `1.5` or among cells that are all like it: refused, as it could
  be a decimal comma;
- `40 %` is 40; beside numbers without the sign it is refused;
- one currency may come with any number of cells; two are refused.
"""

import math
from dataclasses import dataclass

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import TextTally
from greedynet.tables.readers import TableError
from greedynet.tables.readers.marks import read_marked


@dataclass(frozen=True)
class Notation:
    """Marks of numbers beside digits and the decimal point.

    Attributes
    ----------
    thousands : str
        Mark between groups of three digits, or "".
    currency : str
        Sign or code that may come with a number, or "".
    percent : bool
        Whether every number has a per cent sign.
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


class PlainTally:
    """What is known of the cells of a column that are plain numbers.

    Attributes
    ----------
    n : int
        Their number.
    low, high : float
        The smallest and the largest.
    has_fractions : bool
        Whether any is not a whole number.
    is_counting : bool
        Whether each is one more than the one before.
    """

    def __init__(self) -> None:
        self.n = 0
        self.low, self.high = math.inf, -math.inf
        self.has_fractions = False
        self.is_counting = True
        self._last = math.nan

    @property
    def largest(self) -> float:
        """The largest, without its sign."""
        return max(abs(self.low), abs(self.high)) if self.n else 0.0

    def add(self, values: Float64) -> None:
        """Add numbers, none of them NaN."""
        if not len(values):
            return
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        if not self.has_fractions:
            self.has_fractions = bool((np.floor(values) != values).any())
        if self.is_counting:
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

    def decide(self, what: str, way_out: str, plain: PlainTally) -> Notation:
        """Return the notation, or raise an error if it could be meant in several ways.

        Parameters
        ----------
        what : str
            The column, at the beginning of the message.
        way_out : str
            The end of the message: how to treat the cells as text.
        plain : PlainTally
            The cells that are plain numbers.
        """
        if len(self._currencies) > 1:
            first, second, *_ = self._currencies.values()
            raise TableError(
                f"{what} holds {first!r} and {second!r}, two currencies: convert them to one, or "
                f"{way_out}."
            )
        if self._n_percent and self._n_percent < self.n + plain.n:
            raise TableError(
                f"{what} holds {self._percent!r} beside numbers without a per cent sign, which "
                f"could be shares or per cents: write all of them in the same way, or {way_out}."
            )
        if len(self._grouped) > 1:
            first, second, *_ = self._grouped.values()
            raise TableError(
                f"{what} holds {first!r} and {second!r}, with two marks between thousands: write "
                f"all of them in the same way, or {way_out}."
            )
        mark = next(iter(self._grouped), "")
        if mark == "," and not self._is_sure:
            self._check_thousands(what, way_out, plain)
        currency = next(iter(self._currencies), "")
        return Notation(mark or ("," if currency else ""), currency, self._n_percent > 0)

    def _check_thousands(self, what: str, way_out: str, plain: PlainTally) -> None:
        """Raise an error unless 1,234 can only be one thousand."""
        small = self._has_small or (plain.n > 0 and plain.largest < 1000)
        large = self._ungrouped_large or plain.largest >= 1000
        points = self._has_points or plain.has_fractions
        if small and not large and not points:
            return
        beside = "numbers with a point" if points else "numbers above 1,000 without it"
        if not points and not large:
            beside = "no others that would tell"
        raise TableError(
            f'{what} holds {self._unsure!r} beside {beside}: write `thousands=","` if the comma '
            f'separates thousands, `decimal=","` if it is a decimal one, or {way_out}.'
        )

    def note(self, notation: Notation) -> str:
        """Return what was assumed, in one line."""
        said = []
        if notation.thousands and self._grouped:
            example = self._grouped[notation.thousands]
            found = read_marked(example)
            value = f"{found.value:.10g}" if found is not None else ""
            sure = "" if self._is_sure else ", as all numbers below 1,000 are without it"
            said.append(f"{example!r} is read as {value}{sure}")
        elif notation.currency:
            said.append(f"{next(iter(self._currencies.values()))!r} is read as a number")
        if notation.percent:
            said.append(f"{self._percent!r} is read as a number of per cent")
        return "; ".join(said)


def _row(found: tuple[str, int]) -> int:
    return found[1]
