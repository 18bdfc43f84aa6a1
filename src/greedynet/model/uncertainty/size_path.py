"""Log-linear models of the size of errors, for a decreasing sequence of ridges.

The size of an error `a >= 0` with features `v` is modelled by `exp(g)`, `g = b . v + c`. The
weights minimise

    mean of (g + a exp(-g)) + lam / 2 ||b||^2,

the likelihood of an exponential distribution, for features of mean 0 and deviation 1. It needs
about half as many rows as least squares for `log a`, and very small errors do not dominate it. The
Fisher information of `g` is 1 for every row, so that one eigendecomposition serves all steps.
"""

from collections.abc import Sequence

import numpy as np

from greedynet.support.types import Float64

_N_STEPS = 20
_SHORTEST = 2.0**-10
# A decrease of the objective below this is no progress; it is in units of the log-likelihood.
_CONVERGED = 1e-6
# Deviations below this fraction of the largest value are rounding.
_CONSTANT = 1e-9
_SMALLEST = 1e-300


class SizePath:
    """Weights for a sequence of ridges.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    sizes : ndarray of shape (n,)
        Positive.
    weights : ndarray of shape (n,)
        Of the rows.
    ridges : sequence of float
        The `lam`, decreasing.

    Attributes
    ----------
    coefficients : list of pairs
        `b`, for the features as given, and `c`; one for each ridge.
    """

    def __init__(
        self, features: Float64, sizes: Float64, weights: Float64, ridges: Sequence[float] = ()
    ) -> None:
        self._shares = weights / weights.sum()
        self._sizes = sizes
        # Divide by the largest first: squares could overflow.
        largest = np.abs(features).max(axis=0, initial=0.0)
        V = features / np.where(largest > 0, largest, 1.0)
        V -= self._shares @ V
        deviation = np.sqrt(self._shares @ V**2)
        # Of the smallest numbers there are, the inverse is infinite.
        varies = (deviation > _CONSTANT) & (deviation * largest > _SMALLEST)
        self._scale = np.where(varies, 1.0 / np.where(varies, deviation * largest, 1.0), 0.0)
        self._V, self._center = V * (self._scale * largest), self._shares @ features
        moments = (self._V * self._shares[:, None]).T @ self._V
        self._values, self._vectors = np.linalg.eigh(moments)
        self._last = np.zeros(features.shape[1]), float(np.log(self._shares @ sizes))
        self.coefficients: list[tuple[Float64, float]] = []
        for ridge in ridges:
            self.advance(ridge)

    def advance(self, ridge: float) -> tuple[Float64, float]:
        """Return `b` and `c` for a smaller ridge, starting from the solution of the last one."""
        self._last = b, c = self._solved(*self._last, ridge)
        b = b * self._scale
        self.coefficients.append((b, c - float(self._center @ b)))
        return self.coefficients[-1]

    def _solved(self, b: Float64, c: float, ridge: float) -> tuple[Float64, float]:
        """Return the weights for a ridge by Fisher scoring, with steps that never go up."""
        now = self._objective(b, c, ridge)
        for _ in range(_N_STEPS):
            excess = self._shares * (self._sizes * np.exp(-(self._V @ b + c)) - 1.0)
            slope = self._V.T @ excess - ridge * b
            curvature = np.maximum(self._values, 0.0) + ridge
            step = self._vectors @ ((self._vectors.T @ slope) / curvature)
            length, shift = 1.0, float(excess.sum())
            while (after := self._objective(b + length * step, c + length * shift, ridge)) > now:
                length /= 2
                if length < _SHORTEST:
                    return b, c
            b, c = b + length * step, c + length * shift
            if now - after < _CONVERGED:
                break
            now = after
        return b, c

    def _objective(self, b: Float64, c: float, ridge: float) -> float:
        g = self._V @ b + c
        with np.errstate(over="ignore"):
            found = self._shares @ (g + self._sizes * np.exp(-g)) + ridge / 2 * (b @ b)
        return float(found) if np.isfinite(found) else np.inf


def size_loss(log_sizes: Float64, sizes: Float64, weights: Float64) -> float:
    """Return the mean of `g + a exp(-g)`, by which models of the size are compared."""
    return float(np.average(log_sizes + sizes * np.exp(-log_sizes), weights=weights))
