"""`SelectionPath`: what was chosen, node by node, and how the errors went."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.network import ShallowNetwork
from greedynet.stopping import StopReason

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """The growth of a network; entry `i` of the errors belongs to the width `n_nodes[i]`.

    Attributes
    ----------
    indices : ndarray of shape (n_steps,)
        The chosen atoms, as positions among the sampled (or given) points.
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
        The network of the full path; `network.truncate(n)` gives any width.
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

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        at = int(self.best_n_nodes - self.n_nodes[0])
        return (
            f"SelectionPath({len(self)} steps, kept {self.best_n_nodes} nodes, "
            f"training error {self.training_errors[at]:.3g}, stop: {self.stop_reason.name})"
        )
