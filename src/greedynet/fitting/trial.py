"""Trials: whole constructions on the training rows of folds, scored on their held-out rows.

For objectives without stages (another loss, a dictionary, a requested number of nodes), a trial
tells the expected error; if the width is not requested, it also chooses between a constant, the
affine term and the network.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from greedynet.fitting.construct import construct
from greedynet.fitting.objective import Objective
from greedynet.fitting.objectives.following import residuals_of
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.losses.mean_size import mean_size
from greedynet.model.ladder import LINE, MEAN, NETWORK, Ladder
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.types import Float64

_KINDS = (MEAN, LINE, NETWORK)


def trial(
    folds: Sequence[Split], plan: Plan, objective: Objective, context: FitContext, *, chooses: bool
) -> Ladder:
    """Return the errors of a constant, of the affine term and of the network on held-out rows.

    Parameters
    ----------
    folds : sequence of pairs of Rows
    plan : Plan
    objective : Objective
    context : FitContext
    chooses : bool
        Whether the best of the three is chosen; otherwise it is the network.
    """
    context.tell(f"the expected error, on {counted(len(folds))}")
    errors, widths = [], []
    for i, (train, held_out) in enumerate(context.clock.paced(folds, least=1)):
        of_fold = context.branch(f"fold {i}")
        found = partial(_errors_of, train, held_out, plan, objective, of_fold)
        of_candidates, width = of_fold.journal.once(found)
        errors.append(of_candidates)
        widths.append(width)
    folds = folds[: len(errors)]
    unit = np.max(errors) or 1.0
    means = unit * np.sqrt(np.mean(np.square(np.array(errors) / unit), axis=0))
    shown = np.max(np.abs(np.concatenate([held_out.Y for _, held_out in folds])))
    means = np.maximum(means, np.finfo(np.float64).eps * shown)
    chosen = _chosen(np.array(errors), plan) if chooses else len(_KINDS) - 1
    return Ladder(np.array(_KINDS), np.array([0, 0, round(np.mean(widths))]), means, chosen)


def _errors_of(
    train: Rows,
    held_out: Rows,
    plan: Plan,
    objective: Objective,
    context: FitContext,
    journal: Journal,
) -> tuple[Float64, int]:
    """Return the errors of the candidates of a fold, and the number of neurons."""
    data = TrainingData(train, None, objective.sampling(train, plan))
    path = construct(data, plan, objective, context=context.with_journal(journal))
    networks = candidates(path, train, plan)
    return np.array([_error(n, held_out, plan) for n in networks]), path.kept.n_neurons


def _chosen(errors: Float64, plan: Plan) -> int:
    """Return the simplest candidate within some standard errors of the best, over folds."""
    best = int(np.argmin(errors.mean(axis=0)))
    more = errors - errors[:, [best]]
    deviation = more.std(axis=0) / np.sqrt(len(errors))
    ties = more.mean(axis=0) <= plan.settings.ladder.near_tie * deviation
    return int(np.argmax(ties))


def candidates(path: SelectionPath, rows: Rows, plan: Plan) -> list[ShallowNetwork]:
    """Return a constant, the affine term and the network that was kept.

    Without an affine term, the first two are the network without neurons.
    """
    affine = path.network.truncate(int(path.n_nodes[0]))
    return [_constant(affine, rows, plan), affine, path.kept]


def _constant(affine: ShallowNetwork, rows: Rows, plan: Plan) -> ShallowNetwork:
    if affine.linear_weights is None:
        return affine
    found = plan.loss.fit(np.ones((len(rows), 1)), rows.Y, rows.weights).weights[0]
    zeros = np.zeros_like(affine.linear_weights)
    return replace(affine, linear_weights=zeros, intercept=found, path_factor=None)


def _error(network: ShallowNetwork, rows: Rows, plan: Plan) -> float:
    return mean_size(plan.loss, residuals_of(network, rows), rows.weights)
