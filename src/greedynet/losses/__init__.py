"""Losses: what a fit makes small, and the solver of each.

Each is one small object with a name, `fit` and `size`; see `base.Loss`. The rest of the library
asks a loss for nothing else.
"""

import math
from collections.abc import Callable

from greedynet.losses.base import Fit, Loss
from greedynet.losses.chebyshev import Chebyshev
from greedynet.losses.huber import Huber
from greedynet.losses.pinball import Absolute, Quantile
from greedynet.losses.power import Power
from greedynet.losses.squared import Squared
from greedynet.support.checks import is_number

__all__ = [
    "Absolute",
    "Chebyshev",
    "Fit",
    "Huber",
    "Loss",
    "Power",
    "Quantile",
    "Squared",
    "get_loss",
]

_NAMED: dict[str, Callable[[], Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "quantile": Quantile,
    "chebyshev": Chebyshev,
}


def get_loss(loss: object, quantile: object = None) -> Loss:
    """Return the loss that a user's value means.

    Parameters
    ----------
    loss : str, float or Loss
        "squared", "absolute", "huber", "quantile", "chebyshev", a power above 1, or a loss.
    quantile : float or None
        For "quantile" only: the share of rows below the fit, 0.5 for None.
    """
    if quantile is not None and not (isinstance(loss, str) and loss == "quantile"):
        raise ValueError(
            f'`quantile` goes with `loss="quantile"` only, got quantile={quantile!r} with '
            f'loss={loss!r}: write quantile=None, or loss="quantile".'
        )
    if isinstance(loss, str):
        if loss == "quantile":
            return Quantile(_quantile(quantile))
        if loss in _NAMED:
            return _NAMED[loss]()
    elif is_number(loss) and not isinstance(loss, bool):
        return Power(_power(float(loss)))  # type: ignore[arg-type]
    elif isinstance(loss, Loss) and not isinstance(loss, type):
        return loss
    names = ", ".join(f'"{name}"' for name in _NAMED)
    raise ValueError(
        f"`loss` must be one of {names}, a power above 1 such as 1.5, or a loss object, got "
        f'{loss!r}: write "squared" for least squares.'
    )


def _power(p: float) -> float:
    if 1 < p < math.inf:
        return p
    advice = {1.0: 'write "absolute"', math.inf: 'write "chebyshev"'}.get(
        p, 'write "absolute" for the least power, "squared" for least squares'
    )
    raise ValueError(f"`loss` as a power must be a finite number above 1, got {p!r}: {advice}.")


def _quantile(quantile: object) -> float:
    if quantile is None:
        return 0.5
    if not is_number(quantile) or isinstance(quantile, bool):
        raise TypeError(
            f"`quantile` must be a number between 0 and 1, got {quantile!r}: write 0.5 for the "
            "median."
        )
    value = float(quantile)  # type: ignore[arg-type]
    if not 0 < value < 1:
        raise ValueError(
            f"`quantile` must lie between 0 and 1, both excluded, got {quantile!r}: write 0.5 for "
            "the median, or 0.9 for a bound that nine rows in ten stay below."
        )
    return value
