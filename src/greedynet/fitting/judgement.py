"""Judgement: from rows to a network that was chosen, and the error to expect of it.

    folds -> ladder or scores -> construct -> expected error

`construct` builds a network; this module decides which one, on rows that it has not seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from greedynet.fitting.construct import NOISE_FREE, construct
from greedynet.fitting.cross_validation import cross_validate
from greedynet.fitting.ladder import REASONS, Chosen
from greedynet.fitting.loss_ladder import ChosenForLoss
from greedynet.fitting.objective import Objective
from greedynet.fitting.objectives.following import residuals_of
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.fitting.trial import candidates, trial
from greedynet.losses import is_squared
from greedynet.losses.base import singles_out_rows
from greedynet.losses.mean_size import mean_size
from greedynet.model.ladder import Ladder
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.clock import FOR_CHOICE
from greedynet.support.context import FitContext

# (folds, rows, plan, context) -> objective of the candidate that was chosen
Chooser = Callable[[Sequence[Split], Rows, Plan, FitContext], Chosen | ChosenForLoss]


def _chooser(data: TrainingData, plan: Plan, *, by_folds: bool) -> Chooser | None:
    """Return how folds choose between the mean, a line and networks grown in stages.

    None where the number of nodes is requested, rows are held out, or rows are sampled; where a
    network grows on, whose neurons have seen all folds; for a loss
    that would single out rows, as there are no weights with which networks could grow; and for
    another loss with folds that the user asks for, by which networks as grown are scored.
    """
    if not _has_rows_to_climb(data, plan):
        return None
    if is_squared(plan.loss):
        return Chosen.by
    return None if by_folds or singles_out_rows(plan.loss) else ChosenForLoss.by


def _has_rows_to_climb(data: TrainingData, plan: Plan) -> bool:
    return (
        plan.correct
        and plan.gcv
        and plan.start is None
        and data.validation is None
        and data.sampling is None
        and isinstance(data.rows, Rows)
        and _n_effective(data.rows) >= plan.settings.ladder.min_rows
    )


def _grows_on_freely(data: TrainingData, plan: Plan) -> bool:
    """Whether a network grows on to a width that is not requested."""
    return plan.start is not None and plan.gcv and data.validation is None


def _n_effective(rows: Rows) -> float:
    """Return the number of rows of equal weight that carry as much information.

    `(sum w)^2 / sum w^2`, or the number of copies that rows stand for.
    """
    if rows.weights is None or rows.effective_size is not None:
        return rows.n_independent
    share = rows.weights / rows.weights.max()
    return float(share.sum() ** 2 / np.sum(share**2))


def judged(
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
        Folds by which candidates are scored; empty if rows are held out or sampled.
    plan : Plan
    objective : Objective
    by_folds : bool
        Whether the user asks for folds to choose the width.
    context : FitContext
    on_step : callable
    """
    of_folds, of_network = context.until(FOR_CHOICE).branch("folds"), context.branch("network")
    by = _chooser(data, plan, by_folds=by_folds) if folds else None
    if by is not None:
        assert isinstance(data.rows, Rows)
        chosen = by(folds, data.rows, plan, of_folds)
        score = chosen.ladder.score
        if plan.rounds and score is not None and score <= NOISE_FREE**2:
            # Rounded rows would tell an error that is only rounding.
            exact = replace(plan, rounded=False)
            chosen = by(folds, data.rows, exact, of_folds.branch("exact"))
        path = construct(data, plan, chosen, context=of_network, on_step=on_step)
        return path, chosen.ladder
    scores = None
    if folds and (by_folds or _grows_on_freely(data, plan)):
        scores = cross_validate(folds, plan.from_nothing(), objective, of_folds)
    if folds:
        of_network = of_network.until(FOR_CHOICE)
    constructed = partial(
        construct, data, plan, objective, scores=scores, context=of_network, on_step=on_step
    )
    if not folds:
        return _on_held_out(constructed(), data, plan), None
    of_trial = context.branch("trial")
    tried = partial(_tried, folds, plan, objective)
    if context.clock.is_limited or len(data.rows) < plan.settings.min_rows_parallel:
        path, found = constructed(), tried(of_trial)
    else:
        # Neither needs the other: two constructions at once gain more than threads within one.
        path, found = context.pool.beside(constructed, partial(tried, of_trial.single_threaded()))
    return _with_trial(path, found, data, plan, of_trial)


def _tried(
    folds: Sequence[Split], plan: Plan, objective: Objective, context: FitContext
) -> tuple[Ladder, Unseen]:
    """Return the trial of a construction; another loss also chooses something simpler."""
    chooses = plan.correct and not is_squared(plan.loss) and not plan.limits.exact
    tried = folds[: plan.settings.ladder.max_tried]
    return trial(tried, plan.from_nothing(), objective, context, chooses=chooses)


def _with_trial(
    path: ShallowPath,
    found: tuple[Ladder, Unseen],
    data: TrainingData,
    plan: Plan,
    context: FitContext,
) -> tuple[ShallowPath, Ladder]:
    """Return the path with the expected error, of the simpler candidate if that was chosen."""
    ladder, unseen = found
    path = replace(path.with_unseen(unseen), expected_error=ladder.expected_error)
    if ladder.chosen < len(ladder) - 1:
        assert isinstance(data.rows, Rows)
        simple = candidates(path, data.rows, plan)[ladder.chosen]
        size = plan.loss.size(data.rows.Y - data.rows.Y.mean(axis=0), data.rows.weights) or 1.0
        left, is_late = residuals_of(simple, data.rows), context.clock.ran_out.is_set()
        path = replace(
            path,
            best_n_nodes=simple.n_nodes,
            finished=simple,
            finished_error=plan.loss.size(left, data.rows.weights) / size,
            finished_score=None,
            stop_reason=StopReason.MAX_SECONDS if is_late else REASONS[ladder.kind],
        )
    return path, ladder


def _on_held_out(path: ShallowPath, data: TrainingData, plan: Plan) -> ShallowPath:
    """Return the path with the error on the validation rows, if there are some."""
    held_out = data.validation
    if path.expected_error is not None or held_out is None:
        return path
    unseen = Unseen.of(held_out, path.kept.predict(held_out.X))
    left = unseen.Y - unseen.predictions
    rounding = float(np.finfo(np.float64).eps * np.abs(held_out.Y).max())
    error = max(mean_size(plan.loss, left, held_out.weights), rounding)
    return replace(path.with_unseen(unseen), expected_error=error)
