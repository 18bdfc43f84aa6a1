"""The ladder of another loss: a constant, a line with a ridge, and networks that grow in stages.

As `ladder` for least squares, with candidates for the loss, all scored by the loss itself on rows
that they have not seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from greedynet.fitting.candidates import ROUNDING, Key, Table, max_levelled
from greedynet.fitting.growth import Growth
from greedynet.fitting.ladder import OfLadder
from greedynet.fitting.loss_growth import LossGrowth, staged_problem
from greedynet.fitting.objective import Finished
from greedynet.fitting.objectives.following import residuals_of
from greedynet.fitting.objectives.reweighted import Reweighted
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.staged import Staged, stage_widths
from greedynet.losses import Loss
from greedynet.losses.mean_size import power, row_sizes
from greedynet.model.any_network import with_bounds
from greedynet.model.ladder import LEVELLED, LINE, MEAN, NETWORK, Ladder
from greedynet.model.levelled import levelled
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.phrases import plural
from greedynet.support.types import Float64

# Larger powers of errors are all the same: squares of them are finite.
_WORST_SIZE = 1e150


def climb_for_loss(
    folds: Sequence[Split], plan: Plan, shrunk: bool, context: FitContext
) -> tuple[Ladder, Unseen]:
    """Score all candidates on the held-out rows of folds by the loss of the plan, and choose.

    Also returns the predictions of the chosen one on these rows.

    Parameters
    ----------
    folds : sequence of pairs of Rows
        Training rows, and rows on which the candidates are scored.
    plan : Plan
    shrunk : bool
        Whether the affine term of networks is the constant and the line.
    context : FitContext
    """
    settings, alone = plan.settings.ladder, context.single_threaded()
    climbers = [
        _Climber(train, held_out, plan, shrunk, alone.branch(f"fold {i}"))
        for i, (train, held_out) in enumerate(folds)
    ]
    most_levelled = max(climber.max_levelled for climber in climbers)
    table = LossTable.of_folds(folds, plan)
    table.add([climber.simple() for climber in climbers])
    n_train, d = folds[0][0].n_independent, folds[0][0].n_features
    widths = stage_widths(plan.limits.max_neurons, settings.growth)
    for width in context.clock.paced(widths, settings.growth**2):
        context.tell(f"networks of {plural(width, 'neuron')} on {counted(len(folds))}")
        found = partial(_networks, width, levels=width <= most_levelled)
        # Threads gain only where most of the time is spent in large products.
        pool = context.pool if width * (d + 1) >= settings.parallel_from else alone.pool
        table.add(pool.map(found, climbers))
        if plan.limits.patience is not None and table.stops(settings, n_train / (d + 2)):
            break
    chosen = table.best(settings)
    kinds, n_neurons = zip(*table.keys, strict=True)
    errors, score = table.errors, table.scores[chosen]
    unseen = Unseen.of_folds(folds, table.predictions[chosen])
    return Ladder(np.array(kinds), np.array(n_neurons), errors, chosen, score=score), unseen


class _Climber:
    """The candidates of one fold: their predictions on its held-out rows."""

    def __init__(
        self, train: Rows, held_out: Rows, plan: Plan, shrunk: bool, context: FitContext
    ) -> None:
        self._held_out, self._train = held_out, train
        problem = staged_problem(train, plan, shrunk, context)
        self.max_levelled = max_levelled(problem.rows, plan)
        self._growth = LossGrowth(problem, plan.loss)
        self._network: ShallowNetwork | None = None

    def simple(self) -> dict[Key, Float64]:
        """Return the predictions of the constant and of the line; of zero without them."""
        found = {(MEAN, 0): self._predicted(self._growth.affine(line=False))}
        if self._growth.line is not None:
            found[LINE, 0] = self._predicted(self._growth.affine(line=True))
        return found

    def networks(self, width: int, *, levels: bool) -> dict[Key, Float64]:
        """Return the predictions of the network of a width; of a narrower one if it must be."""
        growth = self._growth
        if growth.advance(width):
            self._network = growth.network()
        network = self._network or growth.affine(line=True)
        found = {(NETWORK, width): self._predicted(network)}
        if levels:
            found[LEVELLED, width] = self._predicted(levelled(network, self._train.X))
        return found

    def _predicted(self, network: ShallowNetwork) -> Float64:
        return network.predict(self._held_out.X).reshape(self._held_out.Y.shape)


def _networks(width: int, climber: _Climber, *, levels: bool) -> dict[Key, Float64]:
    return climber.networks(width, levels=levels)


@dataclass(eq=False)
class LossTable(Table):
    """Predictions of all candidates, scored by a loss.

    Attributes
    ----------
    loss : Loss
    """

    loss: Loss = field(kw_only=True)

    @staticmethod
    def of_folds(folds: Sequence[Split], plan: Plan) -> "LossTable":
        """Return the table of folds, without candidates."""
        held = [held_out for _, held_out in folds]
        weights = [np.ones(len(h)) if h.weights is None else h.weights for h in held]
        # Rows may be held out several times, but count once in standard errors.
        n_rows = min(sum(map(len, held)), len(folds[0][0]) + len(held[0]))
        Y = np.concatenate([h.Y for h in held])
        of_rows = (Y, np.concatenate(weights), n_rows)
        return LossTable(*of_rows, plan.limits.tol, plan.bounds, loss=plan.loss)

    @cached_property
    def _power(self) -> float:
        return power(self.loss)

    def losses(self, predictions: Float64) -> Float64:
        """Return what each row contributes to the `p`-th power of the size."""
        return self._sizes(self.scaled_errors(predictions))

    def _sizes(self, residuals: Float64) -> Float64:
        """Return `row_sizes`, the worst of which are all the same."""
        with np.errstate(over="ignore"):
            return np.fmin(row_sizes(self.loss, residuals), _WORST_SIZE)

    def score(self, predictions: Float64) -> float:
        """Return the squared mean size, so that factors mean the same for all losses."""
        mean = float(np.average(self.losses(predictions), weights=self.weights))
        return max(mean ** (2 / self._power), ROUNDING, min(self.tol, 1.0) ** 2)

    @property
    def errors(self) -> Float64:
        """Mean sizes in the units of the outputs; at least rounding."""
        unit = float(self._unit.max())
        sizes = [self._sizes(self.Y / unit - p / unit) for p in self.predictions]
        means = np.array([np.average(of_rows, weights=self.weights) for of_rows in sizes])
        return np.maximum(means ** (1 / self._power), np.finfo(np.float64).eps) * unit


@dataclass(frozen=True)
class ChosenForLoss(OfLadder, Reweighted):
    """Another loss, for the candidate that folds have chosen.

    Attributes
    ----------
    shrunk : bool
        Whether the affine term of the network is the constant and the line.
    ladder : Ladder
    """

    shrunk: bool
    ladder: Ladder
    unseen: Unseen | None = None

    @staticmethod
    def by(folds: Sequence[Split], rows: Rows, plan: Plan, context: FitContext) -> "ChosenForLoss":
        """Return the objective of the candidate that folds choose for rows."""
        shrunk = Staged.of(rows, plan).shrunk
        ladder, unseen = climb_for_loss(folds, plan, shrunk, context)
        return ChosenForLoss(plan.loss, shrunk, ladder, unseen)

    def correct(self, problem: Problem, growths: Sequence[Growth], path: ShallowPath) -> Finished:
        """Return the chosen candidate on all rows."""
        ladder, rows, loss = self.ladder, problem.sample, self.loss
        plan = replace(problem.plan, loss=loss)
        of_stages = staged_problem(rows, plan, self.shrunk, problem.context.branch("stages"))
        growth = LossGrowth(of_stages, loss)
        network = growth.affine(line=ladder.kind != MEAN)
        for width in stage_widths(plan.limits.max_neurons, plan.settings.ladder.growth):
            if width > ladder.width:
                break
            problem.context.tell(f"growing and correcting {width} neurons")
            if growth.advance(width):
                network = growth.network()
        if ladder.is_levelled:
            network = levelled(network, rows.X)
        network = with_bounds(network, plan.bounds)
        size = loss.size(rows.Y - problem.coordinates.outputs.center, rows.weights) or 1.0
        error = loss.size(residuals_of(network, rows), rows.weights) / size
        return replace(self.finished(network, error, problem, loss), score=None)
