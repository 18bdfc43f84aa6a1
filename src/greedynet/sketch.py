"""Many rows: look for neurons on samples, solve for the outer weights on all of them.

A sample of some thousand rows shows which neurons are worth taking; only their weights gain from
more. So every growth and every correction gets a sample of its own, and at the end passes over all
rows, wherever they live, give the sums that the weights follow from.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.blocks import Blocks, MemoryBlocks, as_blocks
from greedynet.data import Rows
from greedynet.journal import NO_JOURNAL, Journal
from greedynet.plan import Plan
from greedynet.sums import Sums
from greedynet.threads import Pool

Float64 = NDArray[np.float64]

ROWS_PER_WEIGHT = 8
MIN_SAMPLE = 8_192
MAX_SAMPLE = 16_384
HELD_OUT = 0.1
# Up to so many rows a last correction sees them all, beyond that a sample of them in memory.
MAX_CORRECTED = 2**22
MANY, MANY_NUMBERS = 2**20, 2**25


def sample_size(n_rows: int, n_features: int, n_neurons: int) -> int | None:
    """Rows to look at: some for every inner weight; None if that is more than half of them."""
    wanted = ROWS_PER_WEIGHT * n_neurons * (n_features + 1)
    size = min(max(wanted, MIN_SAMPLE), MAX_SAMPLE)
    return size if 2 * size < n_rows else None


class Sketch:
    """Samples of many rows, all drawn in one pass.

    Parameters
    ----------
    blocks : Blocks
        All rows, as they came.
    size : int
        Rows in a sample.
    hold_out : bool
        Whether to keep a share of the rows out of all samples, to judge by.
    seed : int
        Seed of the samples.
    turns : int, default=3
        Different samples; after them the first come again, or earlier if there are fewer rows.
    journal : Journal
        Sums over all rows that an earlier run made.
    pool : Pool or None
        Threads for what is taken into memory.

    Attributes
    ----------
    blocks : Blocks
        All rows.
    all : Sums
        Sums over all rows.
    """

    def __init__(
        self,
        blocks: Blocks,
        size: int,
        *,
        hold_out: bool,
        seed: int,
        turns: int = 3,
        journal: Journal = NO_JOURNAL,
        pool: Pool | None = None,
    ) -> None:
        self.blocks = blocks
        self.all = Sums(blocks, journal)
        self._size, self._seed = size, seed
        self._journal, self._pool = journal, pool
        n = len(blocks)
        n_held = min(size, int(HELD_OUT * n)) if hold_out else 0
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + turns * size), replace=False)
        self._held, self._rest = np.sort(drawn[:n_held]), drawn[n_held:]

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.intp], Rows]:
        """All rows that were drawn, and their positions."""
        positions = np.sort(np.concatenate([self._held, self._rest]))
        rows = self.blocks.take(positions)
        self._check_order(rows)
        return positions, rows

    def _check_order(self, rows: Rows) -> None:
        """Refuse rows in another order than in an earlier run: sums do not depend on it."""
        (known,) = self._journal.once(lambda _: (rows.digest,))
        if known != rows.digest:
            raise ValueError(
                "`X` must give its rows in the order they had when the fit was begun, got another "
                "one: restore the order, or give another `checkpoint` to begin anew."
            )

    def _take(self, positions: NDArray[np.intp]) -> Rows:
        drawn, rows = self._drawn
        return rows.take(np.searchsorted(drawn, positions))

    def sample(self, turn: int) -> Rows:
        """Return the rows of a turn."""
        at = (turn * self._size + np.arange(self._size)) % len(self._rest)
        return self._take(np.sort(self._rest[at]))

    def held_out(self) -> Rows | None:
        """Rows that are in no sample; None if there are none."""
        return self._take(self._held) if len(self._held) else None

    def input_range(self) -> Float64:
        """Smallest and largest inputs of all rows."""
        return self.blocks.survey().input_range

    @cached_property
    def many(self) -> Sums:
        """Sums to correct neurons by: over all rows, or a million where these are some millions.

        With so many, the noise that a correction leaves in a network is next to nothing.
        """
        n, width = len(self.blocks), self.blocks.n_features + self.blocks.n_outputs
        if n <= MAX_CORRECTED:
            return self.all
        size = max(self._size, min(MANY, MANY_NUMBERS // width))
        drawn = np.random.default_rng([self._seed, 1]).choice(n, size, replace=False)
        rows = self.blocks.take(np.sort(drawn))
        return Sums(MemoryBlocks(rows, self._pool), self._journal)


def sketch_of(
    rows: Rows | Blocks,
    plan: Plan,
    *,
    judged: bool,
    pool: Pool | None = None,
    journal: Journal = NO_JOURNAL,
) -> Sketch | None:
    """Return samples of the rows where these are very many; None where they are not.

    Parameters
    ----------
    rows : Rows or Blocks
    plan : Plan
        A dictionary is made of all rows.
    judged : bool
        Whether there are validation rows; else some are held out, if the plan asks for it.
    pool : Pool or None
        Threads.
    journal : Journal
        Sums that an earlier run made.
    """
    if plan.search != "continuous":
        return None
    size = sample_size(len(rows), rows.n_features, plan.limits.max_neurons)
    if size is None:
        return None
    hold_out = plan.gcv and not judged
    blocks, seed = as_blocks(rows, pool), plan.random_state
    return Sketch(blocks, size, hold_out=hold_out, seed=seed, journal=journal, pool=pool)
