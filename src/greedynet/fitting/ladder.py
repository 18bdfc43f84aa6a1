"""The ladder: the mean, a line with a ridge, and networks of increasing width, all scored alike.

    folds -> errors of every candidate on rows it has not seen -> choice

Formulas such as generalised cross-validation do not know what the search over directions cost; rows
that were held out do. The candidate with the smallest error wins, and near-ties go to the simpler
one, so that no step makes the result worse than a simpler one by more than the noise of the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import ZERO_RESIDUAL, Limits
from greedynet.fitting.objective import Finished
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.settings import LadderSettings
from greedynet.fitting.staged import Staged, StagedGrowth, stage_widths
from greedynet.model.ladder import LINE, MEAN, NETWORK, Ladder
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.model.stop_reason import StopReason
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

Key = tuple[str, int]
# Why there are no neurons.
_REASONS = {MEAN: StopReason.MEAN, LINE: StopReason.LINE}


def climb(folds: Sequence[Split], plan: Plan, objective: Staged, context: FitContext) -> Ladder:
    """Score all candidates on the held-out rows of folds, and choose.

    Parameters
    ----------
    folds : sequence of pairs of Rows
        Training rows, and rows on which the candidates are scored.
    plan : Plan
    objective : Staged
        Least squares, with an affine term that suits the number of rows.
    context : FitContext
    """
    settings = plan.settings.ladder
    climbers = [
        _Climber(train, held_out, plan, objective, context.branch(f"fold {i}"))
        for i, (train, held_out) in enumerate(folds)
    ]
    table = _Table.of(climbers)
    n_train, d = folds[0][0].X.shape
    least = min(settings.min_width, n_train // (d + 2))
    for width in stage_widths(plan.limits.max_neurons, settings.growth):
        context.tell(f"networks of {width} neurons on {len(folds)} folds")
        table.add((NETWORK, width), [climber.network(width) for climber in climbers])
        if plan.limits.patience is not None and table.stops(settings, least):
            break
    return table.choice(settings)


def overgrown(most: int, plan: Plan) -> int:
    """Return the width from which the widest network is pruned."""
    return ceil(plan.settings.least_squares.overgrowth * most)


class _Climber:
    """The candidates of one fold: their predictions on its held-out rows, in original units."""

    def __init__(
        self, train: Rows, held_out: Rows, plan: Plan, objective: Staged, context: FitContext
    ) -> None:
        self.held_out = held_out
        self.problem = Problem(TrainingData(train), plan_of_stages(plan), objective, None, context)
        self._X = self.problem.coordinates.inputs.apply(held_out.X)
        self._affine = self.problem.coordinates.affine.evaluate(self._X)
        self._growth: StagedGrowth | None = None
        self._last: Float64 | None = None

    def simple(self) -> dict[Key, Float64]:
        """Return the predictions of the mean and of the line; of zero without an affine term."""
        center = self.problem.coordinates.outputs.center
        mean = np.tile(center, (len(self.held_out), 1))
        if not self.problem.plan.linear_term:
            return {(MEAN, 0): mean}
        line = RidgeLine.of(self.problem.rows)
        return {(MEAN, 0): mean, (LINE, 0): self._unscaled(line.predict(self._X))}

    def network(self, width: int) -> Float64:
        """Return the predictions of the network of a width; of a narrower one if it must be."""
        if self._growth is None:
            self._growth = StagedGrowth(self.problem)
        if self._growth.advance(width) or self._last is None:
            state = self._growth.state
            self._last = self._unscaled(state.predict(self._X, self._affine))
        return self._last

    def _unscaled(self, values: Float64) -> Float64:
        outputs = self.problem.coordinates.outputs
        return np.asarray(values * outputs.scale + outputs.center)


def plan_of_stages(plan: Plan) -> Plan:
    """Return the plan of a growth in stages, whose width is given."""
    return replace(plan, limits=Limits(plan.limits.max_neurons), gcv=False)


@dataclass(eq=False)
class _Table:
    """Predictions of all candidates on the held-out rows of all folds."""

    Y: Float64
    weights: Float64
    n_rows: int
    keys: list[Key] = field(default_factory=list)
    predictions: list[Float64] = field(default_factory=list)

    @staticmethod
    def of(climbers: Sequence[_Climber]) -> "_Table":
        """Return the table of the simple candidates."""
        held = [climber.held_out for climber in climbers]
        weights = [np.ones(len(h)) if h.weights is None else h.weights for h in held]
        # Rows may be held out several times, but count once in standard errors.
        n_rows = min(sum(map(len, held)), len(held[0]) + len(climbers[0].problem.rows))
        table = _Table(np.concatenate([h.Y for h in held]), np.concatenate(weights), n_rows)
        simple = [climber.simple() for climber in climbers]
        for key in simple[0]:
            table.add(key, [of_fold[key] for of_fold in simple])
        return table

    def add(self, key: Key, predictions: Sequence[Float64]) -> None:
        """Add a candidate, given its predictions on each fold."""
        self.keys.append(key)
        self.predictions.append(np.concatenate(predictions))

    @property
    def _scale(self) -> Float64:
        """Deviations of the outputs, so that all count equally."""
        center = np.average(self.Y, axis=0, weights=self.weights)
        scale = np.sqrt(np.average((self.Y - center) ** 2, axis=0, weights=self.weights))
        return np.where(scale > 0, scale, 1.0)

    def losses(self, predictions: Float64) -> Float64:
        """Return the squared error of each row, mean over the scaled outputs."""
        return np.asarray(np.mean(((self.Y - predictions) / self._scale) ** 2, axis=1))

    def error(self, predictions: Float64) -> float:
        """Return the root mean squared error, in the units of the outputs."""
        squares = np.mean((self.Y - predictions) ** 2, axis=1)
        return float(np.sqrt(np.average(squares, weights=self.weights)))

    def score(self, predictions: Float64) -> float:
        """Return the mean loss."""
        return float(np.average(self.losses(predictions), weights=self.weights))

    def stops(self, settings: LadderSettings, min_width: int) -> bool:
        """Whether the last networks did not improve clearly on the best candidate before."""
        scores = [self.score(p) for p in self.predictions]
        best = 0
        for i, score in enumerate(scores):
            best = i if score < settings.clearly_better * scores[best] else best
        return len(scores) - 1 - best >= settings.patience and self.keys[-1][1] >= min_width

    @property
    def _lowest(self) -> int:
        return int(np.argmin([self.score(p) for p in self.predictions]))

    def best(self, settings: LadderSettings) -> int:
        """Return the simplest candidate that ties with the best."""
        losses, lowest = [self.losses(p) for p in self.predictions], self._lowest
        for i, (kind, _) in enumerate(self.keys):
            if kind == NETWORK:
                score = self.score(self.predictions[i])
                if score <= self.score(self.predictions[lowest]) / settings.clearly_better:
                    return i
            elif self._ties(losses[i] - losses[lowest], settings.near_tie):
                return i
        return lowest

    def _ties(self, more: Float64, near_tie: float) -> bool:
        """Whether the mean of paired differences is within some standard errors of zero."""
        mean = float(np.average(more, weights=self.weights))
        deviation = np.sqrt(np.average((more - mean) ** 2, weights=self.weights))
        return mean <= near_tie * float(deviation) / np.sqrt(self.n_rows)

    def choice(self, settings: LadderSettings) -> Ladder:
        """Return the candidates and the chosen one."""
        chosen = self.best(settings)
        # Rows that are reproduced do not show that others will be.
        rounding = float(np.finfo(np.float64).eps * np.abs(self.Y).max())
        return Ladder(
            np.array([kind for kind, _ in self.keys]),
            np.array([width for _, width in self.keys]),
            np.array([max(self.error(p), rounding) for p in self.predictions]),
            chosen,
        )


@dataclass(frozen=True)
class Chosen(Staged):
    """Least squares for the candidate that folds have chosen.

    The path shows a plain growth, up to a little more than the chosen width.

    Attributes
    ----------
    ladder : Ladder
    """

    ladder: Ladder = field(kw_only=True)

    def averages(self, problem: Problem) -> bool:
        """Return False: one network was chosen."""
        return False

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return the width of the growth that the path shows."""
        settings = plan.settings.ladder
        return min(n_neurons, max(settings.shown, ceil(settings.growth * self.ladder.width)))

    def growth_limits(self, limits: Limits, plan: Plan) -> Limits:
        """Return the limits without patience: the width has been chosen."""
        return replace(limits, patience=None)

    def is_final(self, growth: Growth, path: SelectionPath) -> bool:
        """Whether the user stopped the growth."""
        return growth.reason is StopReason.CALLBACK

    def correct(self, problem: Problem, growths: Sequence[Growth], path: SelectionPath) -> Finished:
        """Return the chosen candidate on all rows."""
        ladder = self.ladder
        if ladder.kind == NETWORK:
            network = _of_width(ladder, problem)
        else:
            network = _affine(problem, line=ladder.kind == LINE)
        error, reason = _relative_error(network, problem), _REASONS.get(ladder.kind)
        if error <= ZERO_RESIDUAL:
            reason = StopReason.EXACT
        return Finished(network, error, None, ladder.expected_error, reason)


def _of_width(ladder: Ladder, problem: Problem) -> ShallowNetwork:
    plan = problem.plan
    most = plan.limits.max_neurons
    widths = [*stage_widths(most, plan.settings.ladder.growth), overgrown(most, plan)]
    growth = StagedGrowth(problem)
    for width in widths[: widths.index(ladder.width) + 2]:
        problem.context.tell(f"growing and correcting {width} neurons")
        growth.advance(width)
    return growth.network(growth.pruned(ladder.width))


def _affine(problem: Problem, *, line: bool) -> ShallowNetwork:
    """Return the line or the mean as a network without neurons."""
    coordinates, plan = problem.coordinates, problem.plan
    inputs, outputs = coordinates.inputs, coordinates.outputs
    found = RidgeLine.of(problem.rows)
    weights = (
        np.vstack([found.linear, found.intercept])
        if line
        else np.zeros((problem.n_features + 1, len(outputs.center)))
    )
    folded = inputs.fold(weights.T).T * outputs.scale
    return ShallowNetwork(
        inner_weights=np.empty((0, problem.n_features)),
        biases=np.empty(0),
        outer_weights=np.empty((0, len(outputs.center))),
        linear_weights=folded[:-1] if plan.linear_term else None,
        intercept=folded[-1] + outputs.center if plan.linear_term else None,
        activation=plan.activation,
        single_output=plan.single_output,
        input_range=coordinates.input_range,
    )


def _relative_error(network: ShallowNetwork, problem: Problem) -> float:
    """Return the relative error on the training rows, comparable to those of the growth."""
    rows, outputs = problem.sample, problem.coordinates.outputs
    left = (rows.Y - network.predict(rows.X).reshape(rows.Y.shape)) / outputs.scale
    size = float(np.linalg.norm(problem.rows.weighted(problem.rows.Y))) or 1.0
    return float(np.linalg.norm(rows.weighted(left))) / size
