"""Many rows: look for neurons on samples, solve for the outer weights on all of them.

A sample of some thousand rows shows which neurons are worth taking; only their weights gain from
more. So every growth and every correction gets a sample of its own, and at the end passes over all
rows, wherever they live, give the sums that the weights follow from.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation
from greedynet.blocks import Blocks, Work
from greedynet.data import Rows
from greedynet.frame import Frame
from greedynet.gram import Gram, Products
from greedynet.journal import NO_JOURNAL, Journal

Float64 = NDArray[np.float64]

ROWS_PER_WEIGHT = 8
MIN_SAMPLE = 8_192
MAX_SAMPLE = 16_384
HELD_OUT = 0.1


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
    ) -> None:
        self.blocks = blocks
        self._size = size
        self._journal = journal
        n = len(blocks)
        n_held = min(size, int(HELD_OUT * n)) if hold_out else 0
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + turns * size), replace=False)
        self._held, self._rest = np.sort(drawn[:n_held]), drawn[n_held:]
        self._last: tuple[Float64, Gram] | None = None

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

    def gram(self, frame: Frame, points: Float64, activation: Activation) -> Gram:
        """Products of the affine columns and of neurons, over all rows.

        Parameters
        ----------
        frame : Frame
        points : ndarray of shape (k, d + 1)
            Neurons in the coordinates of the frame.
        activation : Activation
        """
        # A correction ends where the outer weights are asked for: its last pass need not be made
        # again.
        if self._last is None or not np.array_equal(self._last[0], points):
            work = Products(frame.without_rows(), points, activation)
            self._last = points, self._products(work)
        return self._last[1]

    def total(self, work: Work[Float64]) -> Float64:
        """Return a sum over all rows."""
        (found,) = self._journal.once(lambda _: (self.blocks.total(work),))
        return np.ascontiguousarray(found)

    def _products(self, work: Products) -> Gram:
        def products(_: Journal) -> tuple[Float64, Float64, float]:
            found = self.blocks.total(work)
            return found.G, found.b, found.square

        G, b, square = self._journal.once(products)
        # A journal keeps no order of memory, and products of the same numbers must not differ.
        return Gram(np.ascontiguousarray(G), b, square)
