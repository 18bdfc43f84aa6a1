"""Judgement of classes: from rows to a network that was chosen, and the log-loss to expect of it.

The counterpart of `judgement.py`. `LogLoss` itself compares candidates on folds; only the widths of
networks as grown are scored before.
"""

from collections.abc import Sequence
from dataclasses import replace

from greedynet.fitting.construct import construct
from greedynet.fitting.cross_validation import cross_validate
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.model.ladder import Ladder
from greedynet.model.path import ShallowPath
from greedynet.rows.splitting import Split
from greedynet.support.clock import FOR_CHOICE
from greedynet.support.context import FitContext


def judged_classes(
    data: TrainingData,
    folds: Sequence[Split],
    plan: Plan,
    objective: Objective,
    *,
    by_folds: bool,
    context: FitContext,
    on_step: OnStep,
) -> tuple[ShallowPath, Ladder | None]:
    """Return the path of the network that was chosen, and the candidates.

    Parameters
    ----------
    data : TrainingData
    folds : sequence of pairs of Rows
        Folds that the user asks for; empty for those of the objective.
    plan : Plan
    objective : Objective
    by_folds : bool
        Whether the user asks for folds.
    context : FitContext
    on_step : callable
    """
    scores = None
    if by_folds and folds and not plan.correct and not plan.limits.exact:
        of_folds = context.until(FOR_CHOICE).branch("folds")
        scores = cross_validate(folds, plan, objective, of_folds)
    data = replace(data, folds=folds or None)
    path = construct(data, plan, objective, scores=scores, context=context, on_step=on_step)
    assert path.evidence is not None
    return path, path.evidence.ladder
