"""How numbers are written: marks between thousands, currencies, per cents."""

import math
from dataclasses import dataclass

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
