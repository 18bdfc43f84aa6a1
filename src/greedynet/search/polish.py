"""Gauss-Newton on single neurons: move scanned neurons off the grid of directions.

Several candidates are moved at once, each on its own: what they need of the rows and of the factor
then comes from a few products.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.factor import Factor

Float64 = NDArray[np.float64]

N_STEPS = 3
_DAMPING = 1e-3
_LENGTHS = np.array([1.0, 0.5, 0.25])
_WORTH = 1 + 1e-6
# Rows on the kink are not active, whatever rounding makes of them.
EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class Target:
    """What a neuron `relu(x . w)` is to fit, with the score by which it is ranked.

        score(w) = || <r, g> ||^2 / || (I - QQ') g ||^2

    Attributes
    ----------
    X1 : ndarray of shape (n_rows, d + 1)
        Inputs with a column of ones.
    row_scale : ndarray of shape (n_rows, 1) or None
        Square roots of the sample weights.
    factor : Factor
        Columns `Q` and residual `r`.
    min_active : int
        Rows that must be active, and rows that must not, unless all are active.
    all_active : bool
        Whether a neuron active on all rows counts.
    """

    X1: Float64
    row_scale: Float64 | None
    factor: Factor
    min_active: int
    all_active: bool

    def columns(self, W: Float64) -> Float64:
        """Return neurons on the rows, sample weights included."""
        G = np.maximum(self.X1 @ W.T, 0.0)
        return G if self.row_scale is None else G * self.row_scale

    def judge(self, W: Float64) -> tuple[Float64, Float64]:
        """Scores of neurons, -1 where one may not be taken, and their outer weights."""
        G = self.columns(W)
        n_active = np.count_nonzero(G > EDGE, axis=0)
        rest = len(G) - n_active
        allowed = (n_active >= self.min_active) & (rest >= self.min_active)
        if self.all_active:
            allowed |= rest == 0
        H = self.factor.Q.T @ G
        size = np.einsum("ij,ij->j", G, G)
        outside = size - np.einsum("ij,ij->j", H, H)
        allowed &= outside > self.factor.dependent**2 * size
        gains = G.T @ self.factor.residual
        safe = np.where(allowed, outside, 1.0)
        scores = np.where(allowed, np.einsum("ij,ij->i", gains, gains) / safe, -1.0)
        return scores, gains / safe[:, None]


def polish(W: Float64, target: Target, n_steps: int = N_STEPS) -> tuple[Float64, Float64]:
    """Improve neurons; no score ever falls.

    With the outer weights `c` held, `|| r - (I - QQ') relu(X1 w) c' ||` is linearised about the
    active rows, `J = X1[active]`. With `P = I - QQ'` and `rho = r c / |c|^2` the step solves

        (J' P J + mu) (w_new - w) = J' rho - J' P J w,

    and `J' P J = J'J - (Q'J)'(Q'J)`, so only `Q'J` is needed. Of the step, its half and its quarter
    the best is taken, if it is better than none.

    Parameters
    ----------
    W : ndarray of shape (m, d + 1)
        Inner weights, bias last.
    target : Target
        What to fit.
    n_steps : int
        Steps at most.

    Returns
    -------
    W : ndarray of shape (m, d + 1)
        Improved inner weights; those of the inputs have length 1.
    scores : ndarray of shape (m,)
        Their scores.
    """
    W = W.copy()
    scores, weights = target.judge(W)
    moving = np.flatnonzero(scores > 0)
    for _ in range(n_steps):
        if len(moving) == 0:
            break
        steps = _gauss_newton_steps(W[moving], weights[moving], target)
        tried = W[moving, None, :] + _LENGTHS[:, None] * steps[:, None, :]
        length = np.linalg.norm(tried[..., :-1], axis=2, keepdims=True)
        tried /= np.where(length > 0, length, 1.0)
        found, gains = target.judge(tried.reshape(-1, W.shape[1]))
        found = found.reshape(len(moving), -1)
        best = np.argmax(found, axis=1)
        at = np.arange(len(moving))
        better = found[at, best] > scores[moving] * _WORTH
        at, best, moving = at[better], best[better], moving[better]
        W[moving], scores[moving] = tried[at, best], found[at, best]
        weights[moving] = gains.reshape(*found.shape, -1)[at, best]
    return W, scores


def _gauss_newton_steps(W: Float64, weights: Float64, target: Target) -> Float64:
    """Return the step of each neuron."""
    p = W.shape[1]
    active = (target.X1 @ W.T > EDGE).T
    rows = target.X1 if target.row_scale is None else target.X1 * target.row_scale
    J = active[:, :, None] * rows
    gram = np.matmul(J.transpose(0, 2, 1), J)
    QJ = np.matmul(target.factor.Q.T, J)
    H = gram - np.matmul(QJ.transpose(0, 2, 1), QJ)
    square = np.einsum("ij,ij->i", weights, weights)
    rho = target.factor.residual @ (weights / np.where(square > 0, square, 1.0)[:, None]).T
    right = np.matmul(rho.T[:, None, :], J)[:, 0] - np.matmul(H, W[:, :, None])[:, :, 0]
    damping = _DAMPING * np.trace(gram, axis1=1, axis2=2) / p
    H += damping[:, None, None] * np.eye(p)
    try:
        return np.asarray(np.linalg.solve(H, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        return np.zeros_like(W)
