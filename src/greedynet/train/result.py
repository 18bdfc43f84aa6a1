"""`TrainingResult`: the trained network and the history of its training."""

from dataclasses import dataclass, fields, replace
from typing import Generic

from greedynet.model.any_network import N
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class TrainingResult(Generic[N]):
    """A trained network and the history of its training.

    Attributes
    ----------
    network : ShallowNetwork or DeepNetwork
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

    network: N
    loss_history: Float64
    validation_history: Float64 | None
    best_epoch: int
    seconds: float
    interrupted: bool = False

    @property
    def n_epochs(self) -> int:
        """Number of epochs that were run."""
        return len(self.loss_history) - 1

    def over(self: "ShallowResult", start: DeepNetwork) -> "DeepResult":
        """Return the result of training the second layer of a network, as one of both layers."""
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        return TrainingResult(**{**same, "network": replace(start, over=self.network)})


ShallowResult = TrainingResult[ShallowNetwork]
DeepResult = TrainingResult[DeepNetwork]
