"""Samples of very many labelled rows, in which rare classes are not lost.

A class with one row in a thousand has one row in a thousand of a sample, few to learn it from. So
of classes with less than a quarter of an equal share, up to that many rows are taken on their own,
and every row counts for as many as it was drawn from:

    w_i = n_c / m_c          n_c rows of a class, m_c of them in the sample

for rare classes, one by one, and for all others together. Which rows of a rare class are taken is
decided by random keys that follow from their positions, the smallest first: they are the same
however rows are cut into blocks, and sums of blocks need to keep no more than are taken.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.sketch import Sketch
from greedynet.rows.blocks import Blocks, as_blocks, in_memory, joined
from greedynet.rows.rows import Rows, class_numbers
from greedynet.support.journal import NO_JOURNAL, Journal

# A class with a smaller part of an equal share is rare.
_RARE = 0.25


def at_most(rows: Rows | Blocks, n: int, seed: int, journal: Journal = NO_JOURNAL) -> Rows:
    """Return all rows, or a sample of about `n` if they are more.

    Parameters
    ----------
    rows : Rows or Blocks
        `Y` are unit vectors, or one column of 0 and 1.
    n : int
    seed : int
        Seed of the sample.
    journal : Journal
        Sees that rows have the order they had in an earlier run.
    """
    if len(rows) <= n:
        return in_memory(rows)
    blocks = as_blocks(rows)
    sample = Sketch(blocks, n, hold_out=False, seed=seed, turns=1, journal=journal).sample(0)
    there = np.bincount(class_numbers(sample.Y), minlength=_n_classes(rows.n_outputs))
    enough = int(_RARE * n / len(there))
    rare = there < enough
    if not rare.any():
        return sample
    found = blocks.total(OfRareClasses(np.flatnonzero(rare), enough, seed))
    return _put_together(
        len(rows), sample.take(np.flatnonzero(~rare[class_numbers(sample.Y)])), found
    )


def _n_classes(n_outputs: int) -> int:
    return 2 if n_outputs == 1 else n_outputs


@dataclass(frozen=True, eq=False)
class Found:
    """Rows of rare classes.

    Attributes
    ----------
    classes : ndarray of shape (n_rare,)
    rows : Rows
        Those with the smallest keys, class by class.
    keys : ndarray of shape (n_rows,)
    counts : ndarray of shape (n_rare,)
        How many rows there are of each class, taken or not.
    """

    classes: NDArray[np.intp]
    rows: Rows
    keys: NDArray[np.uint64]
    counts: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OfRareClasses:
    """The work of finding them.

    Attributes
    ----------
    classes : ndarray of shape (n_rare,)
        Ascending.
    most : int
        Rows of a class to take at most.
    seed : int
        Seed of the keys.
    """

    classes: NDArray[np.intp]
    most: int
    seed: int

    # It looks at the rows as they are.
    width = 1

    def of(self, rows: Rows) -> Found:
        """Return what is found among some rows."""
        of_class = class_numbers(rows.Y)
        at = np.flatnonzero(np.isin(of_class, self.classes))
        counts = np.array([np.sum(of_class == c) for c in self.classes], dtype=np.intp)
        keys = _keys(rows.start + at, self.seed)
        return self._smallest(Found(self.classes, rows.take(at), keys, counts))

    def join(self, one: Found, other: Found) -> Found:
        """Return what is found in both."""
        keys = np.concatenate([one.keys, other.keys])
        rows, counts = joined([one.rows, other.rows]), one.counts + other.counts
        return self._smallest(Found(self.classes, rows, keys, counts))

    def _smallest(self, found: Found) -> Found:
        """Keep the smallest keys of every class, in their order."""
        order = np.argsort(found.keys)
        of_class = class_numbers(found.rows.Y)[order]
        kept = np.concatenate([order[of_class == c][: self.most] for c in self.classes])
        return replace(found, rows=found.rows.take(kept), keys=found.keys[kept])


def _keys(positions: NDArray[np.intp], seed: int) -> NDArray[np.uint64]:
    """Return a number for each position that looks random; no two are the same (splitmix64)."""
    found = positions.astype(np.uint64) + np.uint64(seed % 2**31 * 2**32)
    found = (found + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def _put_together(n: int, others: Rows, found: Found) -> Rows:
    """Return rows of all classes; each counts for as many as it was drawn from, 1 on average."""
    rows = joined([others, found.rows])
    of_class = class_numbers(found.rows.Y)
    taken = [len(others), *(np.sum(of_class == c) for c in found.classes)]
    drawn_from = [n - int(found.counts.sum()), *found.counts]
    weights = np.repeat(np.divide(drawn_from, np.maximum(taken, 1)), taken)
    if rows.weights is not None:
        weights *= rows.weights
    return Rows(rows.X, rows.Y, weights / weights.mean())
