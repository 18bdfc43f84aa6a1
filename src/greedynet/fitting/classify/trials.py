"""Ridge and width of a classifying network, by networks corrected on folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from greedynet.correction.log_loss_descent import Weights, descend
from greedynet.fitting.plan import Plan
from greedynet.losses.logistic import log_loss
from greedynet.rows.rows import Rows, class_numbers
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.progress import tell
from greedynet.support.types import Float64

N_FOLDS = 5
# Folds are gone through until so many rows have been held out, and so many that are not of the
# largest class: more say little more.
ENOUGH_HELD_OUT, ENOUGH_OF_OTHERS = 600, 200
MAX_REPEATS = 2
RIDGES = tuple(np.geomspace(1e-4, 3e-2, 6))
# So many smaller ones are tried at most, where classes are very rare.
_MOST_SMALLER = 6
FOLD_STEPS = 60
_NEGLIGIBLE = 1e-3
_PRUNED_TO = 2 / 3
# A narrower network is taken if its log-loss is at most this much of the best.
_AS_GOOD = 1.003


@dataclass(frozen=True, eq=False)
class Trials:
    """Networks corrected on folds and judged on what the folds leave out.

    Attributes
    ----------
    folds : sequence of pairs of Rows
        Training and held-out rows, scaled.
    plan : Plan
    journal : Journal
        What descents came to in an earlier run.
    """

    folds: Sequence[tuple[Rows, Rows]]
    plan: Plan
    journal: Journal = NO_JOURNAL

    def descend(self, rows: Rows, start: Weights, ridge: float, n_steps: int) -> Weights:
        """Correct all weights together."""
        return descend(
            rows,
            start,
            ridge,
            n_steps,
            self.plan.activation,
            linear_term=self.plan.linear_term,
            journal=self.journal,
        )

    def corrected(self, starts: Sequence[Weights], ridge: float, n_steps: int) -> list[Weights]:
        """Correct on every fold, from a start for each."""
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
        return self.score(self.corrected([network] * len(self.folds), ridge, FOLD_STEPS))

    def best_ridge(self, start: Weights) -> float:
        """Return the ridge with the smallest held-out log-loss.

        From the smallest up, each started where the last one ended; then the lowest point of the
        parabola through the best value and its neighbours, over the logarithm.
        """
        networks, scores = [start] * len(self.folds), []
        ridges = ridges_for(self.folds[0][0])
        for i, ridge in enumerate(ridges):
            tell(f"choosing the ridge: {ridge:.1e} on {len(self.folds)} folds")
            networks = self.corrected(networks, ridge, FOLD_STEPS * (2 if i == 0 else 1))
            scores.append(self.score(networks))
            if i - int(np.argmin(scores)) >= 2:
                break
        return _lowest(np.log(ridges[: len(scores)]), np.array(scores))

    def narrowed(self, network: Weights, ridge: float) -> Weights:
        """Return the narrowest network that the folds find as good as any.

        The smallest neurons are left out, a third at a time.
        """
        network = network.take(np.flatnonzero(_counts(network)))
        best = self.held_out_loss(network, ridge)
        chosen = network
        while len(network.W):
            n = int(len(network.W) * _PRUNED_TO)
            tell(f"pruning: {n} neurons on {len(self.folds)} folds")
            network = network.take(np.sort(np.argsort(-network.sizes, kind="stable")[:n]))
            score = self.held_out_loss(network, ridge)
            if score > _AS_GOOD * best:
                break
            best, chosen = min(best, score), network
        return chosen


def _counts(network: Weights) -> NDArray[np.bool_]:
    """Whether neurons are more than next to nothing beside the largest."""
    return np.asarray(network.sizes > _NEGLIGIBLE * max(network.sizes.max(initial=0.0), 1e-12))


def ridges_for(rows: Rows) -> Float64:
    """Return the ridges to try: smaller ones too where a class is so rare that losses are small.

    What a network can gain is the entropy of the classes. Where that is less than a bit, the ridges
    begin by as much lower, in whole steps.
    """
    shares = np.average(rows.Y, axis=0, weights=rows.weights)
    if len(shares) == 1:
        shares = np.append(shares, 1 - shares)
    shares = shares[shares > 0]
    bits = -float(np.sum(shares * np.log2(shares)))
    step = RIDGES[1] / RIDGES[0]
    n_smaller = int(-np.log(bits) / np.log(step)) if 0 < bits < 1 else 0
    n_smaller = min(n_smaller, _MOST_SMALLER)
    return np.concatenate([RIDGES[0] * step ** np.arange(-n_smaller, 0.0), RIDGES])


def _lowest(x: Float64, y: Float64) -> float:
    """The exponential of the lowest point of the parabola through the smallest of values."""
    i = int(np.argmin(y))
    if 0 < i < len(y) - 1:
        a, b, _ = np.polyfit(x[i - 1 : i + 2] - x[i], y[i - 1 : i + 2], 2)
        if a > 0:
            return float(np.exp(x[i] - b / (2 * a)))
    return float(np.exp(x[i]))


def n_of_others(rows: Rows) -> int:
    """Return how many rows are not of the largest class, which tell about classes; 1 at least."""
    return max(1, len(rows) - int(np.unique(class_numbers(rows.Y), return_counts=True)[1].max()))


def stratified_folds(rows: Rows, seed: int) -> list[tuple[Rows, Rows]]:
    """Stratified folds, until enough rows have been held out."""
    labels = class_numbers(rows.Y)
    _, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    # A class of one row cannot be held out and be trained on: it is always trained on.
    single, many = (np.flatnonzero(rare) for rare in (counts[which] == 1, counts[which] > 1))
    if not len(many):
        return [(rows, rows)]
    n_folds = max(2, min(N_FOLDS, int(counts[counts > 1].min())))
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=MAX_REPEATS, random_state=seed)
    enough = max(ENOUGH_HELD_OUT / len(many), ENOUGH_OF_OTHERS / n_of_others(rows))
    splits = islice(splitter.split(many, labels[many]), int(np.ceil(enough * n_folds)))
    return [
        (rows.take(np.sort(np.r_[single, many[train]])), rows.take(many[held]))
        for train, held in splits
    ]
