"""`ActiveLasso`: least squares with an absolute penalty, exactly, for columns that keep coming.

    min over c of || y - H c ||^2 + 2 lam sum_j |c_j|

by an active set: with the signs of the nonzero weights fixed, these solve a linear system; a weight
that would change its sign on the way becomes zero, and the zero weight whose column is most like
the residual joins while `|<h_j, r>| > lam`. Columns close to each other, for which coordinate
descent would take forever, do no harm.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from greedynet.support.types import Float64

_MOST_STEPS = 2_000
_JITTER = 1e-11


class ActiveLasso:
    """The lasso for a target and a penalty, with the columns so far.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    lam : float

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_columns)
    weights : ndarray of shape (n_columns,)
    """

    def __init__(self, y: Float64, lam: float) -> None:
        self.y, self.lam = y, lam
        self.columns = np.empty((len(y), 0))
        self.weights = np.empty(0)
        self._gram, self._moments = np.empty((0, 0)), np.empty(0)

    def extend(self, columns: Float64) -> None:
        """Add columns, whose weights are zero at first."""
        cross = self.columns.T @ columns
        self._gram = np.block([[self._gram, cross], [cross.T, columns.T @ columns]])
        self._moments = np.append(self._moments, self.y @ columns)
        self.columns = np.hstack([self.columns, columns])
        self.weights = np.append(self.weights, np.zeros(columns.shape[1]))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Drop all other columns, whose weights must be zero."""
        self.columns, self.weights = self.columns[:, chosen], self.weights[chosen]
        self._gram, self._moments = self._gram[np.ix_(chosen, chosen)], self._moments[chosen]

    @property
    def residual(self) -> Float64:
        """What the columns leave of the target."""
        return np.asarray(self.y - self.columns @ self.weights)

    @property
    def objective(self) -> float:
        """The penalised squared error."""
        left = self.residual
        return float(left @ left + 2.0 * self.lam * np.abs(self.weights).sum())

    def solve(self) -> None:
        """Find the best weights."""
        for _ in range(_MOST_STEPS if len(self.weights) else 0):
            pull = self._moments - self._gram @ self.weights
            pull[self.weights != 0] = 0.0
            joins = int(np.abs(pull).argmax())
            if not abs(pull[joins]) > self.lam * (1.0 + 1e-9):
                break
            signs = np.sign(self.weights)
            signs[joins] = np.sign(pull[joins])
            if not self._settle(signs):
                break

    def _settle(self, signs: Float64) -> bool:
        """Move to the best weights with these signs, without those that would change theirs."""
        before = self.weights.copy()
        while signs.any():
            active = np.flatnonzero(signs)
            wanted = self._solved(active, signs[active])
            now = self.weights[active]
            wrong = wanted * signs[active] <= 0
            if not wrong.any():
                self.weights[active] = wanted
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(wrong, now / (now - wanted), np.inf)
            share = np.where(np.isnan(share), 0.0, share)
            first = int(share.argmin())
            self.weights[active] = now + max(share[first], 0.0) * (wanted - now)
            self.weights[active[first]] = 0.0
            signs[active[first]] = 0.0
        return not np.array_equal(before, self.weights)

    def _solved(self, active: NDArray[np.intp], signs: Float64) -> Float64:
        gram = self._gram[np.ix_(active, active)].copy()
        np.einsum("ii->i", gram)[:] *= 1.0 + _JITTER
        right = self._moments[active] - self.lam * signs
        return np.asarray(cho_solve(cho_factor(gram, lower=True), right))
