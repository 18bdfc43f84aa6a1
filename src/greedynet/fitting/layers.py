"""One hidden layer or two: both are judged alike, on rows that they have not seen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol, cast

import numpy as np

from greedynet.fitting.depth import Depth
from greedynet.fitting.judgement import judged
from greedynet.fitting.ladder import work
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.fitting.saturation import finished_with, saturating
from greedynet.fitting.settings import DepthSettings
from greedynet.model.ladder import Ladder
from greedynet.model.path import DeepPath, ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.splitting import Split
from greedynet.support.clock import FOR_ONE_LAYER
from greedynet.support.context import FitContext

HiddenLayers = Literal[1, 2, "auto"]
AnyPath = ShallowPath | DeepPath
Judged = tuple[AnyPath, Ladder | None]


class Judge(Protocol):
    """How one network is built and judged: `judged`, or `judged_classes`."""

    def __call__(
        self,
        data: TrainingData,
        folds: Sequence[Split],
        plan: Plan,
        objective: Objective,
        *,
        by_folds: bool,
        context: FitContext,
        on_step: OnStep,
    ) -> tuple[ShallowPath, Ladder | None]:
        """Return the path of the network that was chosen, and the candidates."""
        ...


# Nothing is left to gain, or the user has had enough.
_ENDS = frozenset({StopReason.EXACT, StopReason.CALLBACK, StopReason.MAX_SECONDS})


def judged_in_layers(
    hidden_layers: HiddenLayers,
    data: TrainingData,
    folds: Sequence[Split],
    plan: Plan,
    objective: Objective,
    *,
    by_folds: bool,
    context: FitContext,
    on_step: OnStep,
    judge: Judge = judged,
) -> Judged:
    """Return the path of the network that was chosen, of one layer or of two, and the candidates.

    Parameters
    ----------
    hidden_layers : {1, 2, "auto"}
        "auto" keeps two layers where their expected error is clearly smaller.
    data : TrainingData
    folds : sequence of pairs of Rows
    plan : Plan
    objective : Objective
    by_folds : bool
        Whether the user asks for folds to choose the width.
    context : FitContext
    on_step : callable
    judge : Judge
        How each of them is built and judged.
    """
    depth = _depth(hidden_layers, data, plan)

    def of_one_layer(context: FitContext) -> Judged:
        return judge(
            data, folds, plan, objective, by_folds=by_folds, context=context, on_step=on_step
        )

    def of_two_layers(depth: Depth, plan: Plan, on_step: OnStep) -> Judged:
        path, ladder = judge(
            depth.lifted_data(data, plan, context),
            depth.lifted_folds(folds),
            depth.plan(plan),
            objective,
            by_folds=by_folds,
            context=context.branch("two layers"),
            on_step=on_step,
        )
        return depth.lowered(path), None if ladder is None else ladder.of_two_layers()

    def of_ramps(best: Judged, shallow: AnyPath) -> Judged:
        steep = saturating(plan)
        if steep is None or context.clock.is_over():
            return best
        context.tell("neurons that level off")
        path, ladder = judge(
            data,
            folds,
            steep,
            objective,
            by_folds=by_folds,
            context=context.branch("ramps"),
            on_step=lambda *_: False,
        )
        # Neither is simpler: the better one is taken.
        better = replace(plan.settings.depth, clearly_better=1.0)
        wins = _is_better(path, best[0], objective, better)
        found = (
            finished_with(cast(ShallowPath, shallow), path),
            None if ladder is None else ladder.of_ramps(),
        )
        return _chosen(best, found, other_wins=wins)

    if depth is None:
        return of_one_layer(context)
    if hidden_layers == 2:
        return of_two_layers(depth, plan, depth.on_step(on_step))
    shallow = of_one_layer(context.until(FOR_ONE_LAYER))
    if shallow[0].stop_reason in _ENDS or context.clock.is_over():
        return shallow
    context.tell("two hidden layers")
    limited = _limited(plan, shallow, data, depth)
    deep = of_two_layers(depth, limited, lambda *_: False)
    wins = _is_better(deep[0], shallow[0], objective, plan.settings.depth)
    return of_ramps(_chosen(shallow, deep, other_wins=wins), shallow[0])


def _depth(hidden_layers: HiddenLayers, data: TrainingData, plan: Plan) -> Depth | None:
    """Return the first layer to try, if any."""
    if hidden_layers == 1:
        return None
    settings = plan.settings.depth
    if hidden_layers == "auto" and (
        (data.rows.n_features == 1 and plan.shape is None)
        or not plan.correct
        or plan.points is not None
        or data.rows.n_features > settings.max_inputs
        or len(data.rows) < settings.min_rows
    ):
        return None
    return Depth.of(data, plan)


def _limited(plan: Plan, shallow: Judged, data: TrainingData, depth: Depth) -> Plan:
    """Return the plan of two layers, which may take so much work, given the networks of one."""
    path, ladder = shallow
    settings, limits, d = plan.settings, plan.limits, data.rows.n_features
    of_depth = settings.depth
    if ladder is None:
        weights = of_depth.times_weights * path.network.n_neurons * (d + 1)
        most = max(1, int(weights / (depth.ramps.n_lifted + 1))) + depth.ramps.n_hinges
        return replace(plan, limits=replace(limits, max_neurons=min(limits.max_neurons, most)))
    widths = np.unique(ladder.n_neurons).tolist()
    taken = work(len(data.rows), d, widths)
    max_work = max(of_depth.least_work, of_depth.times_work * taken)
    max_weights = of_depth.times_weights * max(widths) * (d + 1)
    of_classes = replace(settings.logistic, max_weights=max_weights)
    of_numbers = replace(settings.ladder, max_work=max_work)
    return replace(plan, settings=replace(settings, ladder=of_numbers, logistic=of_classes))


def _is_better(
    deep: AnyPath, shallow: AnyPath, objective: Objective, settings: DepthSettings
) -> bool:
    """Whether the expected error of two layers is clearly smaller than that of one."""
    errors = [np.inf if p.expected_error is None else p.expected_error for p in (shallow, deep)]
    if errors[1] >= settings.clearly_better * errors[0]:
        return False
    below = objective.standard_errors_below(_unseen(deep), _unseen(shallow))
    return below > settings.standard_errors


def _chosen(first: Judged, other: Judged, *, other_wins: bool) -> Judged:
    """Return one of two results, with the candidates of both."""
    path, ladder = (_beside_line(other[0], first[0]), other[1]) if other_wins else first
    if first[1] is None or other[1] is None:
        return path, ladder
    return path, first[1].beside(other[1], other_wins=other_wins)


def _beside_line(path: AnyPath, first: AnyPath) -> AnyPath:
    """Return a path with the logistic regression of the first one on the same rows."""
    new, old = _unseen(path), _unseen(first)
    if new is None or old is None or old.line is None or not np.array_equal(new.Y, old.Y):
        return path
    assert path.evidence is not None
    return path.with_unseen(replace(new, line=old.line), path.evidence.ladder)


def _unseen(path: AnyPath) -> Unseen | None:
    return None if path.evidence is None else path.evidence.unseen
