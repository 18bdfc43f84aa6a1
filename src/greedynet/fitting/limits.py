"""`Limits`: when the growth ends."""

from dataclasses import dataclass

import numpy as np

from greedynet.model.stop_reason import StopReason

# Below this the residual is rounding, irrespective of the tolerance.
ZERO_RESIDUAL = 1e-13


@dataclass(frozen=True)
class Limits:
    """When the greedy loop ends.

    Attributes
    ----------
    max_neurons : int
        Maximum number of neurons.
    tol : float
        Relative residual at which the growth ends.
    patience : int or None
        Number of neurons without a better score after which the growth ends; None for never.
    exact : bool
        Whether `max_neurons` is the requested number rather than a limit.
    """

    max_neurons: int
    tol: float = 0.0
    patience: int | None = None
    exact: bool = False

    def reached(self, errors: list[float], scores: list[float]) -> StopReason | None:
        """Return the reason to stop after the widths so far; None to continue."""
        if errors[-1] <= ZERO_RESIDUAL:
            return StopReason.EXACT
        if errors[-1] <= self.tol:
            return StopReason.TOLERANCE
        if len(errors) > self.max_neurons:
            return StopReason.N_NODES if self.exact else StopReason.MAX_NODES
        if scores and self.patience is not None:
            since_best = len(scores) - 1 - best_width(scores)
            if since_best >= self.patience:
                return StopReason.VALIDATED
        return None

    def kept(self, n_neurons: int) -> StopReason:
        """Return the reason for a finished network with `n_neurons` neurons."""
        full = n_neurons >= self.max_neurons
        if self.exact:
            return StopReason.N_NODES if full else StopReason.EXHAUSTED
        return StopReason.MAX_NODES if full else StopReason.VALIDATED


def best_width(scores: list[float]) -> int:
    """Return the position of the smallest score, with the fewest neurons in case of ties."""
    return int(np.argmin(scores))
