"""Losses: what a fit minimises, with the solver and the row weights of each.

May import `support` and `linalg`. Each loss is a small object with `name`, `fit`, `size` and, if
networks can be corrected for it, `row_weights`; see `base`. Code outside does not depend on the
type of a loss, except for the fast path of least squares.
"""

from collections.abc import Callable

from greedynet.losses.base import Fit, Loss, Reweightable
from greedynet.losses.huber import Huber
from greedynet.losses.pinball import Absolute, Quantile
from greedynet.losses.squared import Squared

__all__ = [
    "Absolute",
    "Fit",
    "Huber",
    "Loss",
    "Quantile",
    "Reweightable",
    "Squared",
    "get_loss",
]

# The losses that have a name.
LOSSES: dict[str, Callable[..., Loss]] = {
    "squared_error": Squared,
    "absolute_error": Absolute,
    "huber": Huber,
    "quantile": Quantile,
}


def get_loss(loss: object, **arguments: object) -> Loss:
    """Return the loss for the value of a parameter.

    Parameters
    ----------
    loss : str or Loss
        "squared_error", "absolute_error", "huber", "quantile", or a loss object.
    **arguments
        Of a loss that is named, such as `quantile=0.9`.
    """
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss](**arguments)
    if isinstance(loss, Loss) and not isinstance(loss, type):
        return loss
    names = ", ".join(f'"{name}"' for name in LOSSES)
    raise ValueError(
        f"`loss` must be one of {names}, or a loss object such as Quantile(0.9), got {loss!r}: "
        'write "squared_error" for least squares.'
    )


def is_squared(loss: Loss) -> bool:
    """Whether the loss is that of least squares."""
    return loss == Squared()


def can_be_corrected(loss: Loss) -> bool:
    """Whether all neurons can be corrected jointly for the loss."""
    return is_squared(loss) or isinstance(loss, Reweightable)
