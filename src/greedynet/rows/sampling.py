"""Samples of very many rows: whether they are needed, how large they are, and the rows in them.

A sample of some thousand rows shows which neurons to take; only their weights gain from more. So
every growth and every correction sees a sample of its own, and the rest of the rows is needed for
sums at the end.
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
    """How large samples are.

    Attributes
    ----------
    rows_per_weight : int
        Rows for every inner weight of the network, between `least` and `most` rows in all.
    least, most : int
    held_out : float
        Share of the rows to score networks on, where there is no validation set.
    corrected : int
        Up to so many rows the last correction sees them all; beyond that a larger sample of `many`
        rows, or `many_numbers` numbers if that is less, in which the noise that a correction
        leaves in a network is negligible.
    many, many_numbers : int
    classified : int
        The same limit for the last correction of a classifier, which keeps its rows in memory.
    rare_share : float
        A class with less than this share of an equal number of rows is rare: its rows are sampled
        on their own.
    """

    rows_per_weight: int = 8
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
    """How very many rows are sampled: decided once for a fit, and carried along.

    Attributes
    ----------
    size : int
        Rows in a sample.
    larger : int
        Rows in the sample for the last correction; 0 for all rows.
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
        """Return how to sample; None if samples would be more than half of the rows.

        Parameters
        ----------
        rows : Rows or Blocks
        n_neurons : int
            Neurons that the network may have.
        settings : SamplingSettings
        held_out : float
            Share of the rows that will not be trained on.
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
    """The rows that the stages of a fit see."""

    def sample(self, turn: int) -> Rows:
        """Return the rows for a turn: growths and corrections have turns of their own."""
        ...

    def held_out(self) -> Rows | None:
        """Return rows that are in no sample, to score networks on; None if there are none."""
        ...

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs of all rows."""
        ...


@dataclass(frozen=True, eq=False)
class FewRows:
    """Few rows: every stage sees them all."""

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
    """Samples of many rows, all drawn in one pass.

    Parameters
    ----------
    blocks : Blocks
        All rows, in their original units.
    size : int
        Rows in a sample.
    seed : int
        Seed of the samples.
    hold_out : float, default=0.0
        Share of the rows to keep out of all samples, but at most `size` rows.
    turns : int, default=3
        Different samples; after them the first come again, or earlier if there are fewer rows.
    larger : int, default=0
        Rows in one more sample, for the last correction; 0 for none.
    context : FitContext
        Its journal checks that rows have the order they had in an earlier run.
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
        # In any order: drawing them in a random one takes memory for the numbers of all rows.
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
        (known,) = self._context.journal.once(lambda _: (rows.digest,))
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
        """Return rows that are in no sample; None if there are none."""
        return self._take(self._held) if len(self._held) else None

    def larger(self) -> Rows | None:
        """Return the rows for the last correction; None if these are all rows."""
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
    """Return the rows that the stages of a regression see.

    Parameters
    ----------
    rows : Rows or Blocks
    sampling : Sampling or None
        None if every stage sees all rows.
    seed : int
        Seed of the samples.
    hold_out : bool
        Whether rows are needed to score networks on.
    larger : bool
        Whether there is a last correction.
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
