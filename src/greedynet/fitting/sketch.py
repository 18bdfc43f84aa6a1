"""Many rows: look for neurons on samples, solve for the outer weights on all of them.

A sample of some thousand rows shows which neurons are worth taking; only their weights gain from
more. So every growth and every correction gets a sample of its own, and at the end passes over all
rows, wherever they live, give the sums that the weights follow from.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation
from greedynet.correction.all_rows.outer_weights import products_of_all_rows
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.all_rows.sums import Sums
from greedynet.fitting.plan import Plan
from greedynet.model.coordinates import Frame
from greedynet.rows.blocks import Blocks, MemoryBlocks, as_blocks
from greedynet.rows.rows import Rows
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

ROWS_PER_WEIGHT = 8
MIN_SAMPLE = 8_192
MAX_SAMPLE = 16_384
HELD_OUT = 0.1
# Up to so many rows a last correction sees them all, beyond that a larger sample in memory, in
# which the noise that a correction leaves in a network is next to nothing.
MAX_CORRECTED = 2**22
MANY, MANY_NUMBERS = 2**20, 2**25


def sample_size(n_rows: int, n_features: int, n_neurons: int) -> int | None:
    """Rows to look at: some for every inner weight; None if that is more than half of them."""
    wanted = ROWS_PER_WEIGHT * n_neurons * (n_features + 1)
    size = min(max(wanted, MIN_SAMPLE), MAX_SAMPLE)
    return size if 2 * size < n_rows else None


def larger_size(n_rows: int, n_features: int, n_outputs: int) -> int:
    """Rows to correct neurons on at last where all rows are too many for that; else 0."""
    if n_rows <= MAX_CORRECTED:
        return 0
    return max(MAX_SAMPLE, min(MANY, MANY_NUMBERS // (n_features + n_outputs)))


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
    larger : int, default=0
        Rows in one more sample, to correct neurons on; 0 for none.
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
        larger: int = 0,
        journal: Journal = NO_JOURNAL,
        pool: Pool | None = None,
    ) -> None:
        self.blocks = blocks
        self.all = Sums(blocks, journal)
        self._size, self._journal, self._pool = size, journal, pool
        n = len(blocks)
        n_held = min(size, int(HELD_OUT * n)) if hold_out else 0
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + turns * size), replace=False)
        self._held, self._rest = np.sort(drawn[:n_held]), drawn[n_held:]
        # In any order: to draw them in a random one takes memory for the numbers of all rows.
        draw = np.random.default_rng([seed, 1])
        self._larger = np.sort(draw.choice(n, larger, replace=False, shuffle=False))

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.intp], Rows]:
        """All rows that were drawn, and their positions."""
        positions = np.unique(np.concatenate([self._held, self._rest, self._larger]))
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
        """Sums to correct neurons by: over all rows, or the larger sample if there is one."""
        if len(self._larger) == 0:
            return self.all
        return Sums(MemoryBlocks(self._take(self._larger), self._pool), self._journal)

    def products(self, frame: Frame, points: Float64, activation: Activation, ridge: float) -> Gram:
        """Return products of neurons that give the outer weights of all rows.

        Parameters
        ----------
        frame : Frame
            The coordinates.
        points : ndarray of shape (k, d + 1)
            Neurons.
        activation : Activation
        ridge : float
            With which the weights will be solved for.
        """
        if self.many is self.all:
            return self.all.gram(frame, points, activation)
        return products_of_all_rows(self.many, self.all, frame, points, activation, ridge)


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
    n, d = len(rows), rows.n_features
    size = sample_size(n, d, plan.limits.max_neurons)
    if size is None:
        return None
    corrected = plan.correct and plan.alpha is None and not plan.reweighted
    return Sketch(
        as_blocks(rows, pool),
        size,
        hold_out=plan.gcv and not judged,
        seed=plan.random_state,
        larger=larger_size(n, d, rows.n_outputs) if corrected else 0,
        journal=journal,
        pool=pool,
    )
