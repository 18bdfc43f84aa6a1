"""Samples of large labelled data that preserve rare classes.

A class with one row in a thousand has about one row in a thousand of a random sample, too few to
learn from. So classes with less than a quarter of an equal share are sampled separately, up to that
many rows, and every row is weighted by the number of rows it represents:

    w_i = n_c / m_c          n_c rows of a class, m_c of them in the sample

for each rare class, and for all others together. The rows of a rare class with the smallest keys
are taken, where a key is a pseudo-random function of the position: the sample does not depend on
how rows are split into blocks, and each block keeps at most as many rows as are taken.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks, as_blocks, in_memory, joined
from greedynet.rows.classes import class_numbers
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples, Sampling, SamplingSettings


@dataclass(frozen=True, eq=False)
class ClassSamples:
    """Samples of labelled rows: one for the growth, and a larger one for the final correction.

    Attributes
    ----------
    many : Rows
        For the final correction.
    few : Rows
        For the growth, drawn from `many`.
    """

    many: Rows
    few: Rows

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

    Parameters
    ----------
    rows : Rows or Blocks
        `Y` are unit vectors, or one column of 0 and 1.
    n : int
    seed : int
        Seed of the sample.
    rare_share : float
        A class with less than this fraction of an equal share of the rows is rare.
    """
    if len(rows) <= n:
        return in_memory(rows)
    blocks = as_blocks(rows)
    sample = RandomSamples(blocks, n, seed=seed).sample()
    there = np.bincount(class_numbers(sample.Y), minlength=_n_classes(rows.n_outputs))
    enough = int(rare_share * n / len(there))
    rare = there < enough
    if not rare.any():
        return sample
    found = blocks.total(OfRareClasses(np.flatnonzero(rare), enough, seed))
    return _combined(len(rows), sample.take(np.flatnonzero(~rare[class_numbers(sample.Y)])), found)


def _n_classes(n_outputs: int) -> int:
    return 2 if n_outputs == 1 else n_outputs


@dataclass(frozen=True, eq=False)
class RareRows:
    """Rows of rare classes.

    Attributes
    ----------
    classes : ndarray of shape (n_rare,)
    rows : Rows
        Those with the smallest keys, class by class.
    keys : ndarray of shape (n_rows,)
    counts : ndarray of shape (n_rare,)
        Total number of rows of each class, taken or not.
    """

    classes: NDArray[np.intp]
    rows: Rows
    keys: NDArray[np.uint64]
    counts: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OfRareClasses:
    """The `Work` of selecting rows of rare classes.

    Attributes
    ----------
    classes : ndarray of shape (n_rare,)
        Ascending.
    most : int
        Maximum number of rows per class.
    seed : int
        Seed of the keys.
    """

    classes: NDArray[np.intp]
    most: int
    seed: int

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
