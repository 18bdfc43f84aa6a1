"""`Limits`: when a growth ends."""

from dataclasses import dataclass

import numpy as np

from greedynet.model.stop_reason import StopReason

# Below this the residual is rounding, whatever the tolerance.
ZERO_RESIDUAL = 1e-13


@dataclass(frozen=True)
class Limits:
    """When the loop ends.

    Attributes
    ----------
    max_neurons : int
        Neurons at most.
    tol : float
        Relative residual that is good enough.
    patience : int or None
        End after so many neurons without a better score; None for never.
    exact : bool
        Whether `max_neurons` is the number asked for rather than a limit.
    """

    max_neurons: int
    tol: float = 0.0
    patience: int | None = None
    exact: bool = False

    def reached(self, errors: list[float], scores: list[float]) -> StopReason | None:
        """Return the reason to stop after the widths seen so far; None to go on."""
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
        """Return the reason for a finished network that kept so many neurons."""
        full = n_neurons >= self.max_neurons
        if self.exact:
            return StopReason.N_NODES if full else StopReason.EXHAUSTED
        return StopReason.MAX_NODES if full else StopReason.VALIDATED


def best_width(scores: list[float]) -> int:
    """Position of the smallest score, the first of equals: the fewest neurons."""
    return int(np.argmin(scores))
