"""The candidates of one fold, and the table of their errors over all folds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import ReLU
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.limits import Limits
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.settings import LadderSettings
from greedynet.fitting.staged import Staged, StagedGrowth
from greedynet.model.bounds import OutputBounds
from greedynet.model.ladder import AVERAGES, LEVELLED, LINE, MEAN, NETWORK, Ladder
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Mean squared error, relative to the variance, below which rows are reproduced.
ROUNDING = 1e-18
# Scaled outputs beyond it are all the same: fourth powers of them are finite.
_WORST = 1e60
# What a candidate is, and its number of neurons.
Key = tuple[str, int]


def plan_of_stages(plan: Plan) -> Plan:
    """Return the plan of a growth in stages, whose width is given."""
    return replace(plan, limits=Limits(plan.limits.max_neurons), gcv=False)


@dataclass(frozen=True, eq=False)
class Start:
    """Neurons of a fold, from which those of all rows are corrected.

    Attributes
    ----------
    points : ndarray of shape (k, d + 1)
        Inner weights for scaled inputs, bias last.
    ridge : float
    inputs : InputScaling
        The scaling of the fold.
    """

    points: Float64
    ridge: float
    inputs: InputScaling


class Climber:
    """The candidates of one fold: their predictions on its held-out rows, in original units."""

    def __init__(
        self, train: Rows, held_out: Rows, plan: Plan, objective: Staged, context: FitContext
    ) -> None:
        self.held_out = held_out
        self.problem = Problem(TrainingData(train), plan_of_stages(plan), objective, None, context)
        self._X = self.problem.coordinates.apply(held_out).X
        self.max_levelled = max_levelled(self.problem.rows, plan)
        self._growths: dict[int, StagedGrowth] = {}
        self._last: dict[Key, Float64] = {}
        self._pruned: VariableProjection | None = None

    def simple(self) -> dict[Key, Float64]:
        """Return the predictions of the mean and of the line; of zero without an affine term."""
        center = self.problem.coordinates.outputs.center
        found = {(MEAN, 0): np.tile(center, (len(self.held_out), 1))}
        if not self.problem.plan.linear_term:
            return found
        line = RidgeLine.of(self.problem.rows, self.problem.shape)
        return {**found, (LINE, 0): self._unscaled(line.predict(self._X))}

    def networks(self, width: int) -> dict[Key, Float64]:
        """Return the predictions of the network of a width; of a narrower one if it must be."""
        growth = self._growth(0)
        if growth.advance(width) or not self._last:
            self._last = self._predictions(growth.state, width)
        kinds = (NETWORK, LEVELLED) if width <= self.max_levelled else (NETWORK,)
        return {(kind, width): v for (kind, _), v in self._last.items() if kind in kinds}

    def average(self, width: int, stage: int, n_networks: int) -> dict[Key, Float64]:
        """Return the predictions of the average of some networks of a width."""
        growths = [self._growth(turn) for turn in range(1, n_networks)]
        for growth in growths:
            if growth.n_stages <= stage:
                growth.advance(width)
        states = [self._state(turn, stage) for turn in range(n_networks)]
        affine = self.problem.solving.affine.evaluate(self._X)
        mean = np.mean([state.predict(self._X, affine) for state in states], axis=0)
        return {(AVERAGES[n_networks], n_networks * width): self._unscaled(mean)}

    def pruned(self, width: int, stage: int, wider: int) -> dict[Key, Float64]:
        """Return the predictions of the network of a width that is pruned from the next stage."""
        growth = self._growth(0)
        if stage + 1 >= growth.n_stages:
            growth.advance(wider)
        last = max(0, min(stage + 1, growth.n_stages - 1))
        self._pruned = growth.pruned(last, width) if growth.n_stages else growth.state
        return self._predictions(self._pruned, width)

    def starts(self, ladder: Ladder, stage: int) -> list[Start]:
        """Return the neurons of the network, or of the two, that were chosen."""
        states = [self._state(turn, stage) for turn in range(ladder.n_networks)]
        if ladder.pruned and self._pruned is not None:
            states = [self._pruned]
        inputs = self.problem.coordinates.inputs
        return [Start(state.points, state.ridge, inputs) for state in states]

    def _growth(self, turn: int) -> StagedGrowth:
        if turn not in self._growths:
            self._growths[turn] = StagedGrowth(self.problem, turn)
        return self._growths[turn]

    def _state(self, turn: int, stage: int) -> VariableProjection:
        """Return the network of a stage, or of the last one there is."""
        growth = self._growths[turn]
        return growth.stage(min(stage, growth.n_stages - 1)) if growth.n_stages else growth.state

    def _predictions(self, state: VariableProjection, width: int) -> dict[Key, Float64]:
        affine = self.problem.solving.affine
        found = {(NETWORK, width): self._unscaled(state.predict(self._X, affine.evaluate(self._X)))}
        if width <= self.max_levelled:
            found[LEVELLED, width] = self._unscaled(self._levelled(state))
        return found

    def _levelled(self, state: VariableProjection) -> Float64:
        """Return scaled predictions that level off outside the training rows.

        As `model.levelled`, without a network.
        """
        rows, affine = self.problem.rows, self.problem.coordinates.affine
        W, weights = state.points, state.weights
        r = len(weights) - len(W)
        largest = (rows.X @ W[:, :-1].T + W[:, -1]).max(axis=0)
        hidden = np.minimum(self._X @ W[:, :-1].T + W[:, -1], largest)
        line = affine.evaluate(self._X) @ weights[:r]
        shown = affine.evaluate(rows.X) @ weights[:r]
        return np.asarray(_clipped(line, shown) + np.maximum(hidden, 0.0) @ weights[r:])

    def _unscaled(self, values: Float64) -> Float64:
        outputs = self.problem.coordinates.outputs
        # Far from all other rows, outputs may be infinite: they count as this bad.
        with np.errstate(over="ignore"):
            return np.nan_to_num(_bounded(values) * outputs.scale + outputs.center)


def _bounded(values: Float64) -> Float64:
    """Return scaled values, those that are not numbers among the worst."""
    return np.clip(np.nan_to_num(values, nan=_WORST), -_WORST, _WORST)


def _n_networks(key: Key) -> int:
    """Return the number of networks of which a candidate is the average."""
    return next((n for n, kind in AVERAGES.items() if kind == key[0]), 1)


def max_levelled(rows: Rows, plan: Plan) -> int:
    """Return the largest width that can be levelled, which doubles the number of neurons; or 0.

    Only ReLU networks with an affine term and of no given shape, and only if some rows lie far from
    the others.
    """
    can_be = plan.linear_term and plan.activation == ReLU() and plan.shape is None
    far = plan.settings.ladder.far
    if not can_be or np.isinf(far) or not lies_far(rows.X, far):
        return 0
    return (plan.limits.max_neurons - 2 * rows.n_outputs) // 2


def lies_far(X: NDArray[np.floating], limit: float) -> bool:
    """Whether rows lie beyond a number of robust deviations in some column.

    Half the distance between the quantiles 0.16 and 0.84, which is the standard deviation of
    normal numbers; the standard deviation itself where these quantiles agree.
    """
    X = X / 2.0 ** np.frexp(np.abs(X).max(axis=0))[1]  # squares of huge columns would overflow
    center = np.median(X, axis=0)
    low, high = np.quantile(X, [0.16, 0.84], axis=0)
    width = np.where(high > low, (high - low) / 2, X.std(axis=0))
    far = np.abs(X - center).max(axis=0)
    return bool((far > limit * width).any())


def _clipped(values: Float64, shown: Float64) -> Float64:
    return np.clip(values, shown.min(axis=0), shown.max(axis=0))


@dataclass(eq=False)
class Table:
    """Predictions of all candidates on the held-out rows of all folds.

    Attributes
    ----------
    Y, weights : ndarray
        Outputs and weights of the held-out rows.
    n_rows : int
        Number of different rows among them, for standard errors.
    tol : float
        Relative error that is as good as none.
    bounds : OutputBounds or None
        Within which all predictions are taken, as those of the network will be.
    keys : list of pairs
    predictions : list of ndarray
        In original units.
    """

    Y: Float64
    weights: Float64
    n_rows: int
    tol: float = 0.0
    bounds: OutputBounds | None = None
    keys: list[Key] = field(default_factory=list)
    predictions: list[Float64] = field(default_factory=list)

    @staticmethod
    def of(climbers: Sequence[Climber], tol: float) -> "Table":
        """Return the table of the simple candidates."""
        held = [climber.held_out for climber in climbers]
        weights = [np.ones(len(h)) if h.weights is None else h.weights for h in held]
        # Rows may be held out several times, but count once in standard errors.
        n_rows = min(sum(map(len, held)), len(held[0]) + len(climbers[0].problem.rows))
        bounds = climbers[0].problem.plan.bounds
        Y = np.concatenate([h.Y for h in held])
        table = Table(Y, np.concatenate(weights), n_rows, tol, bounds)
        table.add([climber.simple() for climber in climbers])
        return table

    def add(self, found: Sequence[dict[Key, Float64]]) -> None:
        """Add candidates, given their predictions on each fold."""
        for key in found[0]:
            self.keys.append(key)
            self.predictions.append(self._joined(found, key))

    def replace(self, i: int, found: Sequence[dict[Key, Float64]]) -> bool:
        """Replace the predictions of a candidate if these are better; return whether they are."""
        predictions = self._joined(found, self.keys[i])
        better = self.score(predictions) < self.score(self.predictions[i])
        if better:
            self.predictions[i] = predictions
        return better

    def _joined(self, found: Sequence[dict[Key, Float64]], key: Key) -> Float64:
        """Return the predictions of a candidate on all folds, within the bounds."""
        predictions = np.concatenate([of_fold[key] for of_fold in found])
        return predictions if self.bounds is None else self.bounds.apply(predictions)

    @cached_property
    def _unit(self) -> Float64:
        """Powers of two near the largest outputs, by which squares do not overflow."""
        return np.asarray(2.0 ** np.frexp(np.abs(self.Y).max(axis=0, initial=0.0))[1])

    @cached_property
    def _scale(self) -> Float64:
        """Deviations of the outputs, so that all count equally."""
        Y = self.Y / self._unit
        center = np.average(Y, axis=0, weights=self.weights)
        scale = np.sqrt(np.average((Y - center) ** 2, axis=0, weights=self.weights))
        found = np.where(scale > 0, scale, 1.0) * self._unit
        # Among the smallest numbers there are, the product may be zero.
        return np.where(found > 0, found, self._unit)

    def losses(self, predictions: Float64) -> Float64:
        """Return the squared error of each row, mean over the scaled outputs."""
        return np.asarray(np.mean(self.scaled_errors(predictions) ** 2, axis=1))

    def scaled_errors(self, predictions: Float64) -> Float64:
        """Return errors for outputs of unit variance; the worst are all the same."""
        with np.errstate(over="ignore", invalid="ignore"):
            left = self.Y / self._scale - predictions / self._scale
        return _bounded(left)

    def score(self, predictions: Float64) -> float:
        """Return the mean loss; errors below the tolerance are all the same."""
        loss = float(np.average(self.losses(predictions), weights=self.weights))
        return max(loss, ROUNDING, min(self.tol, 1.0) ** 2)

    @property
    def scores(self) -> list[float]:
        """The mean loss of each candidate."""
        return [self.score(predictions) for predictions in self.predictions]

    @property
    def errors(self) -> Float64:
        """Root mean squared errors in the units of the outputs; at least rounding.

        Rows that are reproduced do not show that all others will be.
        """
        unit = float(self._unit.max())
        left = [_bounded(self.Y / unit - p / unit) for p in self.predictions]
        squares = [np.mean(of_candidate**2, axis=1) for of_candidate in left]
        means = [np.average(of_candidate, weights=self.weights) for of_candidate in squares]
        return np.maximum(np.sqrt(means), np.finfo(np.float64).eps) * unit

    def stops(self, settings: LadderSettings, n_supported: float) -> bool:
        """Whether the last networks did not improve clearly on the best candidate before.

        With more neurons than `n_supported`, a network has more parameters than there are rows, and
        the first one that is not better ends the search.
        """
        lowest: dict[int, float] = {}
        for (_, width), score in zip(self.keys, self.scores, strict=True):
            lowest[width] = min(score, lowest.get(width, np.inf))
        best, since_best = np.inf, 0
        for score in lowest.values():
            clearly = score < settings.clearly_better * best
            best, since_best = (score, 0) if clearly else (best, since_best + 1)
        width = self.keys[-1][1]
        if width > n_supported:
            return since_best > 0
        return since_best >= settings.patience and width >= settings.min_width

    def best(self, settings: LadderSettings) -> int:
        """Return the simplest candidate that ties with the best.

        If some rows lie far from the others, new ones may lie farther: a network that levels off
        there takes precedence unless it is clearly worse on the rows there are.
        """
        i, scores = self._simplest(settings), self.scores
        safer = (LEVELLED, self.keys[i][1])
        if safer in self.keys:
            j = self.keys.index(safer)
            return j if scores[j] <= settings.level_within * scores[i] else i
        return i

    def _simplest(self, settings: LadderSettings) -> int:
        losses, scores = [self.losses(p) for p in self.predictions], self.scores
        lowest = int(np.argmin(scores))
        for i in np.argsort([width for _, width in self.keys], kind="stable").tolist():
            if self.keys[i][1] > 0:
                wins = _n_networks(self.keys[lowest]) > _n_networks(self.keys[i])
                as_good = settings.as_good_average if wins else settings.as_good
                ties = scores[i] <= scores[lowest] / as_good
            else:
                ties = self._ties(losses[i] - losses[lowest], settings.near_tie)
            if ties or scores[i] <= scores[lowest]:
                return i
        return lowest

    def _ties(self, more: Float64, near_tie: float) -> bool:
        """Whether the mean of paired differences is within some standard errors of zero."""
        mean = float(np.average(more, weights=self.weights))
        deviation = np.sqrt(np.average((more - mean) ** 2, weights=self.weights))
        return mean <= near_tie * float(deviation) / np.sqrt(self.n_rows)
