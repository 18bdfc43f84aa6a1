"""`SelectionPath`: the neurons chosen step by step, and the errors along the way."""

from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from greedynet.model.any_network import N
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.ladder import Ladder
from greedynet.model.network import ShallowNetwork
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Evidence, Unseen
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class SelectionPath(Generic[N]):
    """The growth of a network; entry `i` of the errors belongs to the width `n_nodes[i]`.

    Attributes
    ----------
    indices : ndarray of shape (n_steps,)
        The chosen atoms, as positions among the sampled (or given) points; -1 without a dictionary.
    n_nodes : ndarray of shape (n_steps + 1,)
        Widths along the path, in nodes: neurons plus two for an affine term. The first entry is the
        network without neurons.
    training_errors : ndarray of shape (n_steps + 1,)
        Relative l2 error on the training rows.
    validation_errors : ndarray of shape (n_steps + 1,) or None
        Relative l2 error on the validation rows, or its mean over folds for cross-validation.
    scores : ndarray of shape (n_steps + 1,) or None
        Scores by which the width was chosen, such as GCV; None if every node was kept.
    seconds : ndarray of shape (n_steps + 1,)
        Time from the start to the end of each step.
    best_n_nodes : int
        The width that was kept.
    stop_reason : StopReason
        Why the growth ended.
    network : ShallowNetwork or DeepNetwork
        The network of the full growth; `network.truncate(n)` returns any width of it.
    finished : ShallowNetwork, DeepNetwork or None
        The network after correction, pruning and averaging; None if it was kept as grown.
    finished_error, finished_score : float or None
        Its training error, and its score if comparable to those of the widths.
    expected_error : float or None
        Expected error on new rows of the network that was kept: the root mean squared error in the
        units of the output, or the value of another loss; None if nothing can be said.
    evidence : Evidence or None
        What the fit has seen and held out; estimators make intervals of it and do not keep it.
    """

    indices: NDArray[np.intp]
    n_nodes: NDArray[np.intp]
    training_errors: Float64
    validation_errors: Float64 | None
    scores: Float64 | None
    seconds: Float64
    best_n_nodes: int
    stop_reason: StopReason
    network: N
    finished: N | None = None
    finished_error: float | None = None
    finished_score: float | None = None
    expected_error: float | None = None
    evidence: Evidence | None = field(default=None, repr=False)

    @property
    def kept(self) -> N:
        """The network that was kept: the finished one, or the best width of the growth."""
        if self.finished is not None:
            return self.finished
        return self.network.truncate(self.best_n_nodes)

    @property
    def kept_error(self) -> float:
        """Relative l2 error on the training rows of the network that was kept."""
        if self.finished_error is not None:
            return self.finished_error
        return float(self.training_errors[int(self.best_n_nodes - self.n_nodes[0])])

    def with_unseen(
        self, unseen: Unseen | None, ladder: Ladder | None = None
    ) -> "SelectionPath[N]":
        """Return the path with the predictions of held-out rows, and candidates compared there."""
        assert self.evidence is not None
        return replace(self, evidence=replace(self.evidence, unseen=unseen, ladder=ladder))

    def truncated(self, n_nodes: int) -> "SelectionPath[N]":
        """Return the path that ends at a width, which was requested and of which no score is known.

        Parameters
        ----------
        n_nodes : int
            As in `ShallowNetwork.truncate`.
        """
        network = self.network.truncate(n_nodes)
        n = int(n_nodes - self.n_nodes[0])
        return SelectionPath(
            self.indices[:n],
            self.n_nodes[: n + 1],
            self.training_errors[: n + 1],
            None,
            None,
            self.seconds[: n + 1],
            int(n_nodes),
            StopReason.N_NODES,
            network,
        )

    def with_feature_names(self, names: tuple[str, ...]) -> "SelectionPath[N]":
        """Return the path with feature names in its networks."""
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


# A construction has a path of the first kind; with a first layer, one of the second is made of it.
ShallowPath = SelectionPath[ShallowNetwork]
DeepPath = SelectionPath[DeepNetwork]
