"""Losses: what a fit minimises, with the solver and the row weights of each.

May import `support` and `linalg`. Each loss is a small object with `name`, `fit`, `size` and, if
networks can be corrected for it, `row_weights`; see `base`. Code outside does not depend on the
type of a loss, except for the fast path of least squares.
"""

import math
from collections.abc import Callable

from greedynet.losses.base import Fit, Loss, Reweightable
from greedynet.losses.chebyshev import Chebyshev
from greedynet.losses.huber import Huber
from greedynet.losses.pinball import Absolute, Quantile
from greedynet.losses.power import Power, Squared
from greedynet.support.checks import is_number

__all__ = [
    "Absolute",
    "Chebyshev",
    "Fit",
    "Huber",
    "Loss",
    "Power",
    "Quantile",
    "Reweightable",
    "Squared",
    "get_loss",
]

# The losses that have a name; powers are given as numbers.
LOSSES: dict[str, Callable[..., Loss]] = {
    "squared_error": Squared,
    "absolute_error": Absolute,
    "huber": Huber,
    "quantile": Quantile,
    "chebyshev": Chebyshev,
}


def get_loss(loss: object, **arguments: object) -> Loss:
    """Return the loss for the value of a parameter.

    Parameters
    ----------
    loss : str, float or Loss
        "squared_error", "absolute_error", "huber", "quantile", "chebyshev", a power above 1, or a
        loss object.
    **arguments
        Of a loss that is named, such as `quantile=0.9`.
    """
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss](**arguments)
    if is_number(loss) and not isinstance(loss, bool):
        return Power(_power(float(loss)))  # type: ignore[arg-type]
    if isinstance(loss, Loss) and not isinstance(loss, type):
        return loss
    names = ", ".join(f'"{name}"' for name in LOSSES)
    raise ValueError(
        f"`loss` must be one of {names}, a power above 1 such as 1.5, or a loss object such as "
        f'Quantile(0.9), got {loss!r}: write "squared_error" for least squares.'
    )


def is_squared(loss: Loss) -> bool:
    """Whether the loss is that of least squares, by name or as a power."""
    return loss in (Squared(), Power(2.0))


def can_be_corrected(loss: Loss) -> bool:
    """Whether all neurons can be corrected jointly for the loss."""
    return is_squared(loss) or isinstance(loss, Reweightable)


def _power(p: float) -> float:
    if 1 < p < math.inf:
        return p
    advice = {1.0: 'write "absolute_error"', math.inf: 'write "chebyshev"'}.get(
        p, 'write "absolute_error" for the power 1, "squared_error" for least squares'
    )
    raise ValueError(f"`loss` as a power must be a finite number above 1, got {p!r}: {advice}.")
