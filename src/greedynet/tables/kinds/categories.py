"""Categories and booleans.

A category has one feature per level, 1 for the level of the cell and 0 for all others. True and
false are one feature, 1 and 0: files of typed columns hold them as such, and every reader writes
them as text, so a table gives the same inputs whichever way it comes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.kinds.base import (
    EffectPart,
    Kind,
    Mask,
    Problems,
    check_levels,
    place_sql,
    places,
    require,
)
from greedynet.tables.readers.base import Column

# The name of the level of all rare and unknown ones.
OTHER = "(other)"
# A level with fewer rows than both, this number and this share of all rows, is pooled with others.
RARE_ROWS, RARE_SHARE = 3, 0.01
_SHOWN = 8


@dataclass(frozen=True)
class Categories(Kind):
    """A column of text with few distinct values, sorted.

    If `pooled`, the last level stands for all that are not listed: the `rare` ones of the training
    data, and new ones.
    """

    levels: tuple[str, ...] = ()
    pooled: bool = False
    rare: tuple[str, ...] = ()
    name: ClassVar[str] = "category"
    nouns: ClassVar[str] = "categories"

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], n_rows: int) -> "Categories":
        """Return a category whose rare levels are one, the last; it takes unknown levels, too.

        A level with a handful of rows says little about the next row of that level; together, they
        say something about rare levels.
        """
        levels, least = sorted(counts), min(RARE_ROWS, RARE_SHARE * n_rows)
        common = tuple(level for level in levels if counts[level] >= least)
        return cls.with_rare(common, tuple(n for n in levels if counts[n] < least))

    @classmethod
    def with_rare(cls, common: tuple[str, ...], rare: tuple[str, ...]) -> "Categories":
        """Return a category with one level, the last, for all rare ones, if there are some."""
        if not rare:
            return cls(common)
        label = OTHER
        while label in common:
            label = f"({label})"
        return cls((*common, label), pooled=True, rare=rare)

    def features(self, name: str) -> tuple[str, ...]:
        """Return `color=red` for each level."""
        return tuple(f"{name}={level}" for level in self.levels)

    def expression(self, cell: str) -> str:
        """Return the SQL of the place of the level."""
        return place_sql(cell, (*self.levels[: len(self.levels) - self.pooled], *self.rare))

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write 1 to the feature of each cell's level; NaN where nothing stands for a new one."""
        at, new = places(cells, self.levels, self.rare)
        last = len(self.levels) - 1
        at = np.where(at > last, last if self.pooled else -1, at)
        known = at >= 0
        out[known, at[known]] = 1.0
        out[~known] = np.nan
        return {"empty": ~known & ~new, "unknown": new} if new.any() or not known.all() else {}

    def parts(self, name: str) -> tuple[EffectPart, ...]:
        """Return all levels in one picture."""
        n = len(self.levels)
        return (EffectPart(name, tuple(range(n)), np.eye(n), self.levels),)

    def describe(self) -> str:
        """Return the first levels."""
        more = f", ... ({len(self.levels)} in all)" if len(self.levels) > _SHOWN else ""
        return f"one of {', '.join(self.levels[:_SHOWN])}{more}"

    def example(self, means: Sequence[float]) -> str:
        """Return the first level."""
        return self.levels[0]

    def check(self) -> None:
        """Raise an error for fields that cannot be."""
        check_levels(self.levels, self.rare)
        require(isinstance(self.pooled, bool), "`pooled` must be true or false", self.pooled)


@dataclass(frozen=True)
class Truths(Kind):
    """A column of true and false."""

    name: ClassVar[str] = "truth"
    nouns: ClassVar[str] = "true and false"

    @staticmethod
    def are(texts: Collection[str] | None) -> bool:
        """Whether the distinct texts of a column are true and false, or one of them."""
        return bool(texts) and {text.lower() for text in texts or ()} <= {"true", "false"}

    def expression(self, cell: str) -> str:
        """Return the SQL of 1 for true and 0 for false, which may be written so."""
        word = f"lower({cell})"
        return (
            f"case when {word} in ('true', '1', '1.0') then 1.0 "
            f"when {word} in ('false', '0', '0.0') then 0.0 end"
        )

    def values(self, cells: Column) -> tuple[NDArray[Any], Mask]:
        """Return the values; other numbers are none."""
        values, text = super().values(cells)
        other = ~np.isnan(values) & (values != 0.0) & (values != 1.0)
        return np.where(other, np.nan, values), text | other

    def parts(self, name: str) -> tuple[EffectPart, ...]:
        """Return both in one picture."""
        return (EffectPart(name, (0,), np.array([[0.0], [1.0]]), ("false", "true")),)

    def describe(self) -> str:
        """Return what the column holds."""
        return "true or false"

    def example(self, means: Sequence[float]) -> str:
        """Return a cell."""
        return "True"
