"""Rows in memory, as blocks."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.base import (
    DEFAULT_SIZES,
    Blocks,
    BlockSizes,
    Survey,
    Surveyed,
    Work,
    summed,
)
from greedynet.rows.rows import Rows
from greedynet.support.threads import Pool

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MemoryBlocks:
    """Rows in memory, whose blocks are processed by threads.

    Attributes
    ----------
    rows : Rows
    pool : Pool or None
        Threads.
    sizes : BlockSizes
    """

    rows: Rows
    pool: Pool | None = None
    sizes: BlockSizes = DEFAULT_SIZES

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.rows.n_features

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.rows.n_outputs

    def __len__(self) -> int:
        return len(self.rows)

    def survey(self) -> Survey:
        """Return the survey of all rows."""
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions."""
        return self.rows.take(positions)

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows."""
        return summed(work, self.rows, self.pool, self.sizes.block_rows(work.width))


def as_blocks(
    rows: Rows | Blocks, pool: Pool | None = None, sizes: BlockSizes = DEFAULT_SIZES
) -> Blocks:
    """Return rows as blocks."""
    return MemoryBlocks(rows, pool, sizes) if isinstance(rows, Rows) else rows


def in_memory(rows: Rows | Blocks) -> Rows:
    """Return all rows in memory, for small data."""
    return rows if isinstance(rows, Rows) else rows.take(np.arange(len(rows)))
