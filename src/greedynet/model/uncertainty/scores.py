"""`Scores`: the distribution of the scores of held-out rows, as at most 1,001 of its quantiles.

If a new row and `n` held-out rows are exchangeable, the score of the new one is at most the
`ceil(p (n + 1))`-th smallest of theirs with a probability of at least `p`: the quantile of level
`p (n + 1) / n`, which exists if `n >= p / (1 - p)`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.model.uncertainty.evidence import Unseen
from greedynet.support.types import Float64

# Standard errors by which the variation between groups may be larger than it seems.
_ABOVE = 2.0
# Below, the variation between so few groups may be anything.
_LEAST = 1e-3


def n_alike(scores: Float64, unseen: Unseen) -> float:
    """Return the number of different, independent rows of equal weight that say as much.

    `n = (sum w)^2 / sum w^2`, times the share of the rows that are different. Rows in groups say as
    much as

        1 / ((1 - r) / n + r / k),    k = (sum W)^2 / sum W^2,

    with the weights `W` of the groups, where `r` is the correlation of scores within groups: as
    much as one row for each group if their scores are the same, and as `n` rows if these have
    nothing to do with each other.

    """
    w = unseen.weights
    n = float(w.sum() ** 2 / (w @ w)) * unseen.n_rows / len(w)
    if unseen.groups is None:
        return n
    group = np.unique(unseen.groups, return_inverse=True)[1]
    W = np.bincount(group, w)
    r, k = _correlation(scores, w, group), float(W.sum() ** 2 / (W @ W))
    return 1.0 / ((1.0 - r) / max(n, k) + r / k)


def known_rows(n_rows: int, n_independent: float) -> str:
    """Return held-out rows in words, and what they are worth if they are not independent."""
    found = f"{n_rows} held-out rows"
    if n_independent > 0.9 * n_rows:
        return found
    return f"{found}, which are worth {n_independent:.2g} independent ones,"


def _correlation(scores: Float64, weights: Float64, group: NDArray[np.intp]) -> float:
    """Return the correlation of the ranks of scores within groups, rather too large.

    From the mean squares between and within groups of an analysis of variance,

        (B - V) / (B + (m - 1) V),

    where `m` is the size of a group. `B` of `k` groups has a distribution of chi squared, so that
    it is divided by a small quantile of this, `(1 - c - 2 sqrt(c))^3` with `c = 2 / (9 (k - 1))` by
    Wilson and Hilferty: a few groups tell little of their variation. Ranks, as single scores may be
    large.
    """
    sizes, total = np.bincount(group, weights), weights.sum()
    k, n = len(sizes), len(scores)
    if k == 1 or k == n:
        return 1.0
    place = np.unique(scores, return_inverse=True)[1]
    at = np.bincount(place, weights)
    ranks = ((np.cumsum(at) - at / 2) / total)[place]
    means = np.bincount(group, weights * ranks) / sizes
    # In rows of mean weight.
    to_rows = n / total
    between = to_rows * float(sizes @ (means - 0.5) ** 2) / (k - 1)
    within = to_rows * float(weights @ (ranks - means[group]) ** 2) / (n - k)
    size = (n - to_rows * float(sizes @ sizes) / total) / (k - 1)
    c = 2.0 / (9.0 * (k - 1))
    between /= max(1.0 - c - _ABOVE * np.sqrt(c), _LEAST) ** 3
    spread = between + (size - 1.0) * within
    return float(np.clip((between - within) / spread, 0.0, 1.0)) if spread > 0 else 1.0


MOST = 1_001


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of held-out rows."""

    # (k,): Increasing; the `i`-th, from 1, is the smallest score that is at least as large as a
    # share `i / k` of all. If there are at most 1,001 of equal weight, these are the scores
    # themselves.
    quantiles: Float64
    n_rows: float  # number of different rows of equal weight that say as much

    @staticmethod
    def of(scores: Float64, weights: Float64, n_rows: float) -> "Scores":
        """Return the quantiles of scores with weights."""
        k = min(len(scores), MOST)
        return Scores(quantiles(scores, weights, np.arange(1, k + 1) / k), float(n_rows))

    def bound(self, probability: float) -> float:
        """Return what a new score does not exceed with a probability; the largest if too few."""
        level = min(1.0, self._level(probability))
        # Without rounding errors: 0.9 times 10 rows are 9 rows.
        rank = int(np.ceil(level * len(self.quantiles) - 1e-9))
        return float(self.quantiles[max(rank, 1) - 1])

    def suffices(self, probability: float) -> bool:
        """Whether there are enough rows for a probability."""
        return self._level(probability) <= 1.0 + 1e-12

    def _level(self, probability: float) -> float:
        return probability * (self.n_rows + 1) / self.n_rows


def gain(of_held: Float64, of_trained: Float64, share: float) -> Float64:
    """Return the factor by which errors are smaller with all rows than with those of a fold.

    `sqrt((1 - h) C + h T)`, relative to `sqrt(C)`, with squares of mean absolute scores, on which
    single rows have less influence.

    `of_held` and `of_trained` are the roots of `C` and `T`, mean scores of held-out rows and of
    training rows; `share` is the `h`.
    """
    with np.errstate(over="ignore"):
        ratio = np.minimum(1.0, of_trained / np.maximum(of_held, np.finfo(np.float64).tiny))
    return np.sqrt(1.0 - share * (1.0 - ratio**2))


def quantiles(values: Float64, weights: Float64, levels: Float64) -> Float64:
    """Return the smallest values that are at least as large as shares of the total weight."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    # A share that is reached up to rounding is reached.
    at = np.searchsorted(shares, levels - 1e-12)
    return np.asarray(values[order][np.minimum(at, len(values) - 1)])
