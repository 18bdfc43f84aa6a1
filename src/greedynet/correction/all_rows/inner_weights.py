"""The final correction of the inner weights of a network grown on a sample, on all rows.

With `k` neurons of `p` inner weights each, a correction on `m` sampled rows leaves a fraction `k p
/ m` of the noise in the network. With all rows this is negligible, and a step only needs sums over
them:

    F'F, F'Y                                             outer weights and objective at `W`,
    sum_i sigma'(W x_i) o (C r_i) x_i',  r = Y - F c     the gradient there.

The Gauss-Newton matrix `S` (see `gauss_newton`) remains that of the sample: it only affects
the direction of the step. A step is accepted if the objective over all rows decreases, so it takes
one pass to try and one for the next gradient. For more than a few million rows, a sample of a
million replaces them.
"""

from dataclasses import dataclass

import numpy as np

from greedynet.activations import Activation
from greedynet.correction.all_rows.passes import Sums
from greedynet.correction.all_rows.products import Gram, OnNeurons
from greedynet.correction.reduced_problem import EDGE
from greedynet.correction.variable_projection import VariableProjection
from greedynet.linalg.weights import damped_step
from greedynet.model.coordinates import Coordinates
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

_MORE_DAMPING, _LESS_DAMPING = 6.0, 3.0


@dataclass(frozen=True, eq=False)
class Pulls(OnNeurons):
    """The `Work` of the gradient with respect to the inner weights, given the other weights."""

    weights: Float64

    @property
    def width(self) -> int:
        """Number of affine columns, neurons and their slopes."""
        return super().width + len(self.points)

    def of(self, rows: Rows) -> Float64:
        """Return `sum_i w_i sigma'(W x_i) o (C r_i) x_i'`, of shape (k, d + 1)."""
        r, inputs = self.coordinates.n_affine, self.coordinates.inputs
        F = self.before_activation(rows)
        slope = self.activation.slope(F[r:] - EDGE)
        residual = self.coordinates.outputs.apply(rows.Y).T - self.weights.T @ self.activate(F)
        if rows.weights is not None:
            residual *= rows.weights
        pull = slope * (self.weights[r:] @ residual)
        total = pull.sum(axis=1, keepdims=True)
        return inputs.scaled_gradient(pull @ rows.X, total)

    def join(self, one: Float64, other: Float64) -> Float64:
        """Return the sum of two gradients."""
        return one + other


def corrected_on_all_rows(
    state: VariableProjection,
    sums: Sums,
    coordinates: Coordinates,
    activation: Activation,
    n_tries: int,
) -> VariableProjection:
    """Return the network with its neurons corrected on all rows, or on a large sample.

    The network on a sample provides the ridge and the Gauss-Newton matrix. Steps are tried up to
    `n_tries` times.
    """
    times = sums.n_rows / state.n_rows
    # The matrix of the sample is not that of all rows: the first step is strongly damped.
    state.damping = 0.5
    # The ridge for given noise does not depend on the number of rows.
    ridge = state.ridge
    now = _Point.at(state.points, sums, coordinates, activation, ridge)
    gradient: Float64 | None = None
    for _ in range(n_tries if state.n_neurons else 0):
        if now.error < 1e-10:
            break  # differences of sums have too few digits
        if gradient is None:
            pulls = Pulls(coordinates.without_rows(), now.points, activation, now.weights)
            gradient = np.ascontiguousarray(sums.total(pulls)) - ridge * now.points
        step = _step(state, gradient / times)
        tried = _Point.at(now.points + step, sums, coordinates, activation, ridge)
        fall = now.objective - tried.objective
        moved = state.moved(tried.points)
        # A neuron that is inactive on the whole sample would make the next matrix singular.
        if fall <= 0 or (state.alive & ~moved.alive).any():
            state.damping *= _MORE_DAMPING
            continue
        # In the quadratic model the objective decreases by at least `step . gradient`.
        as_expected = fall > 0.5 * float(np.sum(step * gradient))
        moved.damping = state.damping / (_LESS_DAMPING if as_expected else 1.0)
        worth = fall > 3e-3 * now.objective
        state, now, gradient = moved, tried, None
        if not worth:
            break
    return state


def _step(state: VariableProjection, gradient: Float64) -> Float64:
    step = np.zeros_like(gradient)
    for block, S in state.systems():
        found = damped_step(S, gradient[block], state.ridge, state.damping)
        step[block] = 0.0 if found is None else found
    return step


@dataclass(frozen=True, eq=False)
class _Point:
    """Inner weights, with the outer weights and the penalised objective over all rows."""

    points: Float64
    weights: Float64
    objective: float
    error: float

    @staticmethod
    def at(
        points: Float64, sums: Sums, coordinates: Coordinates, activation: Activation, ridge: float
    ) -> "_Point":
        gram: Gram = sums.gram(coordinates, points, activation)
        r = coordinates.n_affine
        weights = gram.weights(np.repeat([0.0, ridge], [r, len(points)]))
        error = gram.rss(weights)
        size = float(np.sum(points**2) + np.sum(weights[r:] ** 2))
        return _Point(points, weights, error + ridge * size, error / (gram.square or 1.0))
