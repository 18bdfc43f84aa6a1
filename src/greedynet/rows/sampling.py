"""Samples of large data: whether they are needed, their size, and their rows.

A sample of several thousand rows suffices to choose neurons; only their weights benefit from more.
So networks grow on a sample, and all rows are used only for sums at the end.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
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
    def of(rows: Rows | Blocks, n_neurons: int, settings: SamplingSettings) -> "Sampling | None":
        """Return how to sample; None if a sample would be at least half of the rows.

        Parameters
        ----------
        rows : Rows or Blocks
        n_neurons : int
            Maximum number of neurons of the network.
        settings : SamplingSettings
        """
        n_rows = len(rows)
        wanted = settings.rows_per_weight * n_neurons * (rows.n_features + 1)
        size = min(max(wanted, settings.least), settings.most)
        if 2 * size >= n_rows:
            return None
        larger = 0
        if n_rows > settings.corrected:
            n_columns = rows.n_features + rows.n_outputs
            larger = max(settings.most, min(settings.many, settings.many_numbers // n_columns))
        return Sampling(size, larger, settings)


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
        Fraction of the rows to hold out from the sample, at most `size` rows.
    larger : int, default=0
        Rows in another sample, for the final correction; 0 for none.
    """

    def __init__(
        self,
        blocks: Blocks,
        size: int,
        *,
        seed: int,
        hold_out: float = 0.0,
        larger: int = 0,
    ) -> None:
        self.blocks = blocks
        n = len(blocks)
        n_held = min(size, int(hold_out * n))
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + size), replace=False)
        self._held, self._sample = np.sort(drawn[:n_held]), np.sort(drawn[n_held:])
        # Without shuffling, which would need memory for the positions of all rows.
        draw = np.random.default_rng([seed, 1])
        self._larger = np.sort(draw.choice(n, larger, replace=False, shuffle=False))

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.intp], Rows]:
        """The positions of all drawn rows, and these rows."""
        positions = np.unique(np.concatenate([self._held, self._sample, self._larger]))
        rows = self.blocks.take(positions)
        return positions, rows

    def _take(self, positions: NDArray[np.intp]) -> Rows:
        drawn, rows = self._drawn
        return rows.take(np.searchsorted(drawn, positions))

    def sample(self) -> Rows:
        """Return the rows on which networks grow."""
        return self._take(self._sample)

    def held_out(self) -> Rows | None:
        """Return the held-out rows, which are not in the sample; None if there are none."""
        return self._take(self._held) if len(self._held) else None

    def larger(self) -> Rows | None:
        """Return the sample for the final correction; None if it uses all rows."""
        return self._take(self._larger) if len(self._larger) else None

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs of all rows."""
        return self.blocks.survey().input_range
