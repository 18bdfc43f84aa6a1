"""The ladder: the mean, a line with a ridge, and networks of increasing width, all scored alike.

    folds -> errors of every candidate on rows it has not seen -> choice -> network of all rows

Formulas such as generalised cross-validation do not know what the search over directions cost; rows
that were held out do. The candidate with the smallest error wins, and near-ties go to the simpler
one, so that no step makes the result worse than a simpler one by more than the noise of the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from operator import methodcaller

import numpy as np

from greedynet.correction.variable_projection import MAX_BLOCK
from greedynet.fitting.candidates import Climber, Start, Table
from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import ZERO_RESIDUAL, Limits
from greedynet.fitting.objective import Finished, Objective
from greedynet.fitting.objectives.following import residuals_of
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.staged import Staged, StagedGrowth, stage_widths
from greedynet.losses import Loss, Squared
from greedynet.losses.mean_size import mean_size
from greedynet.model.any_network import with_bounds
from greedynet.model.ladder import AVERAGES, LINE, MEAN, NETWORK, Ladder
from greedynet.model.levelled import levelled
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.phrases import plural
from greedynet.support.types import Float64

# Why there are no neurons.
REASONS = {MEAN: StopReason.MEAN, LINE: StopReason.LINE}


class Ascent:
    """All candidates on the held-out rows of folds, from the simple ones to averages.

    Parameters
    ----------
    folds : sequence of pairs of Rows
        Training rows, and rows on which the candidates are scored.
    plan : Plan
    objective : Staged
        Least squares, with an affine term that suits the number of rows.
    context : FitContext
    """

    def __init__(
        self, folds: Sequence[Split], plan: Plan, objective: Staged, context: FitContext
    ) -> None:
        self._settings, self._context = plan.settings.ladder, context
        self._patient, self._alone = plan.limits.patience is None, context.single_threaded()
        self._n_networks = plan.n_networks
        self._folds, self._train = folds, folds[0][0]
        self._n_folds = counted(len(folds))
        # A single fold has all threads; several have one each.
        of_fold = context if len(folds) == 1 else self._alone
        self._climbers = [
            Climber(train, held_out, plan, objective, of_fold.branch(f"fold {i}"))
            for i, (train, held_out) in enumerate(folds)
        ]
        self._max_levelled = max(climber.max_levelled for climber in self._climbers)
        for climber in self._climbers:
            climber.max_levelled = self._max_levelled
        self._table, self._widths = Table.of(self._climbers, plan.limits.tol), _widths(plan)

    def climbed(self) -> tuple[Ladder, list[Start]]:
        """Score the candidates, choose, and return neurons from which to start, if any."""
        table = self._table
        self._try_networks()
        chosen = table.best(self._settings)
        if self._tries_averages(*table.keys[chosen]) and not self._context.clock.is_over():
            chosen = self._averaged(chosen)
        pruned = self._is_pruned(chosen)
        kinds, n_neurons = zip(*table.keys, strict=True)
        score = table.scores[chosen] * table.Y.shape[1]
        ladder = Ladder(np.array(kinds), np.array(n_neurons), table.errors, chosen, pruned, score)
        if ladder.width == 0 or len(self._climbers) > self._settings.max_started:
            return ladder, []
        return ladder, self._climbers[0].starts(ladder, self._widths.index(ladder.width_of_each))

    def unseen(self, chosen: int) -> Unseen:
        """Return the predictions of a candidate on the held-out rows."""
        return Unseen.of_folds(self._folds, self._table.predictions[chosen])

    def _all_folds(
        self, width: int, method: str, *arguments: int
    ) -> list[dict[tuple[str, int], Float64]]:
        # Threads gain only where most of the time is spent in large products.
        n_weights = width * (self._train.n_features + 1)
        large = n_weights >= self._settings.parallel_from and len(self._climbers) > 1
        pool = self._context.pool if large else self._alone.pool
        return pool.map(methodcaller(method, width, *arguments), self._climbers)

    def _try_networks(self) -> None:
        """Try networks of increasing width, until wider ones do not help."""
        table, train = self._table, self._train
        n_supported = train.n_independent / (train.n_features + 2)
        # A stage takes longer than the last one, by about the square of the growth.
        for width in self._context.clock.paced(self._widths[:-1], self._settings.growth**2):
            if self._is_too_much(width):
                break
            self._context.tell(f"networks of {plural(width, 'neuron')} on {self._n_folds}")
            table.add(self._all_folds(width, "networks"))
            if not self._patient and table.stops(self._settings, n_supported):
                break

    def _is_too_much(self, width: int) -> bool:
        """Whether a stage would take more work than is allowed."""
        widths = self._widths[: self._widths.index(width) + 1]
        return work(len(self._train), self._train.n_features, widths) > self._settings.max_work

    def _tries_averages(self, kind: str, width: int) -> bool:
        """Whether to try averages: with one input, two networks would be the same."""
        if width == 0 or self._n_networks == 1 or self._train.n_features == 1:
            return False
        enough = len(self._train) >= self._settings.min_rows_averaged
        can_be = kind == NETWORK and self._max_levelled == 0
        return self._n_networks is not None or (enough and can_be)

    def _averaged(self, chosen: int) -> int:
        """Return the choice among averages and single networks; among averages if asked for."""
        table, n_networks = self._table, self._n_networks
        best = self._widths.index(table.keys[chosen][1])
        self._try_averages(self._stages_averaged(best, n_networks or 2), n_networks or 2)
        if n_networks is None:
            return self._doubled(table.best(self._settings))
        kinds = [kind for kind, _ in table.keys]
        found = [i for i, kind in enumerate(kinds) if kind == AVERAGES[n_networks]]
        return min(found, key=table.scores.__getitem__, default=chosen)

    def _stages_averaged(self, best: int, n_networks: int) -> list[int]:
        """Return the best stage and some before it, as far as the limit allows."""
        possible = [
            i for i, w in enumerate(self._widths[:-1]) if n_networks * w <= self._widths[-2]
        ]
        tried = range(max(0, best - self._settings.n_averaged + 1), best + 1)
        usable = [stage for stage in tried if stage in possible]
        return usable or (possible[-1:] if self._n_networks else [])

    def _try_averages(self, stages: Sequence[int], n_networks: int) -> None:
        """Try averages of networks of some stages."""
        kind = AVERAGES[n_networks].replace("average", "averages")
        for stage, width in enumerate(self._widths[: max(stages, default=-1) + 1]):
            if self._context.clock.is_over():
                break
            self._context.tell(f"{kind} networks on {self._n_folds}")
            found = self._all_folds(width, "average", stage, n_networks)
            if stage in stages:
                self._table.add(found)

    def _doubled(self, chosen: int) -> int:
        """Return the choice, or an average of four networks if one of two was chosen."""
        kind, width = self._table.keys[chosen]
        if kind != AVERAGES[2] or 2 * width > self._widths[-2]:
            return chosen
        self._try_averages([self._widths.index(width // 2)], 4)
        scores = self._table.scores
        is_there = self._table.keys[-1][0] == AVERAGES[4]
        wins = is_there and scores[-1] <= self._settings.four_within * scores[chosen]
        return len(scores) - 1 if wins else chosen

    def _is_pruned(self, chosen: int) -> bool:
        """Whether the chosen network is better if it is pruned from the next stage."""
        kind, width = self._table.keys[chosen]
        if width == 0 or kind in AVERAGES.values() or self._context.clock.is_over():
            return False
        stage = self._widths.index(width)
        self._context.tell(f"pruning to {width} neurons on {self._n_folds}")
        found = self._all_folds(width, "pruned", stage, self._widths[stage + 1])
        return self._table.replace(chosen, found)


def work(n_rows: int, n_features: int, widths: Sequence[int]) -> float:
    """Return the number of multiplications in a step of the corrections of each width."""
    sizes = [width * (n_features + 1) for width in widths]
    return float(sum(n_rows * size * min(size, MAX_BLOCK) for size in sizes))


def _widths(plan: Plan) -> list[int]:
    """Return the widths of the stages, and one from which the widest network is pruned."""
    most = plan.limits.max_neurons
    widths = stage_widths(most, plan.settings.ladder.growth)
    return [*widths, ceil(plan.settings.least_squares.overgrowth * most)]


class OfLadder(Objective):
    """What the objectives of a chosen candidate share: the path only shows a plain growth.

    Attributes
    ----------
    ladder : Ladder
    unseen : Unseen or None
        Its predictions of the held-out rows.
    """

    ladder: Ladder
    unseen: Unseen | None

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return the width of the growth that the path shows."""
        settings = plan.settings.ladder
        wanted = max(settings.least_shown, ceil(settings.growth * self.ladder.width))
        return min(n_neurons, wanted, settings.most_shown)

    def growth_limits(self, limits: Limits, plan: Plan) -> Limits:
        """Return the limits without patience: the width has been chosen."""
        return replace(limits, patience=None)

    def is_final(self, growth: Growth, path: ShallowPath) -> bool:
        """Whether the user stopped the growth."""
        return growth.reason is StopReason.CALLBACK

    def finished(
        self, network: ShallowNetwork, error: float, problem: Problem, loss: Loss
    ) -> Finished:
        """Return the network with what the ladder says of it."""
        reason = StopReason.EXACT if error <= ZERO_RESIDUAL else REASONS.get(self.ladder.kind)
        expected, rows, unseen = self.ladder.expected_error, problem.sample, self.unseen
        if expected is not None and problem.context.clock.ran_out.is_set():
            # The network may be worse than those of the folds, whose error is then too small.
            shown = mean_size(loss, residuals_of(network, rows), rows.weights)
            if unseen is not None and shown > expected:
                unseen = unseen.stretched(shown / expected)
            expected = max(expected, shown)
        return Finished(network, error, self.ladder.score, expected, reason, unseen)


@dataclass(frozen=True)
class Chosen(OfLadder, Staged):
    """Least squares for the candidate that folds have chosen.

    Attributes
    ----------
    ladder : Ladder
    starts : sequence of Start
        Neurons from which the network of all rows starts; empty to grow it.
    """

    ladder: Ladder = field(kw_only=True)
    starts: Sequence[Start] = field(kw_only=True)
    unseen: Unseen | None = field(default=None, kw_only=True)

    @staticmethod
    def by(folds: Sequence[Split], rows: Rows, plan: Plan, context: FitContext) -> "Chosen":
        """Return the objective of the candidate that folds choose for rows."""
        staged = Staged.of(rows, plan)
        ascent = Ascent(folds, plan, staged, context)
        ladder, starts = ascent.climbed()
        unseen = ascent.unseen(ladder.chosen)
        return Chosen(staged.shrunk, ladder=ladder, starts=starts, unseen=unseen)

    def averages(self, problem: Problem) -> bool:
        """Return False: one network was chosen."""
        return False

    def correct(self, problem: Problem, growths: Sequence[Growth], path: ShallowPath) -> Finished:
        """Return the chosen candidate on all rows."""
        ladder = self.ladder
        if ladder.width == 0:
            network = _affine(problem, line=ladder.kind != MEAN)
        elif self.starts:
            network = _of_starts(self.starts, problem)
        else:
            network = _of_width(ladder, problem)
        if ladder.is_levelled:
            network = levelled(network, problem.sample.X)
        network = with_bounds(network, problem.plan.bounds)
        return self.finished(network, _relative_error(network, problem), problem, Squared())


def _of_starts(starts: Sequence[Start], problem: Problem) -> ShallowNetwork:
    """Return the network of a fold, or the average of two, corrected on all rows."""
    growth, states = StagedGrowth(problem), []
    for start in starts:
        problem.context.tell(f"correcting {len(start.points)} neurons on all rows")
        points = start.inputs.carried(start.points, problem.coordinates.inputs)
        states.append(growth.corrected(points, start.ridge))
    return growth.network(*states)


def _of_width(ladder: Ladder, problem: Problem) -> ShallowNetwork:
    """Return the network of the chosen width, grown in the same stages as on the folds."""
    widths = _widths(problem.plan)
    last = widths.index(ladder.width_of_each)
    growths = [StagedGrowth(problem, turn) for turn in range(ladder.n_networks)]
    for growth in growths:
        for width in widths[: last + 1 + ladder.pruned]:
            problem.context.tell(f"growing and correcting {width} neurons")
            growth.advance(width)
    states = [growth.state for growth in growths]
    if ladder.pruned and growths[0].n_stages:
        states = [growths[0].pruned(growths[0].n_stages - 1, ladder.width)]
    return growths[0].network(*states)


def _affine(problem: Problem, *, line: bool) -> ShallowNetwork:
    """Return the line or the mean as a network without neurons."""
    coordinates, plan = problem.coordinates, problem.plan
    d, t = problem.n_features, problem.rows.n_outputs
    linear, intercept = np.zeros((d, t)), np.zeros(t)
    if line:
        found = RidgeLine.of(problem.rows, problem.shape)
        linear, intercept = found.linear, found.intercept
    of_scaled_rows = ShallowNetwork(
        inner_weights=np.empty((0, d)),
        biases=np.empty(0),
        outer_weights=np.empty((0, t)),
        linear_weights=linear if plan.linear_term else None,
        intercept=intercept if plan.linear_term else None,
        activation=plan.activation,
        single_output=plan.single_output,
        input_range=coordinates.input_range,
    )
    return coordinates.in_original_units(of_scaled_rows)


def _relative_error(network: ShallowNetwork, problem: Problem) -> float:
    """Return the relative error on the training rows, comparable to those of the growth."""
    rows, outputs = problem.sample, problem.coordinates.outputs
    found = network.predict(rows.X).reshape(rows.Y.shape)
    left = rows.Y / outputs.scale - found / outputs.scale
    size = float(np.linalg.norm(problem.rows.weighted(problem.rows.Y))) or 1.0
    return float(np.linalg.norm(rows.weighted(left))) / size
