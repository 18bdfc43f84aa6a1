"""`ClassGrowth`: networks of classification, with logits that share one hidden layer.

    shares of the classes  ->  logistic regression  ->  networks of several ridges and widths

A network begins as a line, and every stage multiplies the number of neurons. The new ones come from
one scan for the residual `y - p`, and all weights are corrected jointly by a few steps; so all
stages together cost little more than the last. It is then corrected for several ridges, and pruned.
The logits of the three are finally blended,

    f = (1 - a - b) f_shares + a f_line + b f_network,        a, b >= 0,  a + b <= 1,

with the weights that are best on held-out rows: a blend is a network of the same form, and with few
rows it is better than any of its parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.log_loss_descent import PreparedRows, Weights, descend
from greedynet.fitting.candidates import GROWN_WITH, Blend, ridges_for
from greedynet.fitting.growth import Growth, Start, State
from greedynet.fitting.make_search import least_active
from greedynet.fitting.problem import Problem
from greedynet.losses.logistic import log_loss, losses_and_residual
from greedynet.model.candidate import LINE, NETWORK, SHARES, Candidate
from greedynet.model.coordinates import in_shape
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.splitting import n_of_others
from greedynet.search.batch import BatchSearch
from greedynet.support.types import Float64

# A class probability has the curvature `p (1 - p)`, at most a quarter: a residual of `y - p` asks
# for logits that are several times as large. Many neurons at once need less: the best is taken.
_LOGITS_PER_RESIDUAL = (3.0, 1.5, 0.75, 0.375)


class ClassGrowth(Growth):
    """Networks of a classifier on the rows of a problem."""

    state_type = Weights

    @cached_property
    def _prepared(self) -> PreparedRows:
        return PreparedRows.of(self.problem.rows, single=True)

    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate, given those that were fitted before on the same rows."""
        if isinstance(candidate, Blend):
            return self._blend(candidate, known)
        if candidate.kind == SHARES:
            return shares_weights(self.problem.rows)
        near = _nearest(candidate, known)
        if candidate.kind == LINE:
            start = shares_weights(self.problem.rows) if near is None else known[near]
            return self.descend(start, _ridge(candidate), 100)
        if candidate.pruned:
            assert near is not None
            start = largest(known[near], candidate.width)
        else:
            start = self._staged(candidate.width) if near is None else known[near]
        # The first time, with twice the steps; fewer where they lower the objective by 0.1 %.
        n_steps = self.problem.settings.logistic.fold_steps * (2 if near is None else 1)
        found = self.descend(start, _ridge(candidate), n_steps, 1e-3)
        return found if self.problem.plan.takes_last else without_negligible(found)

    def _blend(self, candidate: Blend, known: Mapping[Candidate, State]) -> Weights:
        """Return the blend of three networks, of which only the last has neurons."""
        shares = shares_weights(self.problem.rows)
        line = shares if candidate.line is None else known[candidate.line]
        network = shares if candidate.network is None else known[candidate.network]
        rest = 1.0 - candidate.a - candidate.b
        L = rest * shares.L + candidate.a * line.L + candidate.b * network.L
        return Weights(network.W, candidate.b * network.C, L)

    def descend(self, start: Weights, ridge: float, n_steps: int, enough: float = 0.0) -> Weights:
        """Correct all weights jointly, in single precision."""
        problem, plan = self.problem, self.problem.plan
        return descend(
            self._prepared,
            start,
            ridge,
            n_steps,
            plan.activation,
            linear_term=plan.linear_term,
            shape=problem.shape,
            enough=enough,
            context=problem.context,
        )

    # Growing in stages

    def _staged(self, n_neurons: int) -> Weights:
        """Return a network of `n_neurons` neurons, or of as many as can be found."""
        problem, settings = self.problem, self.problem.settings
        ridge = problem.plan.alpha
        if ridge is None:
            ridge = float(ridges_for(problem.rows, settings.logistic)[GROWN_WITH])
        network, n_before = shares_weights(problem.rows), -1
        if not problem.plan.linear_term:
            network = replace(network, L=np.zeros_like(network.L))
        while n_before < network.n_neurons < n_neurons:
            problem.context.check()
            if network.n_neurons and problem.context.clock.is_over():
                break
            n_before = network.n_neurons
            network = self.descend(network, ridge, 10)
            width = max(settings.logistic.first_stage, ceil(settings.ladder.growth * n_before))
            network = self._wider(network, min(width, n_neurons))
        return network

    @cached_property
    def _search(self) -> BatchSearch:
        rows, plan = self.problem.rows, self.problem.plan
        least = least_active(len(rows), rows.n_features, plan)
        affine = np.linalg.qr(self.problem.coordinates.affine_columns(rows))[0]
        return BatchSearch(rows, affine, plan.activation, least, plan.random_state)

    def _wider(self, network: Weights, n_neurons: int) -> Weights:
        """Return the network with new neurons for its residual, many at once.

        Their outer weights, those of least squares, get the best factor.
        """
        problem, rows, sigma = self.problem, self.problem.rows, self.problem.plan.activation
        logits, n = network.logits(rows.X, sigma), network.n_neurons
        residual = losses_and_residual(logits, rows.Y)[1]
        if problem.plan.search == "continuous":
            by_size = np.argsort(-network.sizes, kind="stable")
            more = n_neurons - n
            W, C = self._search.propose(rows.weighted(residual), network.W[by_size], more)
        else:
            target = replace(rows, Y=residual)
            W = problem.more_neurons(network.W, n_neurons - n, n, target)[n:]
            H, Y = problem.coordinates.neuron_columns(target, W, sigma), target.weighted(residual)
            C = np.linalg.solve(H.T @ H + 1e-6 * np.trace(H.T @ H) * np.eye(len(W)), H.T @ Y)
        new = Weights(W, C, np.zeros_like(network.L))
        more_logits = new.logits(rows.X, sigma)

        def loss(factor: float) -> float:
            return log_loss(logits + factor * more_logits, rows.Y, rows.weights)

        new = replace(new, C=min(_LOGITS_PER_RESIDUAL, key=loss) * C).balanced(sigma)
        return Weights(np.r_[network.W, new.W], np.r_[network.C, new.C], network.L)

    # The result

    def refitted(self, candidate: Candidate, start: Start, fold: Problem) -> Weights:
        """Return a network of a fold, or each part of a blend, corrected on these rows.

        The ridge is relative to the mean loss: it decreases with the number of rows.
        """
        if isinstance(candidate, Blend):
            parts = [part for part in (candidate.line, candidate.network) if part is not None]
            return self._blend(candidate, {c: self.refitted(c, start, fold) for c in parts})
        settings, problem = self.problem.settings.logistic, self.problem
        if candidate.kind == SHARES:
            return shares_weights(problem.rows)
        if fold is problem:
            return start(candidate)
        share = self._share(fold)
        n_steps = settings.fold_steps if share > 0.5 else settings.final_steps
        begun = start(candidate)
        problem.context.tell(f"correcting {begun.n_neurons} neurons on all rows")
        return self.descend(begun, share * _ridge(candidate), n_steps, 1e-4)

    def _share(self, fold: Problem) -> float:
        """Return the factor of a fold's ridge for these rows."""
        if fold is self.problem or self.problem.plan.alpha is not None:
            return 1.0
        return min(1.0, n_of_others(fold.rows) / n_of_others(self.problem.rows))

    def ridge(self, candidate: Candidate, states: Sequence[State], fold: Problem) -> float | None:
        """Return the ridge of a network or regression; None for the shares of the classes."""
        return None if candidate.ridge is None else self._share(fold) * _ridge(candidate)

    def _outputs(self, state: Weights, X: NDArray[np.floating]) -> Float64:
        """Return the logits of scaled inputs."""
        return state.logits(X, self.problem.plan.activation)

    def training_error(self, states: Sequence[State]) -> float:
        """Return the mean log-loss of these rows."""
        return self.loss(states[0])

    def loss(self, state: Weights) -> float:
        """Return the mean log-loss of these rows."""
        rows = self.problem.rows
        return log_loss(self._outputs(state, rows.X), rows.Y, rows.weights)

    def _network(self, states: Sequence[Weights]) -> Network:
        (weights,) = states
        network = self.problem.network(weights.W, weights.C, weights.L)
        shape = self.problem.plan.shape
        return network if shape is None else in_shape(network, shape)

    def _carried(self, state: Weights, inputs: InputScaling) -> Weights:
        return state.carried(inputs, self.problem.coordinates.inputs)

    def packed(self, state: Weights) -> list[Any]:
        """Return the fields of a state."""
        return [state.W, state.C, state.L]

    def unpacked(self, values: Sequence[Any]) -> Weights:
        """Return a state from its fields."""
        W, C, L = (np.ascontiguousarray(value) for value in values)
        return Weights(W, C, L)


def _nearest(candidate: Candidate, known: Mapping[Candidate, State]) -> Candidate | None:
    """Return the fitted candidate of the same kind from which a descent starts."""
    alike = [c for c in known if c.kind == candidate.kind and c.ridge is not None]
    if candidate.kind == NETWORK:
        alike = [c for c in alike if c.width >= candidate.width]
        if candidate.pruned:
            alike = [c for c in alike if c.ridge == candidate.ridge and c.width > candidate.width]
        else:
            alike = [c for c in alike if not c.pruned]
    if not alike:
        return None
    ridge = _ridge(candidate)
    return min(alike, key=lambda c: (c.width, abs(np.log(_ridge(c) / ridge)) if ridge else 0.0))


def _ridge(candidate: Candidate) -> float:
    assert candidate.ridge is not None
    return max(candidate.ridge, 0.0)


def shares_weights(rows: Rows) -> Weights:
    """Return the network whose logits are those of the class shares."""
    shares = np.average(rows.Y, axis=0, weights=rows.weights)
    # Half a row of an absent class keeps its logit finite.
    shares = np.clip(shares, 0.5 / len(rows), 1 - 0.5 / len(rows))
    constant = np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares)
    L = np.zeros((rows.n_features + 1, len(shares)))
    L[-1] = constant - (0.0 if len(shares) == 1 else constant.mean())
    return Weights(np.zeros((0, rows.n_features + 1)), np.zeros((0, len(shares))), L)


def largest(network: Weights, n_neurons: int) -> Weights:
    """Return the network of the largest neurons, in their order."""
    return network.take(np.sort(np.argsort(-network.sizes, kind="stable")[:n_neurons]))


def without_negligible(network: Weights) -> Weights:
    """Remove neurons that are next to nothing beside the largest."""
    most = max(network.sizes.max(initial=0.0), 1e-12)
    return network.take(np.flatnonzero(network.sizes > 1e-3 * most))
