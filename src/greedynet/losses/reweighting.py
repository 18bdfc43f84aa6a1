"""Row weights with which least squares minimise another loss: `v_i = L'(r_i) / r_i`."""

from collections.abc import Callable
from functools import partial

import numpy as np

from greedynet.losses.base import Loss
from greedynet.losses.median import weighted_median
from greedynet.support.types import Float64

# (residuals, sample weights) -> row weights, with mean 1.
Reweighting = Callable[[Float64, Float64 | None], Float64]

# Residuals below this fraction of their median are raised to it.
_FLOOR = 0.05


def reweighting(loss: Loss) -> Reweighting:
    """Return the function that updates the row weights from the residuals in each round."""
    own = getattr(loss, "reweighting", None)
    return partial(row_weights, loss) if own is None else own()


def row_weights(
    loss: Loss, residuals: Float64, weights: Float64 | None, floor: float | None = None
) -> Float64:
    """Return `L'(r) / r` times the sample weights, with mean 1.

    Parameters
    ----------
    loss : Loss
        One that is `Reweightable`.
    residuals : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
        Sample weights.
    floor : float or None
        Smaller residuals are raised to it; None for a twentieth of their median.
    """
    size = np.abs(residuals)
    if floor is None:
        floor = _FLOOR * weighted_median(size, weights)
    size = np.maximum(size, max(floor, 1e-12 * float(size.max()), 1e-300))
    signed = np.where(residuals > 0, size, -size)
    v = np.asarray(loss.row_weights(signed, weights))  # type: ignore[attr-defined]
    if v.shape != size.shape:
        raise ValueError(
            f"`row_weights` of the loss {loss.name!r} must return one weight for each residual, an "
            f"array of shape {size.shape}, got {v.shape}: sample weights are multiplied elsewhere."
        )
    v = v if weights is None else v * weights
    return np.asarray(v / v.mean())
