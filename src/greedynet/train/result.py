"""`TrainingResult`: the trained network and the history of its training."""

from dataclasses import dataclass

from greedynet.model.network import Network
from greedynet.support.types import Float64


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
