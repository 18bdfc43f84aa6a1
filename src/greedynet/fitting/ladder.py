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

from greedynet.fitting.candidates import Climber, Start, Table
from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import ZERO_RESIDUAL, Limits
from greedynet.fitting.objective import Finished
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.staged import Staged, StagedGrowth, stage_widths
from greedynet.model.ladder import AVERAGE, LINE, MEAN, NETWORK, Ladder
from greedynet.model.levelled import levelled
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.model.stop_reason import StopReason
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Why there are no neurons.
REASONS = {MEAN: StopReason.MEAN, LINE: StopReason.LINE}


def climb(
    folds: Sequence[Split], plan: Plan, objective: Staged, context: FitContext
) -> tuple[Ladder, list[Start]]:
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
    settings, alone = plan.settings.ladder, context.single_threaded()
    climbers = [
        Climber(train, held_out, plan, objective, alone.branch(f"fold {i}"))
        for i, (train, held_out) in enumerate(folds)
    ]
    max_levelled = max(climber.max_levelled for climber in climbers)
    for climber in climbers:
        climber.max_levelled = max_levelled
    table = Table.of(climbers, plan.limits.tol)
    n_train, d = folds[0][0].n_independent, folds[0][0].n_features
    widths = _widths(plan)

    def all_folds(width: int, method: str, *arguments: int) -> list[dict[tuple[str, int], Float64]]:
        # Threads gain only where most of the time is spent in large products.
        pool = context.pool if width * (d + 1) >= settings.parallel_from else alone.pool
        return pool.map(methodcaller(method, width, *arguments), climbers)

    for width in widths[:-1]:
        context.tell(f"networks of {width} neurons on {counted(len(folds))}")
        table.add(all_folds(width, "networks"))
        if plan.limits.patience is not None and table.stops(settings, n_train / (d + 2)):
            break
    chosen, pruned = table.best(settings), False
    if table.keys[chosen][0] == NETWORK and _averages(folds, plan, max_levelled):
        # Averages of the chosen width and of the two before: no wider ones are grown for them.
        last = widths.index(table.keys[chosen][1])
        for stage in range(last + 1):
            context.tell(f"averages of two networks on {counted(len(folds))}")
            found = all_folds(widths[stage], "average", stage)
            if 2 * widths[stage] <= widths[-2] and stage > last - settings.n_averaged:
                table.add(found)
        chosen = table.best(settings)
    kind, width = table.keys[chosen]
    if width > 0 and kind != AVERAGE:
        stage = widths.index(width)
        context.tell(f"pruning to {width} neurons on {counted(len(folds))}")
        pruned = table.replace(chosen, all_folds(width, "pruned", stage, widths[stage + 1]))
    kinds, n_neurons = zip(*table.keys, strict=True)
    score = table.scores[chosen] * table.Y.shape[1]
    ladder = Ladder(np.array(kinds), np.array(n_neurons), table.errors, chosen, pruned, score)
    if width == 0 or len(folds) > settings.max_started:
        return ladder, []
    return ladder, climbers[0].starts(ladder, widths.index(width // ladder.n_networks))


def _averages(folds: Sequence[Split], plan: Plan, max_levelled: int) -> bool:
    """Whether to try averages: with one input, two networks would be the same."""
    train, settings = folds[0][0], plan.settings.ladder
    enough = len(train) >= settings.min_rows_averaged and settings.n_averaged > 0
    return enough and train.n_features > 1 and max_levelled == 0


def _widths(plan: Plan) -> list[int]:
    """Return the widths of the stages, and one from which the widest network is pruned."""
    most = plan.limits.max_neurons
    widths = stage_widths(most, plan.settings.ladder.growth)
    return [*widths, ceil(plan.settings.least_squares.overgrowth * most)]


@dataclass(frozen=True)
class Chosen(Staged):
    """Least squares for the candidate that folds have chosen.

    The path shows a plain growth, up to a little more than the chosen width.

    Attributes
    ----------
    ladder : Ladder
    """

    ladder: Ladder = field(kw_only=True)
    starts: Sequence[Start] = field(kw_only=True)

    def averages(self, problem: Problem) -> bool:
        """Return False: one network was chosen."""
        return False

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return the width of the growth that the path shows."""
        settings = plan.settings.ladder
        wanted = max(settings.least_shown, ceil(settings.growth * self.ladder.width))
        return min(n_neurons, wanted, settings.most_shown)

    def growth_limits(self, limits: Limits, plan: Plan) -> Limits:
        """Return the limits without patience: the width has been chosen."""
        return replace(limits, patience=None)

    def is_final(self, growth: Growth, path: SelectionPath) -> bool:
        """Whether the user stopped the growth."""
        return growth.reason is StopReason.CALLBACK

    def correct(self, problem: Problem, growths: Sequence[Growth], path: SelectionPath) -> Finished:
        """Return the chosen candidate on all rows."""
        ladder = self.ladder
        if ladder.width > 0:
            starts = self.starts
            network = _of_starts(starts, problem) if starts else _of_width(ladder, problem)
        else:
            network = _affine(problem, line=ladder.kind != MEAN)
        if ladder.is_levelled:
            network = levelled(network, problem.sample.X)
        error, reason = _relative_error(network, problem), REASONS.get(ladder.kind)
        if error <= ZERO_RESIDUAL:
            reason = StopReason.EXACT
        return Finished(network, error, ladder.score, ladder.expected_error, reason)


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
    width = ladder.width // ladder.n_networks
    last = widths.index(width)
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
        found = RidgeLine.of(problem.rows)
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
