"""`Scores`: the distribution of the scores of held-out rows, as at most 1,001 of its quantiles.

If a new row and `n` held-out rows are exchangeable, the score of the new one is at most the
`ceil(p (n + 1))`-th smallest of theirs with a probability of at least `p`: the quantile of level
`p (n + 1) / n`, which exists if `n >= p / (1 - p)`.
"""

from dataclasses import dataclass

import numpy as np

from greedynet.support.types import Float64

MOST = 1_001


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of held-out rows.

    Attributes
    ----------
    quantiles : ndarray of shape (k,)
        Increasing; the `i`-th, from 1, is the smallest score that is at least as large as a share
        `i / k` of all. If there are at most 1,001 of equal weight, these are the scores themselves.
    n_rows : float
        Number of different rows of equal weight that say as much.
    """

    quantiles: Float64
    n_rows: float

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

    Parameters
    ----------
    of_held, of_trained : ndarray or float
        The roots of `C` and `T`: mean scores of held-out rows, and of training rows.
    share : float
        The `h`: share of the rows that the networks of folds had not seen.
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
