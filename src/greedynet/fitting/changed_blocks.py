"""Rows in blocks as networks of a form see them, wherever they are summed.

The changed rows are never held at once: whoever holds the rows, this machine, a file or the workers
of a cluster, changes a block when a sum over it is formed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks, Survey, Surveyed, Work
from greedynet.rows.rows import Rows

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ChangedWork(Generic[T]):
    """The `Work` of a sum over changed rows, for the holder of the rows."""

    work: Work[T]
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def width(self) -> int:
        """Number of intermediate values per row."""
        return self.work.width + self.n_features

    def of(self, rows: Rows) -> T:
        """Return the sum over some rows."""
        return self.work.of(self.change(rows))

    def join(self, one: T, other: T) -> T:
        """Return the sum of two sums."""
        return self.work.join(one, other)


@dataclass(frozen=True, eq=False)
class ChangedBlocks:
    """Blocks whose rows are changed before they are used.

    Attributes
    ----------
    change : callable
        Can be pickled, for workers of a cluster.
    n_features : int
        Number of inputs of a changed row.
    """

    blocks: Blocks
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.blocks.n_outputs

    def __len__(self) -> int:
        return len(self.blocks)

    def survey(self) -> Survey:
        """Return the survey of all changed rows."""
        return self._survey

    @cached_property
    def _survey(self) -> Survey:
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        return self.change(self.blocks.take(positions))

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows."""
        return self.blocks.total(ChangedWork(work, self.change, self.n_features))
