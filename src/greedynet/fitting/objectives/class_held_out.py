"""`HeldOut`: the rows on which candidates of a classifier are compared, and their losses."""

from collections.abc import Sequence

import numpy as np

from greedynet.fitting.objectives.trials import Part
from greedynet.losses.logistic import losses_and_residual
from greedynet.model.bounds import OutputBounds
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.support.types import Float64


class HeldOut:
    """The held-out rows of all folds, and the losses of candidates on them.

    Parameters
    ----------
    parts : sequence of Part
    repeats : float
        How often a row is held out, on average: its losses are not independent.
    bounds : OutputBounds or None
        Within which all logits are taken, as those of the network will be.
    """

    def __init__(
        self, parts: Sequence[Part], repeats: float = 1.0, bounds: OutputBounds | None = None
    ) -> None:
        self._parts, self.Y = parts, np.concatenate([part.held.Y for part in parts])
        weights = [
            np.ones(len(part.held)) if part.held.weights is None else part.held.weights
            for part in parts
        ]
        self._weights = np.concatenate(weights) / np.sum(np.concatenate(weights))
        self._repeats, self._bounds = max(1.0, repeats), bounds

    def unseen(self, logits: Float64, line: Float64 | None = None) -> Unseen:
        """Return the rows with the logits of a candidate, and of a logistic regression."""
        X, n_rows = np.concatenate([part.held.X for part in self._parts]), len(self.Y)
        n_different = max(1, round(n_rows / self._repeats))
        line = None if line is None else self._within(line)
        return Unseen(X, self.Y, self._within(logits), self._weights, n_different, line=line)

    def _within(self, logits: Float64) -> Float64:
        return logits if self._bounds is None else self._bounds.apply(logits)

    def losses(self, logits: Float64) -> Float64:
        """Return the loss of every held-out row."""
        return losses_and_residual(self._within(logits), self.Y)[0]

    def mean(self, losses: Float64) -> float:
        """Return the mean of losses."""
        return float(self._weights @ losses)

    def prudent(self, logits: Float64) -> float:
        """Return the mean loss with half a row more, of another class than its label says.

        Few rows without an error do not show that there are none (Jeffreys' prior of a share).
        """
        losses, logits = self.losses(logits), self._within(logits)
        others = losses_and_residual(logits, (1 - self.Y) / max(1, self.Y.shape[1] - 1))[0]
        n = len(losses) / self._repeats
        return (n * self.mean(losses) + 0.5 * self.mean(others)) / (n + 0.5)

    def excess(self, losses: Float64, others: Float64) -> tuple[float, float]:
        """Return by how much losses exceed others on average, and the standard error of that."""
        return _mean_and_spread(losses - others, self._weights, self._repeats)


def standard_errors_below(unseen: Unseen, others: Unseen) -> float:
    """Return by how many standard errors the losses of rows are below others of the same rows."""
    losses, of_others = (losses_and_residual(u.predictions, u.Y)[0] for u in (unseen, others))
    weights, repeats = unseen.weights / unseen.weights.sum(), len(unseen.Y) / unseen.n_rows
    less, spread = _mean_and_spread(of_others - losses, weights, repeats)
    return less / spread if spread > 0 else 0.0


def _mean_and_spread(values: Float64, weights: Float64, repeats: float) -> tuple[float, float]:
    """Return a weighted mean and its standard error, for rows that are repeated so often."""
    mean = float(weights @ values)
    with np.errstate(over="ignore"):
        return mean, float(np.sqrt(repeats * np.sum((weights * (values - mean)) ** 2)))
