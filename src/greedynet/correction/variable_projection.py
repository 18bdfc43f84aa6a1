"""Joint correction of all neurons: variable projection with a ridge chosen from the data.

All inner weights `W` are updated jointly while the outer weights are eliminated. With `F = [A,
sigma(X1 W')]`, where `A` are the affine columns, the objective is

    E(W, c) + lam (||W||^2 + ||c||^2),    E = || y - F [a; c] ||^2,

where the affine weights `a` are not penalised. A ReLU neuron is invariant when a factor is moved
between `w` and `c`, so this is a penalty `2 lam sum |c_j| |w_j|` on the magnitude of the neurons;
for an activation of degree `k` it is minimal with `|w|^2 = k |c|^2`. Kaufman's form of the
Gauss-Newton matrix, with the derivative `B` of the neurons and `P = I - F (F'F + lam)^-1 F'`,

    S = (C C' (x) 1 1') o (B' P B),

applies to any number of outputs. Steps are damped (Levenberg-Marquardt) and accepted only if the
objective decreases.

The ridge follows from the data (MacKay's evidence): with `gamma` effective parameters,

    lam = sigma^2 gamma_penalised / (||W||^2 + ||c||^2),    sigma^2 = E / (n - gamma),

approached from below. Networks are compared by generalised cross-validation with the same `gamma`.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular
from scipy.linalg.blas import dsyrk

from greedynet.activations import Activation, ReLU, degree_of
from greedynet.linalg.cholesky import damped_step, inverse_of, trace_of_inverse
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Maximum number of inner weights in one system; more neurons are corrected in turn, in blocks.
MAX_BLOCK = 600
FIRST_RIDGE = 1e-6
# Smooth neurons represent functions by differences: large weights do not indicate noise.
FIRST_RIDGE_SMOOTH = 1e-10
# Rows on a kink count as inactive, irrespective of rounding.
EDGE = 1e-12
# Number of rows whose derivatives are stored at once.
_CHUNK_ROWS = 1_024
# Rows of the matrix `S`: so many, and so many for each inner weight in it.
_SYSTEM_ROWS = 1_024
_ROWS_PER_WEIGHT = 4
_RISE = 10.0
_TRIES = 4
_MIN_STEPS = 3
_JITTER = 1e-12
_ROUNDING = 1e-14
# With more effective parameters than this fraction of the data, noise cannot be estimated.
_MAX_SHARE = 0.95


def gcv(error: float, n: float, gamma: float) -> float:
    """Generalised cross-validation, `(E / n) / (1 - gamma / n)^2`."""
    return error / n / (1.0 - min(_MAX_SHARE, gamma / n)) ** 2


@dataclass(eq=False)
class _Point:
    """Inner weights with all quantities that follow from them at a given ridge."""

    W: Float64
    Z: Float64
    F: Float64
    cholesky: Float64
    weights: Float64
    residual: Float64
    error: float
    size: float

    def objective(self, ridge: float) -> float:
        return self.error + ridge * self.size


class VariableProjection:
    """A network on scaled rows whose neurons are corrected jointly.

    Parameters
    ----------
    rows : Rows
        Scaled training rows.
    affine : ndarray of shape (n_rows, n_affine)
        Affine columns, sample weights included; they are not penalised.
    W : ndarray of shape (k, d + 1)
        Inner weights of the neurons, bias last.
    ridge : float or None
        Penalty; None for a small initial value.
    activation : Activation or None
        The `sigma`; None for ReLU.
    judged : ndarray of shape (n_rows,) or None
        Rows from which the noise is estimated; None for all.
    context : FitContext or None
        Its journal contains the results of an earlier run of the same corrections.
    max_block : int
        Maximum number of inner weights in one system; more are corrected in blocks, in turn.

    Attributes
    ----------
    ridge : float
        The penalty, after the last correction.
    dof : float
        Effective number of parameters, after `settle`.
    damping : float
        Damping of the next step, relative to the diagonal.
    """

    def __init__(
        self,
        rows: Rows,
        affine: Float64,
        W: Float64,
        ridge: float | None = None,
        activation: Activation | None = None,
        judged: NDArray[np.bool_] | None = None,
        context: FitContext | None = None,
        max_block: int = MAX_BLOCK,
    ) -> None:
        self._rows = rows
        self._context = context or FitContext()
        self._max_block = max_block
        self._judged = judged
        self._sigma = activation or ReLU()
        self._affine = affine
        self._X1 = np.column_stack([rows.X, np.ones(len(rows))]).astype(np.float64, copy=False)
        scale = rows.row_scale
        self._scale = None if scale is None else scale[:, None]
        self._scaled_X1 = self._X1 if self._scale is None else self._X1 * self._scale
        self._Y = rows.weighted(rows.Y)
        self._n = rows.n_independent * rows.Y.shape[1]
        self.ridge = self._first_ridge() if ridge is None else ridge
        self.dof = float(affine.shape[1] * rows.Y.shape[1] + W.size + len(W) * rows.Y.shape[1])
        self.damping = 1e-2
        self._at = self._solve(W)
        self._at = self._solve(self._balanced())

    @property
    def points(self) -> Float64:
        """Inner weights, bias last."""
        return self._at.W

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return len(self._at.W)

    @property
    def columns(self) -> Float64:
        """The columns of the neurons on the rows, sample weights included."""
        return self._at.F[:, self._affine.shape[1] :]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Whether neurons contribute more than rounding: the penalty shrinks useless ones."""
        outer = np.linalg.norm(self._at.weights[self._affine.shape[1] :], axis=1)
        shares = np.linalg.norm(self.columns, axis=0) * outer
        return np.asarray(shares > _ROUNDING * np.linalg.norm(self._Y))

    @property
    def weights(self) -> Float64:
        """Weights of the affine columns, then of the neurons."""
        return self._at.weights

    @property
    def error(self) -> float:
        """Squared error on the rows."""
        return self._at.error

    @property
    def gcv(self) -> float:
        """Generalised cross-validation with the effective parameters."""
        return gcv(self.error, self._n, self.dof)

    def predict(self, X: NDArray[np.floating], affine: Float64) -> Float64:
        """Return the scaled outputs on other rows, given the affine columns on them."""
        hidden = self._sigma.value(X @ self.points[:, :-1].T + self.points[:, -1])
        r = self._affine.shape[1]
        return np.asarray(affine @ self.weights[:r] + hidden @ self.weights[r:])

    def improve(self, n_steps: int) -> "VariableProjection":
        """Correct at the current ridge; the objective never increases."""
        for _ in range(n_steps):
            before = self._at.objective(self.ridge)
            for block in self._blocks():
                self._step(block, self._system(block))
            if not self._at.objective(self.ridge) < before * (1 - 1e-4):
                break
        return self

    def settle(self, n_steps: int, enough: float = 0.0) -> "VariableProjection":
        """Correct while the ridge is updated by the evidence.

        Parameters
        ----------
        n_steps : int
            Maximum number of steps.
        enough : float
            Stop after a step that lowers the objective by less than this fraction.
        """
        if self.n_neurons == 0:
            return self
        record = self._context.journal.record()
        n_known, gain = (0, 1.0) if record.known is None else self._restore(*record.known)
        for n_done in range(n_known + 1, n_steps + 1):
            if n_done > _MIN_STEPS and gain < enough:
                break
            self._context.check()
            systems = self.systems()
            self.dof = self._count([S for _, S in systems])
            self._set_ridge(min(self._evidence(), _RISE * self.ridge))
            before = self._at.objective(self.ridge)
            for block, S in systems:
                self._step(block, S)
            gain = 1.0 - self._at.objective(self.ridge) / before if before > 0 else 0.0
            record.note(partial(self._state_after, n_done, gain))
        return self

    def _state_after(
        self, n_steps: int, gain: float
    ) -> tuple[int, float, Float64, float, float, float]:
        """Return the state after `n_steps` steps, from which all else follows."""
        return n_steps, gain, self._at.W, self.ridge, self.dof, self.damping

    def _restore(
        self, n_steps: int, gain: float, W: Float64, ridge: float, dof: float, damping: float
    ) -> tuple[int, float]:
        """Restore the state after `n_steps` steps."""
        self.ridge, self.dof, self.damping = ridge, dof, damping
        # Unchanged weights stay the same array: results depend on its memory order.
        self._at = self._solve(self._at.W if np.array_equal(W, self._at.W) else W)
        return n_steps, gain

    def systems(self) -> list[tuple[slice, Float64]]:
        """Return the blocks that are corrected in one system each, with lower triangles of `S`."""
        return [(block, self._system(block)) for block in self._blocks()]

    def at(self, W: Float64) -> "VariableProjection":
        """Return the network of other neurons, with the same ridge."""
        return VariableProjection(
            self._rows,
            self._affine,
            W,
            self.ridge,
            self._sigma,
            self._judged,
            self._context,
            self._max_block,
        )

    def moved(self, W: Float64) -> "VariableProjection":
        """Return the network after a step of the inner weights, without balancing them."""
        other = copy(self)
        other._at = self._solve(W)
        return other

    def without(self, n_neurons: int) -> "VariableProjection":
        """Return the network with `n_neurons` neurons, without those that contribute least.

        They are removed one at a time: removing neuron `j` costs `|c_j|^2 / (M^-1)_jj`, `M = F'F +
        lam`, and changes `M^-1` by one outer product.
        """
        r = self._affine.shape[1]
        inverse = inverse_of(self._at.cholesky)
        weights = self._at.weights.copy()
        left = list(range(self.n_neurons))
        while len(left) > n_neurons:
            at = np.arange(r, r + len(left))
            costs = np.sum(weights[at] ** 2, axis=1) / inverse[at, at]
            j = r + int(np.argmin(costs))
            row = inverse[j] / inverse[j, j]
            weights -= np.outer(row, weights[j])
            inverse -= np.outer(row, inverse[j])
            weights = np.delete(weights, j, axis=0)
            inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1)
            del left[j - r]
        pruned = self.at(self.points[left])
        pruned.damping = max(self.damping, 1e-3)
        return pruned

    def _first_ridge(self) -> float:
        """Return a small ridge, in proportion to the residual of the affine term."""
        left = self._Y
        if self._affine.shape[1]:
            left = left - self._affine @ np.linalg.lstsq(self._affine, left, rcond=None)[0]
        first = FIRST_RIDGE if degree_of(self._sigma) == 1 else FIRST_RIDGE_SMOOTH
        return first * len(left) * float(np.sqrt(np.mean(left**2)))

    def _blocks(self) -> list[slice]:
        """Return the blocks of neurons that are corrected in one system each."""
        p = self._X1.shape[1]
        size = max(1, self._max_block // p)
        return [slice(i, i + size) for i in range(0, self.n_neurons, size)]

    def _balanced(self) -> Float64:
        """Return inner weights scaled to `|w_j|^2 = k |c_j|^2`, if sigma is homogeneous."""
        k = degree_of(self._sigma)
        if k is None:
            return self._at.W
        W, C = self._at.W, self._at.weights[self._affine.shape[1] :]
        inner, outer = np.linalg.norm(W, axis=1), np.linalg.norm(C, axis=1)
        largest = outer.max(initial=0.0) or 1.0
        ratio = np.maximum(outer, 1e-8 * largest) / np.where(inner > 0, inner, 1.0)
        share = (np.sqrt(k) * ratio) ** (1 / (k + 1)) if k > 1 else np.sqrt(ratio)
        return W * share[:, None]

    def _solve(self, W: Float64) -> _Point:
        """Solve for the outer weights of given inner weights."""
        r = self._affine.shape[1]
        Z = self._X1 @ W.T
        F = np.empty((len(Z), r + len(W)))
        F[:, :r] = self._affine
        F[:, r:] = self._sigma.value(Z)
        if self._scale is not None:
            F[:, r:] *= self._scale
        cholesky = self._cholesky(F)
        weights = cho_solve((cholesky, True), F.T @ self._Y, check_finite=False)
        residual = self._Y - F @ weights
        size = float(np.sum(W**2) + np.sum(weights[r:] ** 2))
        error = float(np.sum(residual**2))
        return _Point(W, Z, F, cholesky, weights, residual, error, size)

    def _cholesky(self, F: Float64, times: int = 1) -> Float64:
        """Return the lower Cholesky factor of `times F'F` with the ridge on the neurons."""
        M = F.T @ F
        if times > 1:
            M *= times
        diagonal = np.einsum("ii->i", M)
        diagonal += _JITTER * diagonal + (1e-14 * diagonal.max(initial=0.0) + 1e-300)
        diagonal[self._affine.shape[1] :] += self.ridge
        return np.asarray(cho_factor(M, lower=True, overwrite_a=True, check_finite=False)[0])

    def _set_ridge(self, ridge: float) -> None:
        self.ridge = ridge
        self._at = self._solve(self._at.W)

    def _system(self, block: slice) -> Float64:
        """Return the lower triangle of the matrix `S` of a block."""
        at, p = self._at, self._X1.shape[1]
        C = self._outer(block)
        step = self._every(len(C) * p)
        K = np.zeros((len(C) * p, len(C) * p), order="F")
        T = np.zeros((at.F.shape[1], len(C) * p))
        for start in range(0, len(at.Z), step * _CHUNK_ROWS):
            rows = slice(start, start + step * _CHUNK_ROWS, step)
            slope = self._sigma.slope(at.Z[rows, block] - EDGE)
            B = (slope[:, :, None] * self._scaled_X1[rows, None, :]).reshape(len(slope), -1)
            K = dsyrk(float(step), B.T, beta=1.0, c=K, lower=1, overwrite_c=1)
            T += step * (at.F[rows].T @ B)
        cholesky = at.cholesky if step == 1 else self._cholesky(at.F[::step], step)
        half = solve_triangular(cholesky, T, lower=True, check_finite=False)
        K = dsyrk(-1.0, half.T, beta=1.0, c=K, lower=1, overwrite_c=1)
        K *= np.repeat(np.repeat(C @ C.T, p, axis=0), p, axis=1)
        return np.asarray(K)

    def _every(self, n_weights: int) -> int:
        """Return the step between the rows of the matrix `S`: a sample is enough for a step.

        Rows in canonical order are sorted, so that evenly spaced ones represent all parts of the
        data. The gradient and the objective are always those of all rows.
        """
        return max(1, len(self._Y) // max(_SYSTEM_ROWS, _ROWS_PER_WEIGHT * n_weights))

    def _outer(self, block: slice) -> Float64:
        return self._at.weights[self._affine.shape[1] :][block]

    def _count(self, systems: list[Float64]) -> float:
        """Effective number of parameters: `sum of s / (s + lam)`, plus those not penalised."""
        r, t = self._affine.shape[1], self._Y.shape[1]
        inner = 0.0
        for S in systems:
            damped = S.copy()
            diagonal = np.einsum("ii->i", damped)
            diagonal += self.ridge + 1e-12 * diagonal.max()
            inner += len(S) - self.ridge * trace_of_inverse(lapack.dpotrf(damped, lower=1)[0])
        outer = self.n_neurons - self.ridge * trace_of_inverse(self._at.cholesky, r)
        return inner + t * (outer + r)

    def _evidence(self) -> float:
        n = self._n
        free = max(n - self.dof, (1 - _MAX_SHARE) * n)
        penalised = max(self.dof - self._affine.shape[1] * self._Y.shape[1], 1.0)
        return self._noise / free * penalised / max(self._at.size, 1e-300)

    @property
    def _noise(self) -> float:
        """Squared error, extrapolated from the rows from which the noise is estimated."""
        if self._judged is None:
            return self._at.error
        shown = self._at.residual[self._judged]
        return float(np.sum(shown**2)) * self._Y.size / max(shown.size, 1)

    def _step(self, block: slice, S: Float64) -> None:
        """Take a damped step of the inner weights of a block, if the objective decreases."""
        at = self._at
        C, W = self._outer(block), at.W[block]
        pull = self._sigma.slope(at.Z[:, block] - EDGE) * (at.residual @ C.T)
        gradient = pull.T @ self._scaled_X1 - self.ridge * W
        now = at.objective(self.ridge)
        for _ in range(_TRIES):
            step = damped_step(S, gradient, self.ridge, self.damping)
            if step is not None:
                moved = at.W.copy()
                moved[block] += step
                tried = self._solve(moved)
                if tried.objective(self.ridge) < now:
                    self._at = tried
                    self.damping = max(self.damping / 4.0, 1e-7)
                    return
            self.damping *= 4.0
