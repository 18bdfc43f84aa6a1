"""The weighted median."""

import numpy as np

from greedynet.support.types import Float64

# Sums of weights that differ by less are equal up to rounding.
_ROUNDING = 1e-12


def weighted_median(values: Float64, weights: Float64 | None) -> float:
    """Return the median; an integer weight is equivalent to that many copies of the value.

    This is the smallest value at which the cumulative weight exceeds one half, or the mean of two
    neighbours if it is exactly one half between them, as in `numpy.median`.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
        Non-negative; None for all equal.
    """
    if weights is None or (weights == weights[0]).all():
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    sums = np.cumsum(weights[order])
    half, margin = 0.5 * sums[-1], _ROUNDING * sums[-1]
    low = int(np.searchsorted(sums, half - margin))
    high = int(np.searchsorted(sums, half + margin))
    return float(0.5 * (values[order[low]] + values[order[min(high, len(order) - 1)]]))
