"""Gauss-Newton on single neurons: refine the scanned neurons beyond the pool of directions.

Several candidates are refined independently but at once, so that a few matrix products serve all of
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, ReLU, degree_of
from greedynet.linalg.factor import Factor
from greedynet.support.threads import Pool, parts_of
from greedynet.support.types import Float64

N_STEPS = 3
# Neurons are not refined if the matrix of one step, or its solution, takes more multiplications: as
# many as with 1,000 inputs and no more rows. With a larger limit, the refinement takes longer than
# everything else with thousands of rows and hundreds of inputs; with a smaller one, such neurons
# keep the directions they were scanned along. Products with the columns of the factor are not
# counted: with far more columns than inputs, a step takes longer than this says.
_MOST_WORK = 1_001**3
_DAMPING = 1e-3
_LENGTHS = np.array([1.0, 0.5, 0.25])
_WORTH = 1 + 1e-6
# Rows on the kink count as inactive, irrespective of rounding.
EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class Target:
    """The target of a neuron `sigma(x . w)`, with its score.

    score(w) = || <r, g> ||^2 / || (I - QQ') g ||^2
    """

    X1: Float64  # (n_rows, d + 1): inputs with a column of ones
    row_scale: Float64 | None  # (n_rows, 1): square roots of the sample weights
    factor: Factor  # columns `Q` and residual `r`
    min_active: int  # minimum number of active rows and, unless all are active, of inactive rows
    all_active: bool  # whether a neuron active on all rows is allowed
    activation: Activation = field(default_factory=ReLU)  # the `sigma`
    pool: Pool = field(default_factory=Pool)  # threads, over parts of the rows

    @cached_property
    def parts(self) -> list[slice]:
        """Parts of the rows, over which sums are taken."""
        return parts_of(len(self.X1))

    def columns(self, W: Float64) -> Float64:
        """Return the columns of neurons on the rows, sample weights included."""
        return self.weighted(self.X1 @ W.T)

    def derivatives(self, W: Float64, part: slice) -> Float64:
        """Return `J` of each neuron on a part of the rows, `(n_rows, m, d + 1)`."""
        rows = self.X1[part] if self.row_scale is None else self.X1[part] * self.row_scale[part]
        slopes = np.asarray(self.activation.slope(self.X1[part] @ W.T - EDGE))
        return np.asarray(slopes[:, :, None] * rows[:, None, :])

    def scores(self, W: Float64) -> tuple[Float64, Float64]:
        """Return the scores of neurons, -1 if not allowed, and their outer weights."""
        Z, G = (np.empty((len(self.X1), len(W))) for _ in range(2))

        def products(part: slice) -> tuple[Float64, Float64]:
            np.matmul(self.X1[part], W.T, out=Z[part])
            G[part] = self.weighted(Z[part], part)
            return self.factor.Q[part].T @ G[part], G[part].T @ self.factor.residual[part]

        H, gains = self.pool.sums(products, self.parts)
        allowed = self._alive(Z, G)
        size = np.einsum("ij,ij->j", G, G)
        outside = size - np.einsum("ij,ij->j", H, H)
        allowed &= outside > self.factor.dependent**2 * size
        safe = np.where(allowed, outside, 1.0)
        scores = np.where(allowed, np.einsum("ij,ij->i", gains, gains) / safe, -1.0)
        return scores, gains / safe[:, None]

    def weighted(self, Z: Float64, part: slice = slice(None)) -> Float64:
        """Return the columns of values before the activation, on a part of the rows."""
        G = np.asarray(self.activation.value(Z), dtype=np.float64)
        return G if self.row_scale is None else G * self.row_scale[part]

    def _alive(self, Z: Float64, G: Float64) -> NDArray[np.bool_]:
        """Whether neurons are supported on enough rows.

        Neurons with a kink must have rows on both sides of it. Others differ from their mean, by
        `h`, on effectively `(sum h^2)^2 / sum h^4` rows: all of them for a step, few for a spike.
        """
        if degree_of(self.activation) is None:
            G = G if self.row_scale is None else G / self.row_scale
            square = (G - G.mean(axis=0)) ** 2
            fourth = np.einsum("ij,ij->j", square, square)
            return square.sum(axis=0) ** 2 > (self.min_active - 0.5) * fourth
        n_active = np.count_nonzero(Z > EDGE, axis=0)
        rest = len(G) - n_active
        alive = (n_active >= self.min_active) & (rest >= self.min_active)
        # With all rows on the other side, a ReLU is zero and has no score, but |z| is not zero.
        return alive | (rest == 0) | (Z < -EDGE).all(axis=0) if self.all_active else alive


def polish(
    W: Float64,
    target: Target,
    n_steps: int = N_STEPS,
    *,
    damping: float = _DAMPING,
    worth: float = _WORTH,
) -> tuple[Float64, Float64]:
    """Improve neurons; no score ever falls. If steps would be very expensive, none is taken.

    For fixed outer weights `c`, `|| r - (I - QQ') g c' ||`, `g = sigma(X1 w)`, is linearised, `J =
    sigma'(X1 w) X1`. With `P = I - QQ'` and `rho = r c / |c|^2` the step solves

        (J' P J + mu) (w_new - w) = J' rho - J' P g,

    and `J' P J = J'J - (Q'J)'(Q'J)`, so only `Q'J` is needed. A homogeneous sigma of degree `k` has
    `g = J w / k`. The best of the step, its half and its quarter is taken if it improves the score.

    `mu` is `damping` times the mean of the diagonal of `J'J`, and a step is taken if the score
    rises by the factor `worth`. Returns the inner weights, bias last, and their scores; inner
    weights of a homogeneous sigma have norm 1, without the bias.
    """
    W = W.copy()
    scores, weights = target.scores(W)
    if _work_of_a_step(*target.X1.shape) > _MOST_WORK:
        return W, scores
    moving = np.flatnonzero(scores > 0)
    for _ in range(n_steps):
        if len(moving) == 0:
            break
        steps = _gauss_newton_steps(W[moving], weights[moving], target, damping)
        tried = W[moving, None, :] + _LENGTHS[:, None] * steps[:, None, :]
        if degree_of(target.activation) is not None:
            length = np.linalg.norm(tried[..., :-1], axis=2, keepdims=True)
            tried /= np.where(length > 0, length, 1.0)
        found, gains = target.scores(tried.reshape(-1, W.shape[1]))
        found = found.reshape(len(moving), -1)
        best = np.argmax(found, axis=1)
        at = np.arange(len(moving))
        better = found[at, best] > scores[moving] * worth
        at, best, moving = at[better], best[better], moving[better]
        W[moving], scores[moving] = tried[at, best], found[at, best]
        weights[moving] = gains.reshape(*found.shape, -1)[at, best]
    return W, scores


def _work_of_a_step(n_rows: int, n_weights: int) -> int:
    """Return about how many multiplications a step of one neuron takes, `J'J` and the solution."""
    return max(n_rows, n_weights) * n_weights**2


def _gauss_newton_steps(W: Float64, weights: Float64, target: Target, damping: float) -> Float64:
    """Return the step of each neuron."""
    m, p = W.shape
    Q, residual = target.factor.Q, target.factor.residual
    square = np.einsum("ij,ij->i", weights, weights)
    shares = (weights / np.where(square > 0, square, 1.0)[:, None]).T
    homogeneous = degree_of(target.activation) is not None

    def products(part: slice) -> tuple[Float64, ...]:
        each = target.derivatives(W, part)
        # One product for all neurons: Q is large, and read only once.
        QJ = Q[part].T @ each.reshape(len(each), m * p)
        J = each.transpose(1, 0, 2)
        rho = residual[part] @ shares
        found = (QJ, np.matmul(J.transpose(0, 2, 1), J), np.matmul(rho.T[:, None, :], J)[:, 0])
        return found if homogeneous else (*found, *_own_products(W, J, part, target))

    QJ, gram, right, *own = target.pool.sums(products, target.parts)
    QJ = QJ.reshape(-1, m, p).transpose(1, 0, 2)
    H = gram - np.matmul(QJ.transpose(0, 2, 1), QJ)
    right = right - _own_gradient(W, H, QJ, own, target)
    mu = damping * np.trace(gram, axis1=1, axis2=2) / p
    H += mu[:, None, None] * np.eye(p)
    try:
        return np.asarray(np.linalg.solve(H, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        return np.zeros_like(W)


def _own_products(W: Float64, J: Float64, part: slice, target: Target) -> tuple[Float64, Float64]:
    """Return `J' g` and `Q' g` of each neuron, on a part of the rows."""
    G = target.weighted(target.X1[part] @ W.T, part)
    return np.matmul(G.T[:, None, :], J)[:, 0], target.factor.Q[part].T @ G


def _own_gradient(
    W: Float64, H: Float64, QJ: Float64, own: Sequence[Float64], target: Target
) -> Float64:
    """Return `J' P g` of each neuron."""
    degree = degree_of(target.activation)
    if degree is not None:
        return np.asarray(np.matmul(H, W[:, :, None])[:, :, 0] / degree)
    JG, QG = own
    return np.asarray(JG - np.matmul(QG.T[:, None, :], QJ)[:, 0])
