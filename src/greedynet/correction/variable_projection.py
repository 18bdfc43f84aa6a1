"""Joint correction of all neurons: variable projection with a ridge chosen from the data.

All inner weights `W` are updated jointly while the outer weights are eliminated. The objective is

    E(W, c) + lam (||W||^2 + ||c||^2),    E = || y - F [a; c] ||^2

(`reduced_problem.py`). A ReLU neuron is invariant when a factor is moved between `w` and `c`, so
this is a penalty `2 lam sum |c_j| |w_j|` on the magnitude of the neurons; for an activation of
degree `k` it is minimal with `|w|^2 = k |c|^2`.

Gauss-Newton steps (`gauss_newton.py`) are damped (Levenberg-Marquardt) and accepted only if the
objective decreases. The ridge approaches that of the evidence (`evidence.py`) from below.
"""

from copy import copy

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, ReLU
from greedynet.correction.evidence import effective_parameters, gcv, ridge_by_evidence
from greedynet.correction.reduced_problem import Point, ReducedProblem, descent, spacing, system
from greedynet.linalg.weights import columns_left, damped_step
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Maximum number of inner weights in one system.
MAX_BLOCK = 600
_RISE = 10.0
_TRIES = 4
_MIN_STEPS = 3
_ROUNDING = 1e-14


class VariableProjection:
    """A network on scaled rows whose neurons are corrected jointly.

    Affine columns, sample weights included, are not penalised. Without a ridge, the initial one is
    small. The clock of the context may end corrections. With more than `max_block` inner weights,
    neurons are corrected in turn, in blocks.

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
        context: FitContext | None = None,
        max_block: int = MAX_BLOCK,
    ) -> None:
        self._rows = rows
        self._context = context or FitContext()
        self._problem = self._reduced(rows, affine, activation or ReLU())
        self._max_block = max_block
        n_outputs = rows.Y.shape[1]
        self._n = rows.n_independent * n_outputs
        self.ridge = self._problem.first_ridge if ridge is None else ridge
        self.dof = float(affine.shape[1] * n_outputs + W.size + len(W) * n_outputs)
        self.damping = 1e-2
        self._at: Point = self._problem.at(W, self.ridge)
        self._move(self._problem.balanced(self._at))

    def _reduced(self, rows: Rows, affine: Float64, activation: Activation) -> ReducedProblem:
        return ReducedProblem(rows, affine, activation, self._context.pool)

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
        return self._at.columns

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Whether neurons contribute more than rounding: the penalty shrinks useless ones."""
        outer = np.linalg.norm(self._at.outer, axis=1)
        shares = np.linalg.norm(self.columns, axis=0) * outer
        return np.asarray(shares > _ROUNDING * np.linalg.norm(self._problem.Y))

    @property
    def weights(self) -> Float64:
        """Weights of the affine columns, then of the neurons."""
        return self._at.weights

    @property
    def error(self) -> float:
        """Squared error on the rows."""
        return self._at.error

    @property
    def objective(self) -> float:
        """Squared error plus the penalty."""
        return self._at.objective(self.ridge)

    @property
    def gcv(self) -> float:
        """Generalised cross-validation with the effective parameters."""
        return gcv(self.error, self._n, self.dof)

    def predict(self, X: NDArray[np.floating], affine: Float64) -> Float64:
        """Return the scaled outputs on other rows, given the affine columns on them."""
        sigma, r = self._problem.activation, self._problem.n_affine
        # Rows that are far from all others may have infinite outputs.
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = sigma.value(X @ self.points[:, :-1].T + self.points[:, -1])
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

        Ends after a step that lowers the objective by less than the fraction `enough`.
        """
        if self.n_neurons == 0:
            return self
        gain = 1.0
        for step in range(n_steps):
            if step >= _MIN_STEPS and gain < enough:
                break
            if step > 0 and self._context.clock.is_over():
                break
            self._context.check()
            systems = self.systems()
            if step < _MIN_STEPS or step % 2 == 0:
                self.dof = self._count([S for _, S in systems])
                self.ridge = min(self._evidence(), _RISE * self.ridge)
                self._at = self._problem.with_ridge(self._at, self.ridge)
            before = self._at.objective(self.ridge)
            for block, S in systems:
                self._step(block, S)
            gain = 1.0 - self._at.objective(self.ridge) / before if before > 0 else 0.0
        return self

    def systems(self) -> list[tuple[slice, Float64]]:
        """Return the blocks that are corrected in one system each, with lower triangles of `S`."""
        return [(block, self._system(block)) for block in self._blocks()]

    def at(self, W: Float64) -> "VariableProjection":
        """Return the network of other neurons, with the same ridge."""
        return VariableProjection(
            self._rows,
            self._problem.affine,
            W,
            self.ridge,
            self._problem.activation,
            self._context,
            self._max_block,
        )

    def moved(self, W: Float64) -> "VariableProjection":
        """Return the network after a step of the inner weights, without balancing them."""
        other = copy(self)
        other._move(W)
        return other

    def without(self, n_neurons: int) -> "VariableProjection":
        """Return the network with `n_neurons` neurons, without those that contribute least."""
        at = self._at
        left = columns_left(at.cholesky, at.weights, n_neurons, self._problem.n_affine)
        pruned = self.at(self.points[left])
        pruned.damping = max(self.damping, 1e-3)
        return pruned

    def _move(self, W: Float64) -> None:
        """Solve for the outer weights of other inner weights."""
        self._at = self._problem.at(W, self.ridge)

    def _blocks(self) -> list[slice]:
        """Return the blocks of neurons that are corrected in one system each."""
        size = max(1, self._max_block // self.points.shape[1])
        return [slice(i, i + size) for i in range(0, self.n_neurons, size)]

    def _system(self, block: slice) -> Float64:
        """Return the lower triangle of the matrix `S` of a block."""
        every = spacing(self.n_rows, self.points[block].size)
        return system(self._problem, self._at, self.ridge, block, every)

    def _count(self, systems: list[Float64]) -> float:
        """Effective number of parameters."""
        r, t = self._problem.n_affine, self._problem.Y.shape[1]
        pool = self._context.pool if len(systems) > 1 else None
        return effective_parameters(systems, self._at.cholesky, self.ridge, r, t, pool)

    def _evidence(self) -> float:
        """Ridge that follows from the rows."""
        n_free = self._problem.n_affine * self._problem.Y.shape[1]
        return ridge_by_evidence(self._at.error, self._at.size, self._n, self.dof, n_free)

    def _descent(self, block: slice) -> Float64:
        """Return minus half the gradient with respect to a block of inner weights."""
        return descent(self._problem, self._at, self.ridge, block)

    def _within(self, W: Float64) -> Float64:
        """Return the nearest inner weights that are allowed: by default, all are."""
        return W

    def _step(self, block: slice, S: Float64) -> None:
        """Take a damped step of the inner weights of a block, if the objective decreases."""
        at = self._at
        down = self._descent(block)
        now = at.objective(self.ridge)
        for _ in range(_TRIES):
            step = damped_step(S, down, self.ridge, self.damping)
            if step is not None:
                moved = at.W.copy()
                moved[block] += step
                tried = self._problem.at(self._within(moved), self.ridge)
                if tried.objective(self.ridge) < now:
                    self._at = tried
                    self.damping = max(self.damping / 4.0, 1e-7)
                    return
            self.damping *= 4.0
