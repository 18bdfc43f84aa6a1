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
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.losses.mean_size import mean_size
from greedynet.model.ladder import LINE, MEAN, NETWORK, Ladder
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.types import Float64

_KINDS = (MEAN, LINE, NETWORK)
# In place of infinite predictions.
_FAR = 1e300


def trial(
    folds: Sequence[Split], plan: Plan, objective: Objective, context: FitContext, *, chooses: bool
) -> tuple[Ladder, Unseen]:
    """Return the errors of a constant, of the affine term and of the network on held-out rows.

    Also returns the predictions of the chosen one on these rows.

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
    errors, widths, predictions = [], [], []
    for i, (train, held_out) in enumerate(context.clock.paced(folds, least=1)):
        of_fold = context.branch(f"fold {i}")
        found = partial(_errors_of, train, held_out, plan, objective, of_fold)
        of_candidates, width, predicted = of_fold.journal.once(found)
        errors.append(of_candidates)
        widths.append(width)
        predictions.append(predicted)
    folds = folds[: len(errors)]
    unit = np.max(errors) or 1.0
    means = unit * np.sqrt(np.mean(np.square(np.array(errors) / unit), axis=0))
    shown = np.max(np.abs(np.concatenate([held_out.Y for _, held_out in folds])))
    means = np.maximum(means, np.finfo(np.float64).eps * shown)
    chosen = _chosen(np.array(errors), plan) if chooses else len(_KINDS) - 1
    unseen = Unseen.of_folds(folds, np.concatenate([p[chosen] for p in predictions]))
    n_neurons = np.array([0, 0, round(np.mean(widths))])
    return Ladder(np.array(_KINDS), n_neurons, means, chosen), unseen


def _errors_of(
    train: Rows,
    held_out: Rows,
    plan: Plan,
    objective: Objective,
    context: FitContext,
    journal: Journal,
) -> tuple[Float64, int, Float64]:
    """Return the errors of the candidates of a fold, the number of neurons, and predictions."""
    data = TrainingData(train, None, objective.sampling(train, plan))
    path = construct(data, plan, objective, context=context.with_journal(journal))
    networks = candidates(path, train, plan)
    predicted = [_finite(n.predict(held_out.X)).reshape(held_out.Y.shape) for n in networks]
    errors = [mean_size(plan.loss, held_out.Y - p, held_out.weights) for p in predicted]
    return np.array(errors), path.kept.n_neurons, np.array(predicted)


def _finite(predictions: Float64) -> Float64:
    """Return predictions; those too large for numbers, of rows far from all others, are as bad."""
    return np.nan_to_num(predictions, nan=_FAR, posinf=_FAR, neginf=-_FAR)


def _chosen(errors: Float64, plan: Plan) -> int:
    """Return the simplest candidate within some standard errors of the best, over folds."""
    best = int(np.argmin(errors.mean(axis=0)))
    more = errors - errors[:, [best]]
    deviation = more.std(axis=0) / np.sqrt(len(errors))
    ties = more.mean(axis=0) <= plan.settings.ladder.near_tie * deviation
    return int(np.argmax(ties))


def candidates(path: ShallowPath, rows: Rows, plan: Plan) -> list[ShallowNetwork]:
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
