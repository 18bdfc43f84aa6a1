"""Networks of a classifier, corrected and pruned on folds or on all rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from greedynet.correction.log_loss_descent import Weights, descend
from greedynet.fitting.plan import Plan
from greedynet.fitting.settings import LogisticSettings
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Part:
    """A fold: training and held-out rows, scaled, and the network grown on the training rows.

    Attributes
    ----------
    train, held : Rows
    grow : callable
        Returns the network as grown; called once, and only if networks are tried.
    """

    train: Rows
    held: Rows
    grow: Callable[[], Weights]

    @cached_property
    def grown(self) -> Weights:
        """The network as grown on the training rows."""
        return self.grow()


@dataclass(frozen=True, eq=False)
class Trials:
    """Corrects networks, on folds or on all rows.

    Attributes
    ----------
    plan : Plan
    context : FitContext
    """

    plan: Plan
    context: FitContext = field(default_factory=FitContext)

    @property
    def _settings(self) -> LogisticSettings:
        return self.plan.settings.logistic

    def descend(self, rows: Rows, start: Weights, ridge: float, n_steps: int) -> Weights:
        """Correct all weights jointly."""
        return descend(
            rows,
            start,
            ridge,
            n_steps,
            self.plan.activation,
            linear_term=self.plan.linear_term,
            context=self.context,
        )

    def corrected_on(self, rows: Rows, start: Weights, ridge: float) -> Weights:
        """Correct a network on the rows of the final correction."""
        self.context.tell(f"correcting {len(start.W)} neurons")
        return self.descend(rows, start, ridge, self._settings.final_steps)

    def begun_on(self, rows: Rows, start: Weights, ridge: float) -> Weights:
        """Correct a network that will be pruned, with the steps of a fold."""
        self.context.tell(f"correcting {len(start.W)} neurons")
        return self.descend(rows, start, ridge, 2 * self._settings.fold_steps)

    def corrected(
        self, parts: Sequence[Part], starts: Sequence[Weights], ridge: float, n_steps: int
    ) -> list[Weights]:
        """Correct on the training rows of every fold, each from its own start."""
        return [
            self.descend(part.train, start, ridge, n_steps)
            for part, start in zip(parts, starts, strict=True)
        ]

    def without_negligible(self, network: Weights) -> Weights:
        """Remove neurons that are next to nothing."""
        most = max(network.sizes.max(initial=0.0), 1e-12)
        return network.take(np.flatnonzero(network.sizes > self._settings.negligible * most))

    def narrowed_on(
        self, rows: Rows, network: Weights, ridge: float, widths: Sequence[int]
    ) -> Weights:
        """Prune a network to each width in turn, with a correction after each."""
        network = self.without_negligible(network)
        for width in widths:
            network = largest(network, width)
            network = self.descend(rows, network, ridge, self._settings.fold_steps)
        return network


def largest(network: Weights, n_neurons: int) -> Weights:
    """Return the network of the largest neurons, in their order."""
    return network.take(np.sort(np.argsort(-network.sizes, kind="stable")[:n_neurons]))


def ridges_for(rows: Rows, settings: LogisticSettings) -> Float64:
    """Return the ridges to try, with smaller ones if rare classes make the loss small.

    A network can lower the loss by at most the entropy of the classes. If that is less than a bit,
    the ridges start lower by the same factor, in whole steps.
    """
    shares = np.average(rows.Y, axis=0, weights=rows.weights)
    if len(shares) == 1:
        shares = np.append(shares, 1 - shares)
    shares = shares[shares > 0]
    bits = -float(np.sum(shares * np.log2(shares)))
    ridges = np.array(settings.ridges)
    step = ridges[1] / ridges[0]
    n_smaller = int(-np.log(bits) / np.log(step)) if 0 < bits < 1 else 0
    n_smaller = min(n_smaller, settings.most_smaller)
    return np.concatenate([ridges[0] * step ** np.arange(-n_smaller, 0.0), ridges])


def lowest_between(ridges: Float64, losses: Float64) -> tuple[float, int]:
    """Return the ridge with the smallest loss on a smooth curve, and the position of the nearest.

    The parabola through the smallest loss and its neighbours, over the logarithm of the ridge,
    whose minimum is at most half a step away. At either end it is the ridge itself.
    """
    best = int(np.argmin(losses))
    if not 0 < best < len(ridges) - 1:
        return float(ridges[best]), best
    before, at, after = losses[best - 1 : best + 2]
    bend = before - 2.0 * at + after
    if not bend > 0:
        return float(ridges[best]), best
    shift = 0.5 * (before - after) / bend
    step = ridges[best + 1] / ridges[best] if shift > 0 else ridges[best] / ridges[best - 1]
    return float(ridges[best] * step**shift), best
