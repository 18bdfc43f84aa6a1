"""Joint correction of neurons whose weights have the signs of a shape (`rows/shape.py`).

The outer weight of every neuron has a sign `s_j`, by which the shape limits its inner weights to
one side of zero. The outer weights of given inner ones are those of least squares with these signs
(`linalg/bounded.py`). Inner weights at a limit that would move beyond it stay; the others take the
step of all networks, and are cut off at their limits.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor

from greedynet.activations import Activation, ReLU, odd_part
from greedynet.correction.gauss_newton import descent
from greedynet.correction.reduced_problem import Point, ReducedProblem
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.linalg.bounded import signed_weights
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.context import FitContext
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# Columns whose weights are zero have a ridge so much larger than their norm.
_PINNED = 1e9


class SignedProblem(ReducedProblem):
    """Least squares in which the affine and outer weights have given signs.

    Parameters
    ----------
    rows, affine, activation, pool
        As for `ReducedProblem`.
    signs : ndarray of shape (n_affine + k,)
        1, -1 or 0.
    """

    def __init__(
        self, rows: Rows, affine: Float64, activation: Activation, pool: Pool, signs: Float64
    ) -> None:
        super().__init__(rows, affine, activation, pool)
        self.signs = signs

    def _solved(
        self, W: Float64, Z: Float64, F: Float64, gram: Float64, moments: Float64, ridge: float
    ) -> Point:
        M = self.penalised(gram, ridge)
        weights, free = signed_weights(M, moments[:, 0], self.signs)
        # So that steps, prunings and counts know only the columns that are free.
        np.einsum("ii->i", M)[~free] *= _PINNED
        cholesky = np.asarray(cho_factor(M, lower=True, overwrite_a=True, check_finite=False)[0])
        residual = self.Y - F @ weights[:, None]
        size = float(np.sum(W**2) + np.sum(weights[self.n_affine :] ** 2))
        error = float(np.sum(residual**2))
        return Point(W, Z, F, gram, moments, cholesky, weights[:, None], residual, error, size)


class ShapedProjection(VariableProjection):
    """A network of a given shape on scaled rows, whose neurons are corrected jointly.

    Parameters
    ----------
    rows : Rows
        Scaled training rows, of one output.
    affine : AffineTerm
        Of single columns.
    shape : Shape
        Along the scaled columns.
    W : ndarray of shape (k, d + 1)
        Inner weights of neurons of any shape, bias last.
    ridge, activation, judged, context, max_block
        As for `VariableProjection`.

    Attributes
    ----------
    signs : ndarray of shape (k,)
        Signs of the outer weights.
    of_affine : ndarray of shape (n_affine,)
        Signs of the affine weights, 0 for any.
    """

    def __init__(
        self,
        rows: Rows,
        affine: AffineTerm,
        shape: Shape,
        W: Float64,
        ridge: float | None = None,
        activation: Activation | None = None,
        judged: NDArray[np.bool_] | None = None,
        context: FitContext | None = None,
        max_block: int = MAX_BLOCK,
    ) -> None:
        self._term, self.shape = affine, shape
        columns = rows.weighted(affine.evaluate(rows.X))
        self.of_affine = np.sign(shape.monotone @ affine.to_weights[:-1])
        sigma = activation or ReLU()
        W, self.signs = self._oriented(rows, columns, W, ridge, sigma)
        self._limits = shape.limits(self.signs)
        super().__init__(rows, columns, W, ridge, sigma, judged, context, max_block)

    def _reduced(self, rows: Rows, affine: Float64, activation: Activation) -> ReducedProblem:
        signs = np.append(self.of_affine, self.signs)
        return SignedProblem(rows, affine, activation, self._context.pool, signs)

    def _oriented(
        self, rows: Rows, columns: Float64, W: Float64, ridge: float | None, sigma: Activation
    ) -> tuple[Float64, Float64]:
        """Return inner weights of the shape, and the signs of their outer weights.

        Every neuron is tried with both signs at once, and has the sign that does more.
        """
        k, mirrored = len(W), odd_part(sigma) is not None
        ups = self.shape.oriented(W, np.ones(k), mirrored=mirrored)
        downs = self.shape.oriented(W, -np.ones(k), mirrored=mirrored)
        signs = np.concatenate([self.of_affine, np.ones(k), -np.ones(k)])
        both = SignedProblem(rows, columns, sigma, Pool(), signs)
        at = both.at(np.concatenate([ups, downs]), both.first_ridge if ridge is None else ridge)
        does = np.abs(at.outer[:, 0]) * np.linalg.norm(at.columns, axis=0)
        is_up = does[:k] >= does[k:]
        return np.where(is_up[:, None], ups, downs), np.where(is_up, 1.0, -1.0)

    @property
    def free_columns(self) -> Float64:
        """The columns whose weights are not held at zero, sample weights included."""
        return np.asarray(self._at.F[:, self._at.weights[:, 0] != 0])

    def at(self, W: Float64) -> "ShapedProjection":
        """Return the network of other neurons, with the same ridge."""
        return ShapedProjection(
            self._rows,
            self._term,
            self.shape,
            W,
            self.ridge,
            self._problem.activation,
            self._judged,
            self._context,
            self._max_block,
        )

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
        """Turn neurons whose outer weights are held at zero to the other sign, if that helps."""
        held = self._at.outer[:, 0] == 0
        if not held.any():
            return
        before, W, signs = self._at, self._at.W.copy(), self.signs
        turned = np.where(held, -signs, signs)
        W[held] = self.shape.oriented(W[held], turned[held], mirrored=True)
        self._set(W, turned)
        if not self._at.objective(self.ridge) < before.objective(self.ridge):
            self._set(before.W, signs)

    def _set(self, W: Float64, signs: Float64) -> None:
        """Solve for the outer weights of other inner weights and signs."""
        self.signs, self._limits = signs, self.shape.limits(signs)
        self._problem = self._reduced(self._rows, self._problem.affine, self._problem.activation)
        self._move(W)

    def _system(self, block: slice) -> Float64:
        S = super()._system(block)
        held = self._held(block, descent(self._problem, self._at, self.ridge, block)).ravel()
        S[held], S[:, held] = 0.0, 0.0
        return S

    def _held(self, block: slice, down: Float64) -> NDArray[np.bool_]:
        """Whether inner weights are at a limit, and would move beyond it."""
        W, (low, high) = self._at.W[block], self._limits
        return ((low[block] >= W) & (down <= 0)) | ((high[block] <= W) & (down >= 0))

    def _descent(self, block: slice) -> Float64:
        down = super()._descent(block)
        return np.where(self._held(block, down), 0.0, down)

    def _count(self, systems: list[Float64]) -> float:
        # Weights that are held at zero are no parameters.
        return super()._count(systems) - np.count_nonzero(self._at.weights == 0)

    def _within(self, W: Float64) -> Float64:
        return np.clip(W, *self._limits)
