"""True and false: one feature, 1 and 0.

Files of typed columns hold them as such, and every reader writes them as text; so a table gives the
same inputs whichever way it comes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.cells import looked_up
from greedynet.tables.kinds.base import Part, Problems
from greedynet.tables.readers import Column

_WORDS = {"true": 1, "false": 0}
# In a column that was learned as true and false.
_NUMBERS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0}

_EMPTY, _OTHER = -1, -2


@dataclass(frozen=True)
class Truths:
    """A column of true and false, see `base.Kind`."""

    wanted = "true and false"
    levels = None
    n_features = 1

    def features(self, name: str) -> tuple[str, ...]:
        """Return the name of the column."""
        return (name,)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write 1 for true and 0 for false."""
        found = looked_up(cells, _truth_of)
        out[:, 0] = np.where(found == _EMPTY, np.nan, np.maximum(found, 0))
        if found.min(initial=0) >= 0:
            return {}
        return {"empty": found == _EMPTY, "unknown": found == _OTHER}

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return both in one picture."""
        return (Part(name, (0,), np.array([[0.0], [1.0]]), ("false", "true")),)

    def describe(self) -> str:
        """Return what the column holds."""
        return "true or false"

    def example(self, means: Sequence[float]) -> str:
        """Return a cell."""
        return "True"

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {"type": "truth"}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Truths":
        """Return the kind from plain values."""
        return cls()


def are_truths(texts: Collection[str] | None) -> bool:
    """Whether the distinct texts of a column are true and false, or one of them."""
    return bool(texts) and all(text.lower() in _WORDS for text in texts or ())


def _truth_of(text: str) -> int:
    """Return 1 for true, 0 for false, `_EMPTY` for an empty text and `_OTHER` for any other."""
    if not text:
        return _EMPTY
    return _WORDS.get(text.lower(), _NUMBERS.get(text, _OTHER))
