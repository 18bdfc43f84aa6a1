"""Joint correction of all neurons for a loss, by row weights updated from the residuals."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.all_rows.products import Triangle
from greedynet.correction.outer_solver import DEPENDENT, OuterSolver
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.make_search import input_scaling
from greedynet.fitting.plan import Plan
from greedynet.losses import Loss
from greedynet.losses.base import singles_out_rows
from greedynet.losses.loss_factor import LossFactor
from greedynet.losses.reweighting import reweighting
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import ShallowNetwork
from greedynet.rows.rows import Rows
from greedynet.search import Candidate
from greedynet.support.context import FitContext
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.types import Float64


def residuals_of(network: ShallowNetwork, rows: Rows) -> Float64:
    """Return `Y` minus the network's values."""
    return rows.Y - network.predict(rows.X).reshape(rows.Y.shape)


def corrected_for_loss(
    network: ShallowNetwork,
    rows: Rows,
    plan: Plan,
    near: NDArray[np.bool_],
    context: FitContext,
) -> ShallowNetwork:
    """Return the network with all neurons corrected for the loss of the plan.

    Parameters
    ----------
    network : ShallowNetwork
        The initial network.
    rows : Rows
        In original units.
    plan : Plan
    near : ndarray of shape (n_rows,)
        Rows that are not outliers.
    context : FitContext
    """
    if singles_out_rows(plan.loss):
        return _solved_by_loss(network, rows, plan, context)
    return shifted(_followed(network, rows, plan, near, context), rows, plan.loss)


class _Rounds:
    """The neurons of a network, on rows whose weights change from round to round."""

    def __init__(
        self,
        network: ShallowNetwork,
        rows: Rows,
        plan: Plan,
        near: NDArray[np.bool_] | None,
        context: FitContext,
    ) -> None:
        inputs = input_scaling(rows, plan)
        self.coordinates = Coordinates.of(
            rows, inputs, linear_term=plan.linear_term, rounded=plan.rounds
        )
        self.rows = self.coordinates.apply(rows)
        self.residuals = residuals_of(network, rows)[:, 0] / self.coordinates.outputs.scale
        weights = np.column_stack([network.inner_weights, network.biases])
        self.W = inputs.unfold(weights)
        self._ridge: float | None = None
        self._plan, self._context = plan, context
        self._near = np.ones(len(rows), dtype=bool) if near is None else near
        self._affine = self.coordinates.affine.evaluate(self.rows.X)

    def correct(self, weights: Float64) -> bool:
        """Take a few steps for given row weights; False, without change, if overfitted."""
        self._context.tell(f"correcting {len(self.W)} neurons for the loss")
        # With mean weight 1, `sum v r^2 / (n - gamma)` estimates the noise.
        self._weighted = Rows(self.rows.X, self.rows.Y, weights)
        state = VariableProjection(
            self._weighted,
            self.coordinates.affine_columns(self._weighted),
            self.W,
            self._ridge,
            self._plan.activation,
            self._near,
            self._context,
        )
        settings = self._plan.settings.reweighting
        state.settle(settings.steps_a_round)
        if state.dof > settings.max_parameters * len(weights):
            return False
        self.W, self._ridge, self._state = state.points, state.ridge, state
        self.residuals = (self.rows.Y - state.predict(self.rows.X, self._affine))[:, 0]
        return True

    def network(self) -> ShallowNetwork:
        """Return the network of the last correction."""
        plan = self._plan
        solver = OuterSolver(self.coordinates, self._weighted, plan.activation, plan.single_output)
        return solver.network([self._state])

    def solved(self, W: Float64) -> ShallowNetwork:
        """Return the network of neurons with the outer weights of the loss itself."""
        rows, plan = self.rows, self._plan
        factor = LossFactor(rows.Y, rows.weights, plan.loss, DEPENDENT)
        self.coordinates.begun(factor, rows)
        columns = self.coordinates.neuron_columns(rows, W, plan.activation)
        kept = [i for i, column in enumerate(columns.T) if factor.append(column)]
        network = self.coordinates.network(
            Triangle(factor.R, factor.z),
            [Candidate(W[i], 1.0, W[i], -1) for i in kept],
            plan.activation,
            alpha=0.0,
            single_output=plan.single_output,
        )
        return replace(network, path_factor=None)


def _followed(
    network: ShallowNetwork,
    rows: Rows,
    plan: Plan,
    near: NDArray[np.bool_],
    context: FitContext,
) -> ShallowNetwork:
    """Correct while the row weights are updated from the residuals."""
    rounds, weighting = _Rounds(network, rows, plan, near, context), reweighting(plan.loss)
    for _ in range(plan.settings.reweighting.n_rounds):
        if not rounds.correct(weighting(rounds.residuals, rows.weights)):
            return network
    corrected = rounds.network()
    # Some neurons may have become duplicates: a requested number takes precedence.
    as_wide = corrected.n_neurons == network.n_neurons
    return corrected if as_wide or not plan.limits.exact else network


def _solved_by_loss(
    network: ShallowNetwork, rows: Rows, plan: Plan, context: FitContext
) -> ShallowNetwork:
    """Correct with weights on large residuals, and solve for the outer weights by the loss."""
    rounds, weighting = _Rounds(network, rows, plan, None, context), reweighting(plan.loss)
    first, best = rounds.W, (np.inf, rounds.W)
    for _ in range(plan.settings.reweighting.n_rounds):
        largest = float(np.abs(rounds.residuals).max())
        best = min(best, (largest, rounds.W), key=lambda pair: pair[0])
        if not rounds.correct(weighting(rounds.residuals, rows.weights)):
            break
    found = [rounds.solved(W) for W in (first, best[1])]
    if plan.limits.exact:
        found = [n for n in found if n.n_neurons == network.n_neurons] or [network]

    return min(found, key=lambda n: plan.loss.size(residuals_of(n, rows), rows.weights))


def shifted(
    network: ShallowNetwork, rows: Rows, loss: Loss, journal: Journal = NO_JOURNAL
) -> ShallowNetwork:
    """Return the network with the intercept that is best for the loss, if it has one."""
    if network.intercept is None:
        return network
    by = best_shift(residuals_of(network, rows), rows, loss, journal)
    return replace(network, intercept=network.intercept + by, path_factor=None)


def best_shift(
    residuals: Float64, rows: Rows, loss: Loss, journal: Journal = NO_JOURNAL
) -> Float64:
    """Return the constant that is best for the loss of residuals, for each output."""

    def found(_: Journal) -> tuple[Float64]:
        return (loss.fit(np.ones((len(rows), 1)), residuals, rows.weights).weights[0],)

    return np.asarray(journal.once(found)[0])
