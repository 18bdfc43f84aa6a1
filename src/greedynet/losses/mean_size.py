"""The size of residuals per row, in the units of the output, for any loss."""

import numpy as np

from greedynet.losses.base import Loss
from greedynet.support.types import Float64


def mean_size(loss: Loss, residuals: Float64, weights: Float64 | None) -> float:
    """Return the size of residuals, divided by its growth with the number of rows.

    The root mean square for squared errors, the mean absolute value for absolute errors and Huber's
    loss, the mean pinball loss for quantiles, the largest value for "chebyshev". With every row
    twice, a loss that resembles an l_p norm grows by `2^(1/p)`, so the size is divided by
    `n^(1/p)`.
    """
    size = loss.size(residuals, weights)
    if size == 0.0:
        return 0.0
    twice = None if weights is None else np.concatenate([weights, weights])
    rate = np.log2(loss.size(np.concatenate([residuals, residuals]), twice) / size)
    n = residuals.size if weights is None else residuals.shape[1] * float(weights.sum())
    return size / n**rate


def power(loss: Loss) -> float:
    """Return the `p` for which `size^p` is a sum over rows: 1 for absolute values, 2 for squares.

    It is infinite for the maximum norm.
    """
    one = loss.size(np.ones((1, 1)), None)
    rate = float(np.log2(loss.size(np.ones((2, 1)), None) / one))
    return 1.0 / rate if rate > 0 else np.inf


def row_sizes(loss: Loss, residuals: Float64) -> Float64:
    """Return what each row contributes to `size^p`, mean over the outputs.

    The size is homogeneous, so a residual `r` alone has `|r|` times the size of its sign.
    """
    p = power(loss)
    above, below = (loss.size(np.full((1, 1), sign), None) for sign in (1.0, -1.0))
    sizes = np.where(residuals > 0, above, below) * np.abs(residuals)
    return np.asarray(np.mean(sizes**p, axis=1))
