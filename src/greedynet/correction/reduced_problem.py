"""`ReducedProblem`: least squares as a function of the inner weights, the outer ones eliminated.

With `F = [A, sigma(X1 W')]`, where `A` are the affine columns, the outer weights that minimise

    || y - F [a; c] ||^2 + lam (||W||^2 + ||c||^2)

for given `W` are those of a ridge regression, in which the affine weights `a` are not penalised.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from greedynet.activations import Activation, degree_of
from greedynet.linalg.unlocked import add_square, solve_right
from greedynet.rows.rows import Rows
from greedynet.support.magnitudes import TINY
from greedynet.support.threads import Pool, parts_of
from greedynet.support.types import Float64

_FIRST_RIDGE = 1e-6
# Smooth neurons represent functions by differences: large weights do not indicate noise.
_FIRST_RIDGE_SMOOTH = 1e-10
_JITTER = 1e-12
# Rows on a kink count as inactive, irrespective of rounding.
EDGE = 1e-12


@dataclass(eq=False)
class Point:
    """Inner weights with all quantities that follow from them at a given ridge.

    Attributes
    ----------
    W : ndarray of shape (k, d + 1)
        Inner weights, bias last.
    Z : ndarray of shape (n_rows, k)
        Values before the activation.
    F : ndarray of shape (n_rows, n_affine + k)
        Affine columns and those of the neurons, sample weights included.
    gram, moments : ndarray
        `F'F` and `F'Y`.
    cholesky : ndarray of shape (n_affine + k, n_affine + k)
        Lower Cholesky factor of `F'F` with the ridge on the neurons.
    weights : ndarray of shape (n_affine + k, n_outputs)
        Weights of the affine columns, then of the neurons.
    residual : ndarray of shape (n_rows, n_outputs)
    error, size : float
        Sums of the squared residual and of the squared weights that are penalised.
    """

    W: Float64
    Z: Float64
    F: Float64
    gram: Float64
    moments: Float64
    cholesky: Float64
    weights: Float64
    residual: Float64
    error: float
    size: float

    @property
    def columns(self) -> Float64:
        """The columns of the neurons."""
        return self.F[:, self.F.shape[1] - len(self.W) :]

    @property
    def outer(self) -> Float64:
        """Weights of the neurons."""
        return self.weights[len(self.weights) - len(self.W) :]

    def objective(self, ridge: float) -> float:
        """Return the penalised squared error."""
        return self.error + ridge * self.size


class ReducedProblem:
    """Scaled rows and an activation: everything but the inner weights and the ridge.

    Affine columns, sample weights included, are not penalised.

    Attributes
    ----------
    parts : list of slice
        Parts of the rows, over which sums are taken, in threads.
    scaled_X1 : ndarray of shape (n_rows, d + 1)
        Inputs and a column of ones, sample weights included; so are outputs.
    """

    def __init__(
        self, rows: Rows, affine: Float64, activation: Activation, pool: Pool | None = None
    ) -> None:
        self.affine, self.activation = affine, activation
        self.pool, self.parts = pool or Pool(), parts_of(len(rows))
        self._X1 = np.column_stack([rows.X, np.ones(len(rows))]).astype(np.float64, copy=False)
        scale = rows.row_scale
        self._scale = None if scale is None else scale[:, None]
        self.scaled_X1 = self._X1 if self._scale is None else self._X1 * self._scale
        self.Y = rows.weighted(rows.Y)

    @property
    def n_affine(self) -> int:
        """Number of affine columns."""
        return self.affine.shape[1]

    @property
    def first_ridge(self) -> float:
        """A small ridge, in proportion to the residual of the affine term."""
        left = self.Y
        if self.n_affine:
            left = left - self.affine @ np.linalg.lstsq(self.affine, left, rcond=None)[0]
        first = _FIRST_RIDGE if degree_of(self.activation) == 1 else _FIRST_RIDGE_SMOOTH
        return first * len(left) * float(np.sqrt(np.mean(left**2)))

    def at(self, W: Float64, ridge: float) -> Point:
        """Solve for the outer weights of given inner weights."""
        n, r = len(self._X1), self.n_affine
        Z, F = np.empty((n, len(W))), np.empty((n, r + len(W)))

        def squares(part: slice) -> tuple[Float64, Float64]:
            np.matmul(self._X1[part], W.T, out=Z[part])
            columns = F[part]
            columns[:, :r] = self.affine[part]
            columns[:, r:] = self.columns(W, Z[part], part)
            if self._scale is not None:
                columns[:, r:] *= self._scale[part]
            return columns.T @ columns, columns.T @ self.Y[part]

        gram, moments = self.pool.sums(squares, self.parts)
        return self._solved(W, Z, F, gram, moments, ridge)

    def columns(self, W: Float64, Z: Float64, part: slice) -> Float64:
        """Return the columns of neurons on a part of the rows, without sample weights."""
        return np.asarray(self.activation.value(Z), dtype=np.float64)

    def derivatives(self, at: Point, rows: slice, block: slice) -> Float64:
        """Return the derivative of each neuron of a block, `(n_rows, k, d + 1)`, on some rows."""
        slope = self.activation.slope(at.Z[rows, block] - EDGE)
        return np.asarray(slope[:, :, None] * self.scaled_X1[rows, None, :])

    def pull(self, at: Point, part: slice, block: slice) -> Float64:
        """Return minus half the gradient of the squared error on a part of the rows."""
        slope = self.activation.slope(at.Z[part, block] - EDGE)
        pull = slope * (at.residual[part] @ at.outer[block].T)
        return np.asarray(pull.T @ self.scaled_X1[part])

    def with_ridge(self, at: Point, ridge: float) -> Point:
        """Solve for the outer weights of the same inner weights at another ridge."""
        return self._solved(at.W, at.Z, at.F, at.gram, at.moments, ridge)

    def _solved(
        self, W: Float64, Z: Float64, F: Float64, gram: Float64, moments: Float64, ridge: float
    ) -> Point:
        cholesky = self.cholesky(gram, ridge)
        weights = cho_solve((cholesky, True), moments, check_finite=False)
        residual = self.Y - F @ weights
        size = float(np.sum(W**2) + np.sum(weights[self.n_affine :] ** 2))
        error = float(np.sum(residual**2))
        return Point(W, Z, F, gram, moments, cholesky, weights, residual, error, size)

    def cholesky(self, gram: Float64, ridge: float) -> Float64:
        """Return the lower Cholesky factor of `F'F` with the ridge on the neurons."""
        M = self.penalised(gram, ridge)
        return np.asarray(cho_factor(M, lower=True, overwrite_a=True, check_finite=False)[0])

    def penalised(self, gram: Float64, ridge: float) -> Float64:
        """Return `F'F` with the ridge on the neurons, and a tiny one on all columns."""
        M = gram.copy()
        diagonal = np.einsum("ii->i", M)
        diagonal += _JITTER * diagonal + (1e-14 * diagonal.max(initial=0.0) + TINY)
        diagonal[self.n_affine :] += ridge
        return M

    def balanced(self, at: Point) -> Float64:
        """Return inner weights scaled to `|w_j|^2 = k |c_j|^2`, if sigma is homogeneous."""
        k = degree_of(self.activation)
        if k is None:
            return at.W
        inner, outer = np.linalg.norm(at.W, axis=1), np.linalg.norm(at.outer, axis=1)
        largest = outer.max(initial=0.0) or 1.0
        ratio = np.maximum(outer, 1e-8 * largest) / np.where(inner > 0, inner, 1.0)
        share = (np.sqrt(k) * ratio) ** (1 / (k + 1)) if k > 1 else np.sqrt(ratio)
        return at.W * share[:, None]


# Number of rows whose derivatives are stored at once.
_CHUNK_ROWS = 1_024
# Rows of the matrix `S`: so many, and so many for each inner weight in it.
_SYSTEM_ROWS = 1_024
_ROWS_PER_WEIGHT = 4


def spacing(n_rows: int, n_weights: int) -> int:
    """Return the distance between the rows of the matrix `S` of some inner weights.

    Rows in canonical order are sorted, so that evenly spaced ones represent all parts of the data.
    """
    return max(1, n_rows // max(_SYSTEM_ROWS, _ROWS_PER_WEIGHT * n_weights))


def system(
    problem: ReducedProblem, at: Point, ridge: float, block: slice, every: int = 1
) -> Float64:
    """Return the lower triangle of the matrix `S` of a block of neurons.

    Parameters
    ----------
    problem : ReducedProblem
    at : Point
    ridge : float
    block : slice
        The neurons.
    every : int, default=1
        Distance between the rows that are used; see `spacing`.
    """
    C, p = at.outer[block], problem.scaled_X1.shape[1]

    def squares(part: slice) -> tuple[Float64, Float64]:
        K = np.zeros((len(C) * p, len(C) * p), order="F")
        T = np.zeros((at.F.shape[1], len(C) * p))
        for start in range(part.start, part.stop, every * _CHUNK_ROWS):
            rows = slice(start, min(part.stop, start + every * _CHUNK_ROWS), every)
            B = problem.derivatives(at, rows, block)
            B = B.reshape(len(B), -1)
            add_square(K, B.T, float(every))
            T += every * (at.F[rows].T @ B)
        return K, T

    K, T = problem.pool.sums(squares, parts_of(len(at.Z), every * _CHUNK_ROWS))
    cholesky = at.cholesky
    if every > 1:
        shown = at.F[::every]
        cholesky = problem.cholesky(every * (shown.T @ shown), ridge)
    solve_right(T.T, np.asfortranarray(cholesky))
    add_square(K, T.T, -1.0)
    K *= np.repeat(np.repeat(C @ C.T, p, axis=0), p, axis=1)
    return np.asarray(K)


def descent(problem: ReducedProblem, at: Point, ridge: float, block: slice) -> Float64:
    """Return minus half the gradient of the objective with respect to a block of neurons."""
    (pull,) = problem.pool.sums(lambda part: (problem.pull(at, part, block),), problem.parts)
    return np.asarray(pull - ridge * at.W[block])
