"""Samples of large data: whether they are needed, their size, and their rows.

A sample of several thousand rows suffices to choose neurons; only their weights benefit from more.
So every growth and every correction uses its own sample, and all rows are used only for sums at the
end.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks, BlockSizes, as_blocks, in_memory
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True)
class SamplingSettings:
    """Sizes of the samples.

    Attributes
    ----------
    rows_per_weight : int
        Rows per inner weight of the network; in total at least `least` and at most `most` rows.
    least, most : int
    held_out : float
        Fraction of the rows on which networks are scored if there is no validation set.
    corrected : int
        Up to this number of rows the final correction uses all of them; beyond that, a larger
        sample of `many` rows, or of `many_numbers` numbers if that is less, with which the noise in
        a corrected network is negligible.
    many, many_numbers : int
    classified : int
        Maximum number of rows in the final correction of a classifier, which are kept in memory.
    rare_share : float
        A class with less than this fraction of an equal share of the rows is rare: its rows are
        sampled separately.
    """

    rows_per_weight: int = 16
    least: int = 8_192
    most: int = 16_384
    held_out: float = 0.1
    corrected: int = 2**22
    many: int = 2**20
    many_numbers: int = 2**25
    classified: int = 2**17
    rare_share: float = 0.25


@dataclass(frozen=True)
class Sampling:
    """How large data are sampled, decided once for a fit.

    Attributes
    ----------
    size : int
        Rows in a sample.
    larger : int
        Rows in the sample for the final correction; 0 for all rows.
    settings : SamplingSettings
    """

    size: int
    larger: int = 0
    settings: SamplingSettings = SamplingSettings()

    @staticmethod
    def of(
        rows: Rows | Blocks,
        n_neurons: int,
        settings: SamplingSettings,
        held_out: float = 0.0,
    ) -> "Sampling | None":
        """Return how to sample; None if a sample would be at least half of the rows.

        Parameters
        ----------
        rows : Rows or Blocks
        n_neurons : int
            Maximum number of neurons of the network.
        settings : SamplingSettings
        held_out : float
            Fraction of the rows that are held out.
        """
        n_rows = len(rows) - int(np.ceil(held_out * len(rows)))
        wanted = settings.rows_per_weight * n_neurons * (rows.n_features + 1)
        size = min(max(wanted, settings.least), settings.most)
        if 2 * size >= n_rows:
            return None
        larger = 0
        if n_rows > settings.corrected:
            n_columns = rows.n_features + rows.n_outputs
            larger = max(settings.most, min(settings.many, settings.many_numbers // n_columns))
        return Sampling(size, larger, settings)


class Samples(Protocol):
    """The rows used by the stages of a fit."""

    def sample(self, turn: int) -> Rows:
        """Return the rows for a turn: each growth and correction has its own turn."""
        ...

    def held_out(self) -> Rows | None:
        """Return held-out rows, which are in no sample, for scoring; None if there are none."""
        ...

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs of all rows."""
        ...


@dataclass(frozen=True, eq=False)
class FewRows:
    """Small data: every stage uses all rows."""

    rows: Rows

    def sample(self, turn: int) -> Rows:
        """Return all rows."""
        return self.rows

    def held_out(self) -> None:
        """Return None: no row is held out."""

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs."""
        X = self.rows.X
        return np.array([X.min(axis=0), X.max(axis=0)], dtype=np.float64)


class RandomSamples:
    """Samples of large data, all drawn in one pass.

    Parameters
    ----------
    blocks : Blocks
        All rows, in their original units.
    size : int
        Rows in a sample.
    seed : int
        Seed of the samples.
    hold_out : float, default=0.0
        Fraction of the rows to hold out from all samples, at most `size` rows.
    turns : int, default=3
        Number of different samples; then they repeat, or earlier if there are too few rows.
    larger : int, default=0
        Rows in another sample, for the final correction; 0 for none.
    context : FitContext
        Its journal is used to check that the rows are in the same order as in an earlier run.
    """

    def __init__(
        self,
        blocks: Blocks,
        size: int,
        *,
        seed: int,
        hold_out: float = 0.0,
        turns: int = 3,
        larger: int = 0,
        context: FitContext | None = None,
    ) -> None:
        self.blocks = blocks
        self._size, self._context = size, context or FitContext()
        n = len(blocks)
        n_held = min(size, int(hold_out * n))
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + turns * size), replace=False)
        self._held, self._rest = np.sort(drawn[:n_held]), drawn[n_held:]
        # Without shuffling, which would need memory for the positions of all rows.
        draw = np.random.default_rng([seed, 1])
        self._larger = np.sort(draw.choice(n, larger, replace=False, shuffle=False))

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.intp], Rows]:
        """The positions of all drawn rows, and these rows."""
        positions = np.unique(np.concatenate([self._held, self._rest, self._larger]))
        rows = self.blocks.take(positions)
        self._check_order(rows)
        return positions, rows

    def _check_order(self, rows: Rows) -> None:
        """Raise an error if the order has changed since an earlier run: sums do not detect it."""
        (known,) = self._context.journal.once(lambda _: (rows.digest,))
        if known != rows.digest:
            raise ValueError(
                "`X` must yield its rows in the same order as when the fit was started, got a "
                "different one: restore the order, or use another `checkpoint` to start again."
            )

    def _take(self, positions: NDArray[np.intp]) -> Rows:
        drawn, rows = self._drawn
        return rows.take(np.searchsorted(drawn, positions))

    def sample(self, turn: int) -> Rows:
        """Return the rows of a turn."""
        at = (turn * self._size + np.arange(self._size)) % len(self._rest)
        return self._take(np.sort(self._rest[at]))

    def held_out(self) -> Rows | None:
        """Return the held-out rows, which are in no sample; None if there are none."""
        return self._take(self._held) if len(self._held) else None

    def larger(self) -> Rows | None:
        """Return the sample for the final correction; None if it uses all rows."""
        return self._take(self._larger) if len(self._larger) else None

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs of all rows."""
        return self.blocks.survey().input_range


def samples_of(
    rows: Rows | Blocks,
    sampling: Sampling | None,
    *,
    seed: int,
    hold_out: bool,
    larger: bool = False,
    sizes: BlockSizes,
    context: FitContext,
) -> FewRows | RandomSamples:
    """Return the rows used by the stages of a regression.

    Parameters
    ----------
    rows : Rows or Blocks
    sampling : Sampling or None
        None if every stage uses all rows.
    seed : int
        Seed of the samples.
    hold_out : bool
        Whether rows are held out for scoring.
    larger : bool
        Whether there is a final correction.
    sizes : BlockSizes
    context : FitContext
    """
    if sampling is None:
        return FewRows(in_memory(rows))
    return RandomSamples(
        as_blocks(rows, context.pool, sizes),
        sampling.size,
        seed=seed,
        hold_out=sampling.settings.held_out if hold_out else 0.0,
        larger=sampling.larger if larger else 0,
        context=context,
    )
