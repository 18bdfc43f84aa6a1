"""Networks for other losses, finished: squared losses of reweighted rows.

At its minimum a loss `sum_i L(r_i)` of the misses has the derivatives of `sum_i v_i r_i^2`, with

    v_i = L'(r_i) / r_i.

So the network that the Chebyshev greedy algorithm has grown in the norm of the loss gives weights
to the rows; a network is constructed for them as for any sample weights; and its neurons are
corrected together while the weights follow the misses. For the largest error the weights follow
Lawson's rule, `v_i <- v_i |r_i|`. For it and for powers above 2, whose weights single out few rows,
the network is constructed without weights and its outer weights are solved once more at the end.

A loss that bounds what one row can do is there for rows that are wrong. Rows beyond ten robust
deviations have a say in the outer weights only, as small as the loss allows: neurons, width and
ridge are chosen without them.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.all_rows.products import Triangle
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.construct import construct
from greedynet.fitting.finisher import Finisher
from greedynet.fitting.make_search import input_scaling
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import NOTHING_TO_FINISH, OnStep
from greedynet.fitting.row_weights import Weighing, misses
from greedynet.fitting.sketch import sketch_of
from greedynet.fitting.stopping import Limits
from greedynet.losses import Chebyshev, Loss, Power, Squared
from greedynet.losses.loss_factor import LossFactor
from greedynet.model.coordinates import Frame
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.blocks import Blocks, in_memory
from greedynet.rows.rows import Rows
from greedynet.search import Candidate
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.progress import tell
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# The growth in the norm of the loss, one programme a neuron, need not be longer to weigh rows by.
MAX_GROWN = 40
N_CONSTRUCTIONS = 2
N_ROUNDS = 12
_STEPS_A_ROUND = 2
# With more effective parameters than this share of the rows the misses are no noise to go by.
_MAX_SHARE = 0.5
_DEPENDENT = 1e-10


def construct_reweighted(
    rows: Rows | Blocks,
    plan: Plan,
    validation: Rows | None = None,
    *,
    scores: Float64 | None = None,
    pool: Pool | None = None,
    on_step: OnStep | None = None,
    journal: Journal = NO_JOURNAL,
) -> SelectionPath:
    """Construct a network for a loss other than the squared one, and finish it.

    Of very many rows a sample is seen, as the other losses have no sums over rows to solve from.

    Parameters
    ----------
    rows, plan, validation, scores, pool, on_step, journal
        As in `construct`.

    Returns
    -------
    path : SelectionPath
        The growth in the norm of the loss, with the finished network.
    """
    rows, validation = _sampled(rows, plan, validation, journal.branch("sample"))
    if scores is not None:
        plan = replace(plan, limits=Limits(int(np.argmin(scores)), exact=True))
    # Weights are for rows, and each of several outputs would have its own.
    finishing = rows.Y.shape[1] == 1
    as_grown = _short(plan) if finishing else replace(plan, correct=False)
    growth = journal.branch("growth")
    grown = construct(rows, as_grown, validation, pool=pool, on_step=on_step, journal=growth)
    grown = grown if scores is None else _scored(grown, scores)
    if not finishing or grown.kept.n_neurons == 0 or grown.stop_reason in NOTHING_TO_FINISH:
        return grown
    weighing = Weighing.by(grown, plan.loss, rows)
    network = weighing.network
    squared = replace(plan, loss=Squared())
    if _solved_anew(plan.loss):
        # Weights that grow with the misses would leave few rows to choose neurons by.
        first = journal.branch("squares")
        network = construct(rows, squared, validation, pool=pool, journal=first).kept
    else:
        for i in range(N_CONSTRUCTIONS):
            tell("growing a network for rows weighted by their misses")
            near = rows.take(np.flatnonzero(weighing.near(rows, network)))
            reweighted = weighing.apply(near, network)
            judged = None if validation is None else weighing.apply(validation, network)
            again = journal.branch(f"squares {i}")
            network = construct(reweighted, squared, judged, pool=pool, journal=again).kept
    network = _corrected(network, rows, plan, weighing, journal.branch("rounds"))
    size = plan.loss.size(rows.Y - _center(rows, plan), rows.weights) or 1.0
    return replace(
        grown,
        finished=network,
        finished_error=plan.loss.size(misses(network, rows), rows.weights) / size,
        best_n_nodes=network.n_nodes,
        stop_reason=plan.limits.kept(network.n_neurons),
    )


def _sampled(
    rows: Rows | Blocks, plan: Plan, validation: Rows | None, journal: Journal
) -> tuple[Rows, Rows | None]:
    """Of very many rows a sample, and rows to judge by."""
    sketch = sketch_of(rows, plan, judged=validation is not None, journal=journal)
    if sketch is None:
        return in_memory(rows), validation
    return sketch.sample(0), validation or sketch.held_out()


def _short(plan: Plan) -> Plan:
    """Return the plan of the growth that the rows are weighed by."""
    limits = replace(plan.limits, max_neurons=min(plan.limits.max_neurons, MAX_GROWN))
    return replace(plan, correct=False, limits=limits)


def _scored(grown: SelectionPath, scores: Float64) -> SelectionPath:
    """Return the path with the scores that its width was chosen by."""
    seen = scores[: len(grown.n_nodes)]
    return replace(grown, scores=seen, validation_errors=seen)


def _center(rows: Rows, plan: Plan) -> Float64:
    """What a relative error is relative to: the outputs about their mean, or about zero."""
    mean = np.average(rows.Y, axis=0, weights=rows.weights)
    return mean if plan.linear_term else np.zeros_like(mean)


class Bench:
    """A network's neurons on rows whose weights change, in the coordinates of a frame.

    Parameters
    ----------
    network : ShallowNetwork
        Where to start.
    rows : Rows
        Rows as they came.
    plan : Plan
    near : ndarray of shape (n_rows,)
        Rows that say something of the noise.
    journal : Journal
        What the corrections of an earlier run came to.
    """

    def __init__(
        self,
        network: ShallowNetwork,
        rows: Rows,
        plan: Plan,
        near: NDArray[np.bool_],
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self.frame = Frame.of(rows, input_scaling(rows, plan), linear_term=plan.linear_term)
        self.rows = self.frame.apply(rows)
        self.misses = misses(network, rows)[:, 0] / self.frame.outputs.scale
        weights = np.column_stack([network.inner_weights, network.biases])
        self.W = self.frame.inputs.unfold(weights)
        self._ridge: float | None = None
        self._plan, self._near, self._journal = plan, near, journal
        self._affine = self.frame.affine.evaluate(self.rows.X)

    def correct(self, weights: Float64) -> bool:
        """Correct a little for some weights; False, and no change, if no noise is left to see."""
        # Worth as many rows as they are: then `sum v r^2 / (n - gamma)` is the noise of the loss.
        tell(f"correcting {len(self.W)} neurons for the loss")
        self._now = Rows(self.rows.X, self.rows.Y, weights)
        columns = self.frame.affine_columns(self._now)
        sigma = self._plan.activation
        state = VariableProjection(
            self._now, columns, self.W, self._ridge, sigma, self._near, self._journal
        )
        state.settle(_STEPS_A_ROUND)
        if state.dof > _MAX_SHARE * len(weights):
            return False
        self.W, self._ridge, self._state = state.points, state.ridge, state
        self.misses = (self.rows.Y - state.predict(self.rows.X, self._affine))[:, 0]
        return True

    def network(self) -> ShallowNetwork:
        """Return the network of the last correction."""
        plan = self._plan
        finisher = Finisher(self.frame, self._now, None, plan.activation, plan.single_output)
        return finisher.network([self._state])


def _corrected(
    network: ShallowNetwork,
    rows: Rows,
    plan: Plan,
    weighing: Weighing,
    journal: Journal = NO_JOURNAL,
) -> ShallowNetwork:
    """Correct all neurons of a network for the loss."""
    if _solved_anew(plan.loss):
        return _by_the_loss(network, rows, plan, weighing, journal)
    return _shifted(_followed(network, rows, plan, weighing, journal), rows, plan.loss)


def _followed(
    network: ShallowNetwork, rows: Rows, plan: Plan, weighing: Weighing, journal: Journal
) -> ShallowNetwork:
    """Correct all neurons while the weights of the rows follow the misses."""
    bench = Bench(network, rows, plan, weighing.near(rows, network), journal)
    for _ in range(N_ROUNDS):
        if not bench.correct(weighing.weights(bench.misses, bench.rows)):
            return network
    corrected = bench.network()
    # Some may have become copies of others: a number asked for goes before the correction.
    as_wide = corrected.n_neurons == network.n_neurons
    return corrected if as_wide or not plan.limits.exact else network


def _by_the_loss(
    network: ShallowNetwork, rows: Rows, plan: Plan, weighing: Weighing, journal: Journal
) -> ShallowNetwork:
    """Correct where errors are large, and solve for the outer weights by the loss itself."""
    bench = Bench(network, rows, plan, np.ones(len(rows), dtype=bool), journal)
    first, best = bench.W, (np.inf, bench.W)
    lawson = np.ones(len(rows))
    for _ in range(N_ROUNDS):
        size = np.abs(bench.misses)
        best = min(best, (float(size.max()), bench.W), key=lambda pair: pair[0])
        lawson = lawson * size / size.max()
        of_power = isinstance(plan.loss, Power)
        v = weighing.weights(bench.misses, bench.rows) if of_power else lawson / lawson.mean()
        if not bench.correct(v):
            break
    found = [_solved(W, bench.frame, bench.rows, plan) for W in (first, best[1])]
    if plan.limits.exact:
        found = [n for n in found if n.n_neurons == network.n_neurons] or [network]
    return min(found, key=lambda n: plan.loss.size(misses(n, rows), rows.weights))


def _solved_anew(loss: Loss) -> bool:
    """Whether reweighted squares are too far from the loss to take their outer weights."""
    return isinstance(loss, Chebyshev) or (isinstance(loss, Power) and loss.p > 2)


def _solved(W: Float64, frame: Frame, scaled: Rows, plan: Plan) -> ShallowNetwork:
    """Return the network of neurons with the outer weights of the loss itself."""
    factor = LossFactor(scaled.Y, scaled.weights, plan.loss, _DEPENDENT)
    columns = frame.neuron_columns(scaled, W, plan.activation)
    for column in frame.affine_columns(scaled).T:
        factor.append(column)
    kept = [i for i, column in enumerate(columns.T) if factor.append(column)]
    network = frame.network(
        Triangle(factor.R, factor.z),
        [Candidate(W[i], 1.0, W[i], -1) for i in kept],
        plan.activation,
        alpha=0.0,
        single_output=plan.single_output,
    )
    return replace(network, trail=None)


def _shifted(network: ShallowNetwork, rows: Rows, loss: Loss) -> ShallowNetwork:
    """Return the network with the constant that is best for the loss, if it has one."""
    if network.intercept is None:
        return network
    best = loss.fit(np.ones((len(rows), 1)), misses(network, rows), rows.weights)
    return replace(network, intercept=network.intercept + best.weights[0], trail=None)
