"""How many independent rows say as much as held-out rows in groups do."""

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

    Parameters
    ----------
    scores : ndarray of shape (n,)
        How far off the rows are.
    unseen : Unseen
        The rows.
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
