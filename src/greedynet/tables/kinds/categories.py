"""Categories and booleans.

A category has one feature per level, 1 for the level of the cell and 0 for all others. True and
false are one feature, 1 and 0: files of typed columns hold them as such, and every reader writes
them as text, so a table gives the same inputs whichever way it comes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Part, Problems
from greedynet.tables.readers import Column
from greedynet.tables.readers.base import looked_up


@dataclass(frozen=True)
class Categories:
    """A column of text with few distinct values, sorted, see `base.Kind`.

    If `pooled`, the last level stands for all that are not listed: the `rare` ones of the training
    data, and new ones.
    """

    levels: tuple[str, ...]
    pooled: bool = False
    rare: tuple[str, ...] = ()
    wanted = "categories"
    expression = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels)

    def features(self, name: str) -> tuple[str, ...]:
        """Return `color=red` for each level."""
        return tuple(f"{name}={level}" for level in self.levels)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write 1 to the feature of each cell's level; NaN where nothing stands for a new one."""
        last = len(self.levels) - 1
        place = {level: i for i, level in enumerate(self.levels)} | {"": -1}
        place |= dict.fromkeys(self.rare, last)
        at = looked_up(cells, lambda text: place.get(text, -2))
        new = at == -2
        at = np.where(new, last, at) if self.pooled else at
        known = at >= 0
        out[known, at[known]] = 1.0
        out[~known] = np.nan
        return {"empty": at == -1, "unknown": new} if new.any() or not known.all() else {}

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return all levels in one picture."""
        n = len(self.levels)
        return (Part(name, tuple(range(n)), np.eye(n), self.levels),)

    def describe(self) -> str:
        """Return the first levels."""
        more = f", ... ({len(self.levels)} in all)" if len(self.levels) > _SHOWN else ""
        return f"one of {', '.join(self.levels[:_SHOWN])}{more}"

    def example(self, means: Sequence[float]) -> str:
        """Return the first level."""
        return self.levels[0]

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "type": "category",
            "levels": list(self.levels),
            "pooled": self.pooled,
            "rare": list(self.rare),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Categories":
        """Return the categories from plain values."""
        levels, pooled, rare = tuple(state["levels"]), state["pooled"], tuple(state["rare"])
        are_texts = all(isinstance(level, str) for level in (*levels, *rare))
        if not levels or not are_texts or len({*levels, *rare}) < len(levels) + len(rare):
            raise ValueError(f"`levels` must be different texts, got {levels!r:.80}.")
        if not isinstance(pooled, bool):
            raise ValueError(f"`pooled` must be true or false, got {pooled!r}.")
        return cls(levels, pooled, rare)


_SHOWN = 8


_WORDS = {"true": 1, "false": 0}
# In a column that was learned as true and false.
_NUMBERS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0}

_EMPTY, _OTHER = -1, -2


@dataclass(frozen=True)
class Truths:
    """A column of true and false, see `base.Kind`."""

    wanted = "true and false"
    levels = None
    expression = None
    n_features = 1

    def features(self, name: str) -> tuple[str, ...]:
        """Return the name of the column."""
        return (name,)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write 1 for true and 0 for false, NaN for anything else."""
        found = looked_up(cells, _truth_of)
        out[:, 0] = np.where(found < 0, np.nan, found)
        if found.min(initial=0) >= 0:
            return {}
        return {"empty": found == _EMPTY, "text": found == _OTHER}

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
