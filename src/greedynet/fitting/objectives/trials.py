"""Choice of ridge and width of a classifier, by networks corrected on folds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from greedynet.correction.log_loss_descent import Weights, descend
from greedynet.fitting.plan import Plan
from greedynet.fitting.pruning import prune
from greedynet.fitting.settings import LogisticSettings
from greedynet.losses.logistic import log_loss
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Trials:
    """Networks corrected on folds and scored on the held-out rows.

    Attributes
    ----------
    folds : sequence of pairs of Rows
        Training and held-out rows, scaled.
    plan : Plan
    context : FitContext
    """

    folds: Sequence[tuple[Rows, Rows]]
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

    def corrected(self, starts: Sequence[Weights], ridge: float, n_steps: int) -> list[Weights]:
        """Correct on every fold, each from its own start."""
        return [
            self.descend(train, start, ridge, n_steps)
            for (train, _), start in zip(self.folds, starts, strict=True)
        ]

    def score(self, networks: Sequence[Weights]) -> float:
        """Mean log-loss of the held-out rows."""
        total = rows = 0.0
        for (_, held), network in zip(self.folds, networks, strict=True):
            weight = float(len(held) if held.weights is None else held.weights.sum())
            logits = network.logits(held.X, self.plan.activation)
            total += weight * log_loss(logits, held.Y, held.weights)
            rows += weight
        return total / rows

    def held_out_loss(self, network: Weights, ridge: float) -> float:
        """Correct a network on every fold, and return the log-loss of the held-out rows."""
        return self.score(
            self.corrected([network] * len(self.folds), ridge, self._settings.fold_steps)
        )

    def best_ridge(self, start: Weights) -> float:
        """Return the ridge with the smallest held-out log-loss.

        Ridges are tried in ascending order, each starting from the previous solution; the result is
        the minimum of the parabola through the best value and its neighbours, in the logarithm.
        """
        networks, scores = [start] * len(self.folds), []
        ridges = ridges_for(self.folds[0][0], self._settings)
        for i, ridge in enumerate(ridges):
            self.context.tell(f"choosing the ridge: {ridge:.1e} on {len(self.folds)} folds")
            networks = self.corrected(
                networks, ridge, self._settings.fold_steps * (2 if i == 0 else 1)
            )
            scores.append(self.score(networks))
            if i - int(np.argmin(scores)) >= 2:
                break
        return _lowest(np.log(ridges[: len(scores)]), np.array(scores))

    def narrowed(self, network: Weights, ridge: float) -> Weights:
        """Remove the smallest neurons as long as the network is as good on the folds."""
        largest = max(network.sizes.max(initial=0.0), 1e-12)
        network = network.take(np.flatnonzero(network.sizes > self._settings.negligible * largest))
        return prune(
            network,
            self._without_smallest,
            lambda network: self.held_out_loss(network, ridge),
            self._settings.pruning,
        )

    def _without_smallest(self, network: Weights, n_neurons: int) -> Weights:
        self.context.tell(f"pruning: {n_neurons} neurons on {len(self.folds)} folds")
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


def _lowest(x: Float64, y: Float64) -> float:
    """Return the exponential of the minimum of the parabola through the smallest values."""
    i = int(np.argmin(y))
    if 0 < i < len(y) - 1:
        a, b, _ = np.polyfit(x[i - 1 : i + 2] - x[i], y[i - 1 : i + 2], 2)
        if a > 0:
            return float(np.exp(x[i] - b / (2 * a)))
    return float(np.exp(x[i]))
