"""Networks of a classifier, corrected and pruned on folds or on all rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from greedynet.correction.log_loss_descent import PenalisedLogLoss, PreparedRows, Weights, descend
from greedynet.correction.shaped_log_loss import descend_in_shape
from greedynet.fitting.plan import Plan
from greedynet.fitting.settings import LogisticSettings
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.shape import Shape
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Part:
    """A fold: training and held-out rows, scaled, and the network grown on the training rows.

    Attributes
    ----------
    train, held : Rows
    grow : callable
        Returns the network as grown; called once, and only if networks are tried.
    inputs : InputScaling or None
        By which the rows are scaled; None if as all rows.
    context : FitContext
        Of all that is computed on this fold. Folds whose context has no threads are computed in
        parallel.
    shape : Shape or None
        Along the scaled columns of the fold.
    """

    train: Rows
    held: Rows
    grow: Callable[[], Weights]
    inputs: InputScaling | None = None
    context: FitContext = field(default_factory=FitContext)
    shape: Shape | None = None

    def carried(self, network: Weights, to: InputScaling) -> Weights:
        """Return a network of this fold for inputs that are scaled by another map."""
        return network if self.inputs is None else network.carried(self.inputs, to)

    @cached_property
    def prepared(self) -> PreparedRows:
        """The training rows as descents read them."""
        return PreparedRows.of(self.train, single=True)


@dataclass(frozen=True, eq=False)
class Trials:
    """Corrects networks, on folds or on all rows.

    Attributes
    ----------
    plan : Plan
    context : FitContext
    shape : Shape or None
        Along the scaled columns of all rows.
    """

    plan: Plan
    context: FitContext = field(default_factory=FitContext)
    shape: Shape | None = None

    @property
    def _settings(self) -> LogisticSettings:
        return self.plan.settings.logistic

    def descend(
        self,
        rows: Rows | PreparedRows,
        start: Weights,
        ridge: float,
        n_steps: int,
        enough: float = 0.0,
    ) -> Weights:
        """Correct all weights jointly, in single precision."""
        rows = PreparedRows.of(rows, single=True)
        if self.shape is not None:
            return descend_in_shape(
                rows,
                start,
                ridge,
                n_steps,
                self.plan.activation,
                self.shape,
                enough=enough,
                context=self.context,
            )
        return descend(
            rows,
            start,
            ridge,
            n_steps,
            self.plan.activation,
            linear_term=self.plan.linear_term,
            enough=enough,
            context=self.context,
        )

    def corrected_on(self, rows: Rows, start: Weights, ridge: float, n_steps: int) -> Weights:
        """Correct a network on the rows of the final correction."""
        self.context.tell(f"correcting {len(start.W)} neurons")
        return self.descend(rows, start, ridge, n_steps, self._settings.final_enough)

    def best_start(self, rows: Rows, starts: Sequence[Weights], ridge: float) -> Weights:
        """Return the network with the smallest penalised log-loss on rows."""
        plan, prepared = self.plan, PreparedRows.of(rows, single=True)

        def value(start: Weights) -> float:
            at = PenalisedLogLoss(
                prepared, start, ridge, plan.activation, linear_term=plan.linear_term
            )
            return at.evaluate(start.flat())[0]

        return min(starts, key=value)

    def corrected(
        self, parts: Sequence[Part], starts: Sequence[Weights], ridge: float, n_steps: int
    ) -> list[Weights]:
        """Correct on the training rows of every fold, each from its own start."""

        def correct(pair: tuple[Part, Weights]) -> Weights:
            part, start = pair
            trials = replace(self, context=part.context, shape=part.shape)
            return trials.descend(part.prepared, start, ridge, n_steps, self._settings.fold_enough)

        return self._map(correct, list(zip(parts, starts, strict=True)), parts)

    def grown(self, parts: Sequence[Part]) -> list[Weights]:
        """Return the networks as grown on every fold."""
        return self._map(lambda part: part.grow(), parts, parts)

    def _map(
        self, function: Callable[[S], Weights], items: Sequence[S], parts: Sequence[Part]
    ) -> list[Weights]:
        """Apply a function for every fold, in parallel if folds are large and have no threads."""
        is_alone = all(part.context.pool.n_threads == 1 for part in parts)
        size = min(part.train.X.size for part in parts)
        if len(parts) == 1 or not is_alone or size < self._settings.parallel_from:
            return [function(item) for item in items]
        return self.context.pool.map(function, items)

    def without_negligible(self, network: Weights) -> Weights:
        """Remove neurons that are next to nothing."""
        most = max(network.sizes.max(initial=0.0), 1e-12)
        return network.take(np.flatnonzero(network.sizes > self._settings.negligible * most))


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


def stage_ridge_for(rows: Rows, settings: LogisticSettings) -> float:
    """Return the ridge with which networks grow, smaller by the same factor for rare classes.

    With a ridge for a loss of a bit, neurons that lower a small loss would vanish as they grow.
    """
    return settings.stage_ridge * float(ridges_for(rows, settings)[0]) / settings.ridges[0]


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
