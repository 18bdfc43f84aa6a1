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

from greedynet.rows.blocks import Blocks, as_blocks, in_memory, joined
from greedynet.rows.classes import class_numbers
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples, Sampling, SamplingSettings
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class ClassSamples:
    """Samples of labelled rows: one to grow on, and a larger one for the last correction.

    Attributes
    ----------
    many : Rows
        For the last correction.
    few : Rows
        To grow on, drawn from them.
    """

    many: Rows
    few: Rows

    @staticmethod
    def of(
        rows: Rows | Blocks, sampling: Sampling | None, seed: int, context: FitContext
    ) -> "ClassSamples":
        """Draw the samples; both are all rows where these are few."""
        if sampling is None:
            all_rows = in_memory(rows)
            return ClassSamples(all_rows, all_rows)
        settings = sampling.settings
        n_many = max(settings.classified, sampling.size)
        many = at_most(rows, n_many, seed, settings.rare_share, context)
        return ClassSamples(many, at_most(many, sampling.size, seed, settings.rare_share))

    def sample(self, turn: int) -> Rows:
        """Return the rows to grow on, in every turn."""
        return self.few

    def held_out(self) -> None:
        """Return None: ridge and width are chosen by folds."""

    def input_range(self) -> Float64:
        """Return the smallest and largest inputs of the rows to grow on."""
        X = self.few.X
        return np.array([X.min(axis=0), X.max(axis=0)], dtype=np.float64)


def at_most(
    rows: Rows | Blocks,
    n: int,
    seed: int,
    rare_share: float = SamplingSettings().rare_share,
    context: FitContext | None = None,
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
        A class with a smaller share of an equal number of rows is rare.
    context : FitContext or None
        Its journal checks that rows have the order they had in an earlier run.
    """
    if len(rows) <= n:
        return in_memory(rows)
    blocks = as_blocks(rows)
    sample = RandomSamples(blocks, n, seed=seed, turns=1, context=context).sample(0)
    there = np.bincount(class_numbers(sample.Y), minlength=_n_classes(rows.n_outputs))
    enough = int(rare_share * n / len(there))
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
