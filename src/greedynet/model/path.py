"""`SelectionPath`: what was chosen, node by node, and how the errors went."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import ShallowNetwork
from greedynet.model.stop_reason import StopReason
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """The growth of a network; entry `i` of the errors belongs to the width `n_nodes[i]`.

    Attributes
    ----------
    indices : ndarray of shape (n_steps,)
        The chosen atoms, as positions among the sampled (or given) points; -1 where there is no
        dictionary.
    n_nodes : ndarray of shape (n_steps + 1,)
        Widths along the path; the first is the network before any neuron.
    training_errors : ndarray of shape (n_steps + 1,)
        Relative l2 error on the training rows.
    validation_errors : ndarray of shape (n_steps + 1,) or None
        Relative l2 error on the validation rows, the mean over folds with cross-validation.
    scores : ndarray of shape (n_steps + 1,) or None
        What the width was chosen by: validation errors or GCV; None if every node was kept.
    seconds : ndarray of shape (n_steps + 1,)
        Time since the start, at the end of each step.
    best_n_nodes : int
        The width that was kept.
    stop_reason : StopReason
        Why growing ended.
    network : ShallowNetwork
        The network of the full growth; `network.truncate(n)` gives any width of it.
    finished : ShallowNetwork or None
        The network after correction, pruning and averaging; None if the growth was kept as it is.
    finished_error, finished_score : float or None
        Its training error and its score, if there is one like those of the widths.
    """

    indices: NDArray[np.intp]
    n_nodes: NDArray[np.intp]
    training_errors: Float64
    validation_errors: Float64 | None
    scores: Float64 | None
    seconds: Float64
    best_n_nodes: int
    stop_reason: StopReason
    network: ShallowNetwork
    finished: ShallowNetwork | None = None
    finished_error: float | None = None
    finished_score: float | None = None

    @property
    def kept(self) -> ShallowNetwork:
        """The network that was kept: the finished one, or the growth cut at the best width."""
        if self.finished is not None:
            return self.finished
        return self.network.truncate(self.best_n_nodes)

    @property
    def kept_error(self) -> float:
        """Relative l2 error on the training rows of the network that was kept."""
        if self.finished_error is not None:
            return self.finished_error
        return float(self.training_errors[int(self.best_n_nodes - self.n_nodes[0])])

    def with_feature_names(self, names: tuple[str, ...]) -> "SelectionPath":
        """Return the path with names for the features in its networks."""
        finished = self.finished
        if finished is not None:
            finished = replace(finished, feature_names=names)
        return replace(self, network=replace(self.network, feature_names=names), finished=finished)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return (
            f"SelectionPath({len(self)} steps, kept {self.best_n_nodes} nodes, "
            f"training error {self.kept_error:.3g}, stop: {self.stop_reason.name})"
        )
