"""Joint correction of networks of a given shape (`rows/shape.py`).

The outer weight of every neuron has a sign `s_j`, and its column is that of a monotone function,

    F_j = relu(z_j) - sum_k w_jk x_k [s_j sigma_k w_jk < 0],    z = X1 W'.

A network of the shape is a sum of such columns with outer weights of these signs, and of the inputs
with slopes of the signs of the shape. For given inner weights this is least squares with signs
(`linalg/weights.py`); its reduced objective is minimised as for all networks, with the derivative

    dF_j / dw_jk = (1[z_j > 0] - [s_j sigma_k w_jk < 0]) x_k.

Inner weights along convex columns are zero for neurons that are bent in the wrong way.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor

from greedynet.activations import Activation, ReLU
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.reduced_problem import Point, ReducedProblem
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.linalg.weights import signed_weights
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.context import FitContext
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# Columns whose weights are zero have a ridge so much larger than their norm.
_PINNED = 1e9


class ShapedProblem(ReducedProblem):
    """Least squares over networks of a shape, given the signs of their neurons, 1 or -1.

    Affine columns are the constant and the inputs, sample weights included; none without an affine
    term. The activation has slopes between 0 and 1.
    """

    def __init__(
        self,
        rows: Rows,
        affine: Float64,
        activation: Activation,
        pool: Pool,
        shape: Shape,
        signs: Float64,
    ) -> None:
        super().__init__(rows, affine, activation, pool)
        self.shape, self.signs = shape, signs

    @property
    def all_signs(self) -> Float64:
        """Signs of the affine weights, 0 for any, and of the outer ones."""
        of_affine = np.append(0.0, self.shape.monotone)[: self.n_affine]
        return np.append(of_affine, self.signs)

    def columns(self, W: Float64, Z: Float64, part: slice) -> Float64:
        """Return the columns of monotone neurons on a part of the rows."""
        values = self.activation.value(Z)
        return values - self._X1[part] @ self.shape.taken(W, self.signs).T

    def derivatives(self, at: Point, rows: slice, block: slice) -> Float64:
        """Return the derivative of each neuron of a block, on some rows."""
        takes = self.shape.takes(at.W[block], self.signs[block])
        return super().derivatives(at, rows, block) - takes * self.scaled_X1[rows, None, :]

    def pull(self, at: Point, part: slice, block: slice) -> Float64:
        """Return minus half the gradient of the squared error on a part of the rows."""
        takes = self.shape.takes(at.W[block], self.signs[block])
        by_slopes = (at.outer[block] @ at.residual[part].T) @ self.scaled_X1[part]
        return super().pull(at, part, block) - takes * by_slopes

    def _solved(
        self, W: Float64, Z: Float64, F: Float64, gram: Float64, moments: Float64, ridge: float
    ) -> Point:
        M = self.penalised(gram, ridge)
        weights, free = signed_weights(M, moments[:, 0], self.all_signs)
        # So that steps, prunings and counts know only the columns that are free.
        np.einsum("ii->i", M)[~free] *= _PINNED
        cholesky = np.asarray(cho_factor(M, lower=True, overwrite_a=True, check_finite=False)[0])
        residual = self.Y - F @ weights[:, None]
        size = float(np.sum(W**2) + np.sum(weights[self.n_affine :] ** 2))
        error = float(np.sum(residual**2))
        return Point(W, Z, F, gram, moments, cholesky, weights[:, None], residual, error, size)


class ShapedProjection(VariableProjection):
    """A network of a given shape on scaled rows, whose neurons are corrected jointly.

    Rows have one output; the shape is along the scaled columns. The affine columns are the constant
    and the inputs, sample weights included; none without an affine term. The signs of the outer
    weights are those that do more for the neurons given.
    """

    def __init__(
        self,
        rows: Rows,
        affine: Float64,
        W: Float64,
        shape: Shape,
        ridge: float | None = None,
        activation: Activation | None = None,
        context: FitContext | None = None,
        max_block: int = MAX_BLOCK,
    ) -> None:
        self.shape = shape
        sigma = activation or ReLU()
        W, self.signs = _signed(rows, affine, W, shape, ridge, sigma)
        self._limits = shape.limits(self.signs)
        super().__init__(rows, affine, W, ridge, sigma, context, max_block)

    def _reduced(self, rows: Rows, affine: Float64, activation: Activation) -> ShapedProblem:
        return ShapedProblem(rows, affine, activation, self._context.pool, self.shape, self.signs)

    @property
    def residual(self) -> Float64:
        """What the network leaves of the outputs, sample weights included."""
        return np.asarray(self._at.residual[:, 0])

    @property
    def free_columns(self) -> Float64:
        """The columns whose weights are not held at zero, sample weights included."""
        return np.asarray(self._at.F[:, self._at.weights[:, 0] != 0])

    def at(self, W: Float64) -> "ShapedProjection":
        """Return the network of other neurons, with the same ridge."""
        return ShapedProjection(
            self._rows,
            self._problem.affine,
            W,
            self.shape,
            self.ridge,
            self._problem.activation,
            self._context,
            self._max_block,
        )

    def predict(self, X: NDArray[np.floating], affine: Float64) -> Float64:
        """Return the scaled outputs on other rows, given the affine columns on them."""
        taken = self.shape.taken(self.points, self.signs)[:, :-1]
        with np.errstate(over="ignore", invalid="ignore"):
            return super().predict(X, affine) - X @ taken.T @ self._at.outer

    def settle(self, n_steps: int, enough: float = 0.0) -> "ShapedProjection":
        """Correct while the ridge is updated by the evidence, and leave out what is dead."""
        super().settle(n_steps, enough)
        alive = self.alive
        if not alive.all():
            self._set(self._at.W[alive], self.signs[alive])
        return self

    def systems(self) -> list[tuple[slice, Float64]]:
        """Return blocks and matrices; before, neurons held at zero are tried with other signs."""
        self._turn()
        return super().systems()

    def _turn(self) -> None:
        """Give neurons whose outer weights are held at zero the other sign, if that helps."""
        held = self._at.outer[:, 0] == 0
        if not held.any():
            return
        before, signs = self._at, self.signs
        turned = np.where(held, -signs, signs)
        self._set(np.clip(before.W, *self.shape.limits(turned)), turned)
        if not self._at.objective(self.ridge) < before.objective(self.ridge):
            self._set(before.W, signs)

    def _set(self, W: Float64, signs: Float64) -> None:
        """Solve for the outer weights of other inner weights and signs."""
        self.signs, self._limits = signs, self.shape.limits(signs)
        self._problem = self._reduced(self._rows, self._problem.affine, self._problem.activation)
        self._move(W)

    def _count(self, systems: list[Float64]) -> float:
        # Weights that are held at zero are no parameters.
        return super()._count(systems) - np.count_nonzero(self._at.weights == 0)

    def _descent(self, block: slice) -> Float64:
        bent = self._limits[1][block] == 0
        return np.where(bent, 0.0, super()._descent(block))

    def _within(self, W: Float64) -> Float64:
        return np.clip(W, *self._limits)


def _signed(
    rows: Rows,
    affine: Float64,
    W: Float64,
    shape: Shape,
    ridge: float | None,
    activation: Activation,
) -> tuple[Float64, Float64]:
    """Return the neurons of a shape nearest to `W`, and the signs of their outer weights.

    Every neuron is tried with both signs at once, and has the sign that does more.
    """
    k = len(W)
    signs = np.repeat([1.0, -1.0], k)
    both = np.clip(np.concatenate([W, W]), *shape.limits(signs))
    problem = ShapedProblem(rows, affine, activation, Pool(), shape, signs)
    at = problem.at(both, problem.first_ridge if ridge is None else ridge)
    does = np.abs(at.outer[:, 0]) * np.linalg.norm(at.columns, axis=0)
    is_up = does[:k] >= does[k:]
    return np.where(is_up[:, None], both[:k], both[k:]), np.where(is_up, 1.0, -1.0)


def shaped_weights(
    gram: Gram, points: Float64, shape: Shape, signs: Float64, ridge: Float64
) -> Float64:
    """Return affine and outer weights of a network of a shape, from products of its columns.

    With the products of `F = [1, X, relu(X1 W')]` and the matrix `T` that takes slopes away from
    the columns of neurons, those of the monotone columns `F T` are `T' F'F T`.

    The products are those of the constant, the inputs and the neurons; of the neurons without an
    affine term. The ridge is on the outer weights.
    """
    k = len(points)
    r = len(gram.G) - k
    T = np.eye(r + k)
    T[1:r, r:] = -shape.taken(points, signs)[:, :-1].T
    signed = Gram(T.T @ gram.G @ T, T.T @ gram.b, gram.square)
    M = signed.regular(np.append(np.zeros(r), ridge))
    of_all = np.concatenate([np.append(0.0, shape.monotone)[:r], signs])
    return np.asarray(T @ signed_weights(M, signed.b[:, 0], of_all)[0])
