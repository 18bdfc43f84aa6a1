"""Samples of large data: whether they are needed, their size, and their rows.

A sample of several thousand rows suffices to choose neurons; only their weights benefit from more.
So networks grow on a sample, and all rows are used only for sums at the end.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks, as_blocks, in_memory, joined
from greedynet.rows.rows import Rows, class_numbers
from greedynet.support.types import Float64


@dataclass(frozen=True)
class SamplingSettings:
    """Sizes of the samples."""

    # Rows per inner weight of the network; in total at least `least` and at most `most` rows.
    rows_per_weight: int = 16
    least: int = 8_192
    most: int = 16_384
    # Fraction of the rows at least on which networks are scored if there is no validation set; and
    # all that the sample leaves, at most as many as it has. Fewer rows tell less of rare ones: with
    # very heavy tails, an error of ten times what was told has been seen.
    held_out: float = 0.1
    # Up to this number of rows the final correction uses all of them; beyond that, a larger sample
    # of `many` rows, or of `many_numbers` numbers if that is less, with which the noise in a
    # corrected network is negligible.
    corrected: int = 2**22
    many: int = 2**20
    many_numbers: int = 2**25
    # Maximum number of rows in the final correction of a classifier, which are kept in memory.
    classified: int = 2**17
    # A class with less than this fraction of an equal share of the rows is rare: its rows are
    # sampled separately.
    rare_share: float = 0.25


@dataclass(frozen=True)
class Sampling:
    """How large data are sampled, decided once for a fit."""

    size: int  # rows in a sample
    larger: int = 0  # rows in the sample for the final correction; 0 for all rows
    settings: SamplingSettings = SamplingSettings()

    @staticmethod
    def of(rows: Rows | Blocks, n_neurons: int, settings: SamplingSettings) -> "Sampling | None":
        """Return how to sample; None if rows are few, or all but those held out are needed."""
        n_rows = len(rows)
        wanted = settings.rows_per_weight * n_neurons * (rows.n_features + 1)
        size = min(max(wanted, settings.least), settings.most)
        if n_rows <= 2 * settings.least or size >= (1 - settings.held_out) * n_rows:
            return None
        larger = 0
        if n_rows > settings.corrected:
            n_columns = rows.n_features + rows.n_outputs
            larger = max(settings.most, min(settings.many, settings.many_numbers // n_columns))
        return Sampling(size, larger, settings)


class RandomSamples:
    """Samples of large data, all drawn in one pass.

    A sample has `size` rows, that of the final correction `larger`, 0 for none. With a fraction
    `hold_out` above 0, so many of all rows are held out from them, and all others that the sample
    leaves, but at most `size`.
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
        n_held = min(size, max(int(hold_out * n), n - size)) if hold_out else 0
        drawn = np.random.default_rng(seed).choice(n, min(n, n_held + size), replace=False)
        self._held, self._sample = np.sort(drawn[:n_held]), np.sort(drawn[n_held:])
        # Without shuffling, which would need memory for the positions of all rows.
        draw = np.random.default_rng([seed, 1])
        self._larger = np.sort(draw.choice(n, larger, replace=False, shuffle=False))

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.intp], Rows]:
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


@dataclass(frozen=True, eq=False)
class ClassSamples:
    """Samples of labelled rows: one for the growth, and a larger one for the final correction."""

    many: Rows  # for the final correction
    few: Rows  # for the growth, drawn from `many`

    @staticmethod
    def of(rows: Rows | Blocks, sampling: Sampling | None, seed: int) -> "ClassSamples":
        """Draw the samples; for small data, both consist of all rows."""
        if sampling is None:
            all_rows = in_memory(rows)
            return ClassSamples(all_rows, all_rows)
        settings = sampling.settings
        n_many = max(settings.classified, sampling.size)
        many = at_most(rows, n_many, seed, settings.rare_share)
        return ClassSamples(many, at_most(many, sampling.size, seed, settings.rare_share))


def at_most(
    rows: Rows | Blocks,
    n: int,
    seed: int,
    rare_share: float = SamplingSettings().rare_share,
) -> Rows:
    """Return all rows, or a sample of about `n` if there are more.

    A class with less than `rare_share` of an equal share of the rows is rare.
    """
    if len(rows) <= n:
        return in_memory(rows)
    blocks = as_blocks(rows)
    sample = RandomSamples(blocks, n, seed=seed).sample()
    there = np.bincount(class_numbers(sample.Y), minlength=max(2, rows.n_outputs))
    enough = int(rare_share * n / len(there))
    rare = there < enough
    if not rare.any():
        return sample
    found = blocks.total(OfRareClasses(np.flatnonzero(rare), enough, seed))
    return _combined(len(rows), sample.take(np.flatnonzero(~rare[class_numbers(sample.Y)])), found)


@dataclass(frozen=True, eq=False)
class RareRows:
    """Rows of rare classes."""

    classes: NDArray[np.intp]  # (n_rare,)
    rows: Rows  # those with the smallest keys, class by class
    keys: NDArray[np.uint64]  # (n_rows,)
    counts: NDArray[np.intp]  # (n_rare,): total number of rows of each class, taken or not


@dataclass(frozen=True, eq=False)
class OfRareClasses:
    """The `Work` of selecting rows of rare classes."""

    classes: NDArray[np.intp]  # (n_rare,): Ascending
    most: int  # maximum number of rows per class
    seed: int  # seed of the keys

    # The rows are used directly.
    width = 1

    def of(self, rows: Rows) -> RareRows:
        """Return the selected rows of a block."""
        of_class = class_numbers(rows.Y)
        at = np.flatnonzero(np.isin(of_class, self.classes))
        counts = np.array([np.sum(of_class == c) for c in self.classes], dtype=np.intp)
        keys = _keys(rows.start + at, self.seed)
        return self._smallest(RareRows(self.classes, rows.take(at), keys, counts))

    def join(self, one: RareRows, other: RareRows) -> RareRows:
        """Combine two selections."""
        keys = np.concatenate([one.keys, other.keys])
        rows, counts = joined([one.rows, other.rows]), one.counts + other.counts
        return self._smallest(RareRows(self.classes, rows, keys, counts))

    def _smallest(self, found: RareRows) -> RareRows:
        """Keep the smallest keys of every class, in their order."""
        order = np.argsort(found.keys)
        of_class = class_numbers(found.rows.Y)[order]
        kept = np.concatenate([order[of_class == c][: self.most] for c in self.classes])
        return replace(found, rows=found.rows.take(kept), keys=found.keys[kept])


def _keys(positions: NDArray[np.intp], seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random key for each position, all different (splitmix64)."""
    found = positions.astype(np.uint64) + np.uint64(seed % 2**31 * 2**32)
    found = (found + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def _combined(n: int, others: Rows, found: RareRows) -> Rows:
    """Return rows of all classes, weighted by the number of rows they represent, with mean 1."""
    rows = joined([others, found.rows])
    of_class = class_numbers(found.rows.Y)
    taken = [len(others), *(np.sum(of_class == c) for c in found.classes)]
    drawn_from = [n - int(found.counts.sum()), *found.counts]
    weights = np.repeat(np.divide(drawn_from, np.maximum(taken, 1)), taken)
    if rows.weights is not None:
        weights *= rows.weights
    return Rows(rows.X, rows.Y, weights / weights.mean())
