"""The start of a classifier's correction: a network that grows in stages.

The plain growth adds neuron after neuron to a network that is never revised. Here the network
begins as a line, and every stage multiplies the number of neurons. The new ones come from one scan
for the residual `y - p`, and all weights are corrected jointly by a few steps. All stages together
cost little more than the last, less than a tenth of a plain growth, and the corrected networks are
as good.
"""

from dataclasses import replace
from math import ceil

import numpy as np

from greedynet.correction.log_loss_descent import PreparedRows, Weights
from greedynet.fitting.growth import Growth
from greedynet.fitting.make_search import least_active
from greedynet.fitting.objectives.class_blend import shares_weights
from greedynet.fitting.objectives.trials import Trials, stage_ridge_for
from greedynet.fitting.problem import Problem
from greedynet.losses.logistic import log_loss, losses_and_residual
from greedynet.search.batch import BatchSearch
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.types import Float64

# A class probability has the curvature `p (1 - p)`, at most a quarter: a residual of `y - p` asks
# for logits that are several times as large. Many neurons at once need less: the best is taken.
_LOGITS_PER_RESIDUAL = (3.0, 1.5, 0.75, 0.375)


def staged_weights(problem: Problem, n_neurons: int, context: FitContext) -> Weights:
    """Return a network of `n_neurons` neurons, or of as many as can be found.

    Parameters
    ----------
    problem : Problem
        With the scaled training rows.
    n_neurons : int
    context : FitContext
        Its journal contains the neurons and networks of an earlier run.
    """

    def grown(journal: Journal) -> tuple[Float64, Float64, Float64]:
        network = _Stages(problem, context.with_journal(journal)).grown(n_neurons)
        return network.W, network.C, network.L

    return Weights(*context.journal.once(grown))


def grown_weights(growth: Growth, problem: Problem) -> Weights:
    """Return weights that reproduce the grown logits, by least squares with a small ridge."""
    factor, r, rows = growth.factor, growth.n_affine, problem.rows
    points = growth.points.reshape(-1, rows.X.shape[1] + 1)
    logits, A = factor.Q @ factor.z, factor.Q[:, :r]
    H = problem.coordinates.neuron_columns(rows, points, problem.plan.activation)
    norms = np.linalg.norm(H, axis=0)
    H = H / norms
    outside = H - A @ (A.T @ H)
    C = np.linalg.solve(outside.T @ outside + 1e-3 * np.eye(len(points)), outside.T @ logits)
    L = np.zeros((points.shape[1], logits.shape[1]))
    if r:
        # The orthonormal columns span the affine ones, up to a triangular factor.
        affine = np.linalg.solve(factor.R[:r, :r], A.T @ (logits - H @ C))
        L = problem.coordinates.affine.to_weights @ affine
    return Weights(points, C / norms[:, None], L).balanced(problem.plan.activation)


class _Stages:
    """The rows, their search, and the correction after each stage."""

    def __init__(self, problem: Problem, context: FitContext) -> None:
        rows, plan = problem.rows, problem.plan
        self._rows, self._plan, self._context = rows, plan, context
        self._prepared = PreparedRows.of(rows, single=True)
        self._settings = plan.settings.logistic
        self._trials = Trials(plan, context, problem.shape)
        least = least_active(len(rows), rows.n_features, plan)
        affine = np.linalg.qr(problem.coordinates.affine_columns(rows))[0]
        self._search = BatchSearch(rows, affine, plan.activation, least, plan.random_state)

    def grown(self, n_neurons: int) -> Weights:
        """Return the network after the last stage."""
        network, n_before, settings = self._affine(), -1, self._settings
        while n_before < network.n_neurons < n_neurons:
            self._context.check()
            if network.n_neurons and self._context.clock.is_over():
                break
            n_before = network.n_neurons
            network = self._corrected(network)
            width = max(settings.first_stage, ceil(settings.stage_growth * n_before))
            network = self._wider(network, min(width, n_neurons))
        return network

    def _affine(self) -> Weights:
        """Return a network without neurons, of which the first correction makes a line."""
        start = shares_weights(self._rows)
        return start if self._plan.linear_term else replace(start, L=np.zeros_like(start.L))

    def _corrected(self, network: Weights) -> Weights:
        settings, alpha = self._settings, self._plan.alpha
        ridge = stage_ridge_for(self._rows, settings) if alpha is None else alpha
        return self._trials.descend(self._prepared, network, ridge, settings.stage_steps)

    def _wider(self, network: Weights, n_neurons: int) -> Weights:
        """Return the network with new neurons for its residual."""
        rows, sigma = self._rows, self._plan.activation
        logits = network.logits(rows.X, sigma)
        residual = rows.weighted(losses_and_residual(logits, rows.Y)[1])
        by_size = np.argsort(-network.sizes, kind="stable")
        W, C = self._search.propose(residual, network.W[by_size], n_neurons - network.n_neurons)
        new = Weights(W, C, np.zeros_like(network.L))
        more = new.logits(rows.X, sigma)
        times = min(
            _LOGITS_PER_RESIDUAL, key=lambda f: log_loss(logits + f * more, rows.Y, rows.weights)
        )
        new = replace(new, C=times * C).balanced(sigma)
        return Weights(np.r_[network.W, new.W], np.r_[network.C, new.C], network.L)
