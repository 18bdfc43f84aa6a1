"""A fitted estimator whose network was trained on after the fit, here or in another library."""

from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from greedynet.model.network import Network
from greedynet.model.uncertainty.expectation import Expectation
from greedynet.support.types import Float64

E = TypeVar("E", bound=Any)

# What held-out rows say of a network, beside its expectation.
_OF_ERRORS = ("ladder_", "intervals_", "sets_")


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained network and the history of its training.

    Attributes
    ----------
    network : Network
        The best network by validation, or the last one, depending on `keep`.
    loss_history : ndarray of shape (n_epochs + 1,)
        Mean squared error on all training rows before the first epoch and after each one.
    validation_history : ndarray of shape (n_epochs + 1,) or None
        The same on the validation rows; None without them.
    best_epoch : int
        Number of epochs after which the validation error, or without validation rows the training
        error, was smallest; 0 is the start.
    seconds : float
        Wall time of the call, compilation included. Networks that were trained together share it.
    interrupted : bool
        Whether Ctrl-C ended the training; the histories then end at that point.
    """

    network: Network
    loss_history: Float64
    validation_history: Float64 | None
    best_epoch: int
    seconds: float
    interrupted: bool = False

    @property
    def n_epochs(self) -> int:
        """Number of epochs that were run."""
        return len(self.loss_history) - 1


def with_trained_network(model: E, network: Network) -> E:
    """Return a copy of a fitted estimator that predicts by another network.

    Parameters, classes, names and the path of the growth stay. What held-out rows said of the
    errors was said of the network before: it is not known of this one.
    """
    check_is_fitted(model)
    trained = copy(model)
    trained.__dict__.pop("training_", None)
    known = [name for name in _OF_ERRORS if hasattr(model, name)]
    unknown: dict[str, Any] = dict.fromkeys(known)
    unknown |= {"expectation_": Expectation(model.expectation_.measure), "alpha_": None}
    for name, value in {"network_": network, **unknown, "trained_on_": True}.items():
        setattr(trained, name, value)
    return trained
