"""Rows in blocks that are lifted by a first layer wherever they are summed.

The lifted rows are never held at once: whoever holds the rows, this machine, a file or the workers
of a cluster, lifts a block when a sum over it is formed.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.model.ramps import Ramps
from greedynet.rows.blocks import Blocks, Survey, Surveyed, Work
from greedynet.rows.rows import Rows
from greedynet.support.checks import LARGEST

T = TypeVar("T")


def lifted(rows: Rows, ramps: Ramps) -> Rows:
    """Return rows with the columns and their ramps as inputs, no larger than inputs may be."""
    X = ramps.lift(rows.X)
    return replace(rows, X=np.clip(X, -LARGEST, LARGEST, out=X), columns=None)


@dataclass(frozen=True, eq=False)
class OverRamps(Generic[T]):
    """The `Work` of a sum over lifted rows, for the holder of the rows."""

    work: Work[T]
    ramps: Ramps

    @property
    def width(self) -> int:
        """Number of intermediate values per row."""
        return self.work.width + self.ramps.n_lifted

    def of(self, rows: Rows) -> T:
        """Return the sum over some rows."""
        return self.work.of(lifted(rows, self.ramps))

    def join(self, one: T, other: T) -> T:
        """Return the sum of two sums."""
        return self.work.join(one, other)


@dataclass(frozen=True, eq=False)
class LiftedBlocks:
    """Blocks whose inputs are the columns and their ramps."""

    blocks: Blocks
    ramps: Ramps

    @property
    def n_features(self) -> int:
        """Number of columns and ramps."""
        return self.ramps.n_lifted

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.blocks.n_outputs

    def __len__(self) -> int:
        return len(self.blocks)

    def survey(self) -> Survey:
        """Return the survey of all lifted rows."""
        return self._survey

    @cached_property
    def _survey(self) -> Survey:
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        return lifted(self.blocks.take(positions), self.ramps)

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows."""
        return self.blocks.total(OverRamps(work, self.ramps))
