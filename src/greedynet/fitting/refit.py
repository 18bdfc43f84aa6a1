"""`refit`: the chosen candidate on all rows, starting from the neurons of a fold.

Nothing is grown again. The neurons of the fold whose network is best on all rows are corrected on
all rows; those of the other widths of the path only get new outer weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from greedynet.correction.all_rows.passes import Passes
from greedynet.fitting.climb import Climb, FoldFit
from greedynet.fitting.forms import Form
from greedynet.fitting.growth import Growth, State
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import ZERO_RESIDUAL, Plan
from greedynet.fitting.split import Folds
from greedynet.model.bounds import widened
from greedynet.model.candidate import LINE, MEAN, NETWORK, TWO_LAYERS, Candidate, Ladder
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath, StopReason
from greedynet.model.uncertainty.calibration import CalibrationData, HeldOutPredictions
from greedynet.rows.blocks import MemoryBlocks
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Fitted:
    """The path of the growth, with the network that was kept, and what is known of its errors.

    The ladder, of all candidates and their errors on held-out rows, is None if no row could be held
    out; the ridge, of the network that was kept, if it has none.
    """

    path: SelectionPath
    ladder: Ladder | None
    calibration: CalibrationData
    ridge: float | None = None


def refit(folds: Folds, found: Climb, objective: Objective, context: FitContext) -> Fitted:
    """Return the chosen candidate on all rows, and the other widths of its growth.

    The journal of the context has the network of an earlier run.
    """
    plan, chosen, form = found.plan, found.chosen, found.fits[0].forms[found.chosen.form]
    if folds.is_final:
        fit, final = found.fits[0], found.fits[0].growth(chosen)
        growth, states = final, _refitted(fit, chosen, final, context)
        by_box, error = [[p] for p in fit.predict(chosen, states)], final.training_error(states)
        # A network that was asked for does not depend on the rows that estimate its error.
        if plan.takes_last or found.scores.improves(chosen, by_box):
            found.scores.replace(chosen, by_box, error)
        else:
            states = fit.states(chosen)
    else:
        begin = partial(objective.begin, folds.rows, form, plan, context)
        growth = final = begin(input_range=folds.input_range)
        fit = _best_fold(found.fits, chosen, growth)
        if folds.samples is not None:
            passes = _passes(folds, form, plan, context)
            final = begin(input_range=folds.input_range, passes=passes)
        states = _refitted(fit, chosen, final, context)
        if plan.takes_last and folds.samples is None:
            of_fold = found.scores.training_error_of(chosen)
            states = _to_tolerance(states, chosen, of_fold, final)
    rungs, networks = _on_path(chosen, found), list[Network]()
    for rung in reversed(rungs):  # of a growth without corrections, the widest has all others
        if rung == chosen:
            networks.insert(0, form.network(final.network(states)))
        else:
            networks.insert(0, form.network(growth.network(_carried(fit, rung, growth))))
    reach = np.inf if plan.extrapolate else found.scores.reach_of(chosen)
    finished = [replace(network, bounds=plan.bounds, reach=reach) for network in networks]
    ridge = final.ridge(chosen, states, fit.growth(chosen).problem)
    fitted = _with_errors(folds, found, rungs, finished, objective, context)
    return replace(fitted, path=replace(fitted.path, indices=growth.indices), ridge=ridge)


def without_folds(folds: Folds, plan: Plan, objective: Objective, context: FitContext) -> Fitted:
    """Return the simplest network, where no row can be held out."""
    rows, form = folds.rows, Form()
    growth = objective.begin(rows, form, plan, context, input_range=folds.input_range)
    is_line = objective.classes and plan.correct
    candidate = Candidate(LINE, ridge=0.0) if is_line else Candidate(MEAN)
    if not plan.linear_term and plan.limits.max_neurons:
        candidate = Candidate(NETWORK, 1, ridge=candidate.ridge)
    reach = np.inf if plan.extrapolate else 0.0
    network = growth.network([growth.fitted(candidate, {})])
    network = replace(network, bounds=plan.bounds, reach=reach)
    error = objective.training_error(network, rows, plan)
    path = SelectionPath(
        n_nodes=np.array([network.n_nodes], dtype=np.intp),
        training_errors=np.array([error]),
        held_out_errors=None,
        networks=(network,),
        best_n_nodes=network.n_nodes,
        stop_reason=StopReason.EXACT if error <= ZERO_RESIDUAL else StopReason.MEAN,
        seconds=np.zeros(1),
        indices=np.empty(0, dtype=np.intp),
    )
    return Fitted(path, None, CalibrationData(rows))


def _passes(folds: Folds, form: Form, plan: Plan, context: FitContext) -> Passes:
    """Return sums over all rows, as networks of a form see them."""
    assert folds.samples is not None
    larger, blocks = folds.samples.larger(), form.blocks(folds.samples.blocks)
    if larger is None:
        return Passes(blocks)
    return Passes(blocks, form.blocks(MemoryBlocks(larger, context.pool, plan.settings.blocks)))


def _on_path(chosen: Candidate, found: Climb) -> list[Candidate]:
    """Return the candidates of the path, one for each width: the best of it, or the choice."""
    rungs: dict[int, Candidate] = {}
    for candidate in sorted(found.scores.candidates, key=found.scores.score_of):
        is_alike = candidate.form == chosen.form and candidate.n_networks == 1
        if is_alike and candidate.kind in (LINE, NETWORK):
            rungs.setdefault(candidate.n_neurons, candidate)
    rungs[chosen.n_neurons] = chosen
    return [rungs[n] for n in sorted(rungs)]


def _best_fold(fits: Sequence[FoldFit], chosen: Candidate, growth: Growth) -> FoldFit:
    """Return the fold whose network is best on all rows."""
    if len(fits) == 1 or chosen.width == 0:
        return fits[0]
    losses = [sum(growth.loss(state) for state in _carried(fit, chosen, growth)) for fit in fits]
    return fits[int(np.argmin(losses))]


def _carried(fit: FoldFit, candidate: Candidate, growth: Growth) -> list[State]:
    """Return the networks of a fold on all rows."""
    if fit.growth(candidate) is growth:
        return fit.states(candidate)
    inputs = fit.growth(candidate).problem.coordinates.inputs
    return [growth.carried(state, inputs) for state in fit.states(candidate)]


def _refitted(fit: FoldFit, chosen: Candidate, growth: Growth, context: FitContext) -> list[State]:
    """Return the networks of a fold, corrected on all rows; those of an earlier run if known."""
    known = context.journal.known()
    if known is not None:
        return [growth.unpacked(values) for values in known]
    of_fold = fit.growth(chosen).problem
    states = []
    for turn in range(chosen.n_networks):

        def start(candidate: Candidate, turn: int = turn) -> State:
            return _carried(fit, replace(candidate, n_networks=chosen.n_networks), growth)[turn]

        states.append(growth.refitted(replace(chosen, n_networks=1), start, of_fold))
    context.journal.note([growth.packed(state) for state in states])
    return states


def _to_tolerance(
    states: list[State], chosen: Candidate, of_fold: float, growth: Growth
) -> list[State]:
    """Return a wider network, if the last one has reached the tolerance only on a fold."""
    plan = growth.problem.plan
    tol = max(plan.limits.tol, ZERO_RESIDUAL)
    most, (state, *others) = plan.limits.max_neurons, states
    if of_fold > tol or others or chosen.width == 0:
        return states
    width, before = chosen.width, replace(chosen, pruned=False)
    factor = plan.settings.ladder.growth if plan.correct else 1.0
    while growth.training_error([state]) > tol and width < most:
        width = min(most, max(width + 1, round(factor * width)))
        wider = growth.fitted(replace(before, width=width), {before: state})
        if wider is state:
            break
        state, before = wider, replace(before, width=width)
    return [state]


def _with_errors(
    folds: Folds,
    found: Climb,
    rungs: Sequence[Candidate],
    networks: Sequence[Network],
    objective: Objective,
    context: FitContext,
) -> Fitted:
    """Return the result, with the errors of every width on held-out rows."""
    plan, scores, chosen = found.plan, found.scores, found.chosen
    kept = networks[rungs.index(chosen)]
    of_all = scores.predictions(kept.reach)
    errors_of_all = np.array([scores.measure.error(p) for p in of_all])

    def predictions_of(candidate: Candidate) -> Float64:
        return of_all[scores.candidates.index(candidate)]

    held_out = _held_out(folds, predictions_of(chosen), kept)
    expected = scores.measure.error(held_out.predictions)
    if context.clock.ran_out.is_set():
        # The network may be worse than those of the folds, whose error is then too small.
        rows = folds.rows
        measure = objective.measure([rows], len(rows), plan)
        on_training = measure.error(kept.predict(rows.X).reshape(rows.Y.shape))
        if on_training > expected:
            held_out, expected = held_out.stretched(on_training / expected), on_training
    # Neurons without any use are left out, so that two widths may turn out to be the same.
    widths = {network.n_nodes: i for i, network in reversed(list(enumerate(networks)))}
    widths[kept.n_nodes] = rungs.index(chosen)
    at = [widths[n_nodes] for n_nodes in sorted(widths)]
    predictions = tuple(predictions_of(rungs[i]) for i in at)
    errors = np.array([scores.measure.error(p) for p in predictions])
    errors[sorted(widths).index(kept.n_nodes)] = expected
    unit = float(errors_of_all[0]) or 1.0 if scores.measure.power > 1 else 1.0
    on_path = tuple(networks[i] for i in at)
    path = SelectionPath(
        n_nodes=np.array(sorted(widths), dtype=np.intp),
        training_errors=np.array([objective.training_error(n, folds.rows, plan) for n in on_path]),
        held_out_errors=errors / unit,
        networks=on_path,
        best_n_nodes=kept.n_nodes,
        stop_reason=_reason(found, objective.training_error(kept, folds.rows, plan), kept, context),
        seconds=np.array([found.seconds[scores.candidates.index(rungs[i])] for i in at]),
        indices=np.empty(0, dtype=np.intp),
        unit=unit,
    )
    plain = tuple(candidate.plain() for candidate in scores.candidates)
    ladder = Ladder(plain, errors_of_all, scores.candidates.index(chosen))
    line = scores.best_logistic_regression()
    held_out = replace(held_out, line=None if line is None else predictions_of(line))
    calibration = CalibrationData(folds.rows, held_out, predictions, expected, tuple(folds.splits))
    return Fitted(path, ladder, calibration)


def _held_out(folds: Folds, predictions: Float64, network: Network) -> HeldOutPredictions:
    """Return what is predicted of rows that the networks have not seen."""
    if folds.samples is None:
        held_out = HeldOutPredictions.of_folds(folds.splits, predictions)
        return replace(held_out, share=0.0) if folds.is_final else held_out
    if len(folds.splits) > 1:
        return HeldOutPredictions.of_folds(folds.splits, predictions)
    # Of many rows, those that were held out are too few for the network to have learned them. But
    # its box is that of all rows: a cell that is mistyped in one of them would not be clipped.
    ((train, held),) = folds.splits
    shown = np.array([train.X.min(axis=0), train.X.max(axis=0)], dtype=np.float64)
    box = widened(shown, network.reach)
    return HeldOutPredictions.of(
        held, network.predict(held.X if box is None else np.clip(held.X, *box))
    )


def _reason(found: Climb, error: float, network: Network, context: FitContext) -> StopReason:
    """Return why the network has its width."""
    plan, chosen = found.plan, found.chosen
    if found.is_stopped:
        return StopReason.CALLBACK
    if error <= ZERO_RESIDUAL and found.scores.measure.power > 1:
        return StopReason.EXACT
    if context.clock.ran_out.is_set():
        return StopReason.MAX_SECONDS
    n_neurons = network.n_nodes - (2 if network.has_affine_term else 0)
    is_full = n_neurons >= plan.limits.max_neurons
    if plan.limits.exact:
        short = StopReason.EXHAUSTED if plan.shape is None else StopReason.SHAPE
        return StopReason.N_NODES if is_full else short
    if plan.takes_last and error <= plan.limits.tol:
        return StopReason.TOLERANCE
    if chosen.width == 0 and not plan.takes_last:
        if chosen.is_constant:
            return StopReason.MEAN
        return StopReason.CURVES if chosen.form == TWO_LAYERS else StopReason.LINE
    most = found.fits[0].forms[chosen.form].plan(plan).limits.max_neurons
    if is_full or (chosen.width >= most and not plan.takes_last):
        return StopReason.MAX_NODES
    if not plan.takes_last:
        return StopReason.VALIDATED
    is_close = found.scores.training_error_of(chosen) <= plan.limits.tol
    return StopReason.NEARLY if is_close else StopReason.EXHAUSTED
