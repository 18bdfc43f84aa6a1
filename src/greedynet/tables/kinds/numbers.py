"""Numbers: one feature, the number itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.cells import is_typed, looked_up, parse_numbers
from greedynet.tables.kinds.base import Mask, Part, Problems
from greedynet.tables.kinds.notation import PLAIN, Notation
from greedynet.tables.readers import Column


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, see `base.Kind`.

    Attributes
    ----------
    notation : Notation
        How they are written beside digits and a decimal point: `$228,704`, `40 %`.
    """

    notation: Notation = PLAIN
    levels = None

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
        return cls(
            Notation(
                str(state.get("thousands", "")),
                str(state.get("currency", "")),
                bool(state.get("percent", False)),
            )
        )
