"""Categories: one feature per level, 1 for the level of the cell and 0 for all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.support.types import Float64
from greedynet.tables.cells import looked_up
from greedynet.tables.kinds.base import Part, Problems
from greedynet.tables.readers import Column


@dataclass(frozen=True)
class Categories:
    """A column of text with few distinct values, see `base.Kind`.

    Attributes
    ----------
    levels : tuple of str
        The values, sorted.
    pooled : bool
        Whether the last level stands for all that are not listed: rare ones, and unknown ones.
    """

    levels: tuple[str, ...]
    pooled: bool = False
    wanted = "categories"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels)

    def features(self, name: str) -> tuple[str, ...]:
        """Return `color=red` for each level."""
        return tuple(f"{name}={level}" for level in self.levels)

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write 1 to the feature of each cell's level."""
        place = {level: i for i, level in enumerate(self.levels)} | {"": -1}
        others = len(self.levels) - 1 if self.pooled else -2
        at = looked_up(cells, lambda text: place.get(text, others))
        known = at >= 0
        if known.all():
            out[np.arange(len(at)), at] = 1.0
            return {}
        out[known, at[known]] = 1.0
        out[at == -1] = np.nan
        return {"empty": at == -1, "unknown": at == -2}

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
        return {"type": "category", "levels": list(self.levels), "pooled": self.pooled}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Categories":
        """Return the categories from plain values."""
        return cls(tuple(map(str, state["levels"])), bool(state["pooled"]))


_SHOWN = 8
