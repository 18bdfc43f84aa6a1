"""Classification on one page: from rows of classes to a network of logits.

    scaling -> search on the working residual -> logistic outer weights -> ridge and width by
    folds -> all weights together -> network

One hidden layer serves all classes. Neurons are taken one by one, each the best for `y - p`, the
residual of the logistic model so far.
"""

from dataclasses import replace

from greedynet.correction.log_loss_descent import Weights
from greedynet.fitting.classify.growth import class_frame, grown, grown_path, grown_weights
from greedynet.fitting.classify.samples import at_most
from greedynet.fitting.classify.trials import Trials, n_of_others, stratified_folds
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import OnStep
from greedynet.fitting.sketch import sample_size
from greedynet.fitting.stopping import StopReason
from greedynet.losses.logistic import log_loss
from greedynet.model.coordinates import Frame
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.progress import tell
from greedynet.support.threads import Pool

FINAL_STEPS = 300
# Rows beyond which the last correction sees a sample, from which that of the growth is drawn.
MAX_FINAL_ROWS = 2**17


def construct_classifier(
    rows: Rows | Blocks,
    plan: Plan,
    validation: Rows | None = None,
    *,
    pool: Pool | None = None,
    on_step: OnStep | None = None,
    journal: Journal = NO_JOURNAL,
) -> SelectionPath:
    """Construct a network whose outputs are logits.

    Parameters
    ----------
    rows : Rows
        Training data, `Y` the classes as unit vectors, or one column of 0 and 1 for two classes.
    plan : Plan
        How to do it.
    validation : Rows or None
        Data to choose ridge and width by; without them they are chosen by folds.
    pool, on_step, journal
        As in `construct`.

    Returns
    -------
    path : SelectionPath
        Its errors are mean log-losses.
    """
    n_sample = sample_size(len(rows), rows.n_features, plan.limits.max_neurons) or len(rows)
    most_rows = at_most(
        rows, max(MAX_FINAL_ROWS, n_sample), plan.random_state, journal.branch("sample")
    )
    rows = at_most(most_rows, n_sample, plan.random_state)
    frame = class_frame(rows, plan)
    scaled = frame.apply(rows)
    held = None if validation is None else frame.apply(validation)
    growth = grown(scaled, held, frame, plan, pool, on_step, journal.branch("growth"))
    path = grown_path(growth, frame, plan, validated=held is not None)
    if not plan.correct or not growth.factor.size or growth.reason is StopReason.CALLBACK:
        return path

    start = grown_weights(growth, frame, scaled, plan.activation)
    folds = stratified_folds(scaled, plan.random_state) if held is None else [(scaled, held)]
    trials = Trials(folds, plan, journal.branch("descents"))
    ridge = plan.alpha if plan.alpha is not None else trials.best_ridge(start)
    most = frame.apply(most_rows)
    # What the rows say grows with them, what the ridge says does not.
    share = 1.0 if plan.alpha is not None else n_of_others(scaled) / n_of_others(most)
    tell(f"correcting {len(start.W)} neurons")
    final = trials.descend(most, start, share * ridge, FINAL_STEPS)
    if not plan.limits.exact:
        final = trials.narrowed(final, ridge)
        tell(f"correcting {len(final.W)} neurons")
        final = trials.descend(most, final, share * ridge, FINAL_STEPS)
    return replace(
        path,
        finished=_network(final, frame, plan),
        finished_error=log_loss(final.logits(scaled.X, plan.activation), scaled.Y, scaled.weights),
        finished_score=trials.score([final]) if held else trials.held_out_loss(final, ridge),
        best_n_nodes=len(final.W) + frame.affine.n_nodes,
        stop_reason=plan.limits.kept(len(final.W)) if growth.candidates else growth.reason,
    )


def _network(weights: Weights, frame: Frame, plan: Plan) -> ShallowNetwork:
    """Return the network for inputs as they come."""
    inner = frame.inputs.fold(weights.W)
    affine = frame.inputs.fold(weights.L.T).T
    return ShallowNetwork(
        inner_weights=inner[:, :-1],
        biases=inner[:, -1],
        outer_weights=weights.C,
        linear_weights=affine[:-1] if plan.linear_term else None,
        intercept=affine[-1] if plan.linear_term else None,
        activation=plan.activation,
        single_output=plan.single_output,
        input_range=frame.input_range,
    )
