"""Monotone neurons for a residual: several from each scan, each with a sign.

A network of a given shape (`rows/shape.py`) is not a projection onto its columns: weights that are
held at zero leave a residual `r` along them. So a new neuron must not only be correlated with the
residual, but with the right sign. With `rho_k = sigma_k <r, x_k>`, which is negative where the
slope of column `k` is held, a monotone neuron along the direction `u` has the inner product

     <r, relu(u . x - t)> + sum_k max(0, -sigma_k u_k) rho_k    for an outer weight c > 0,
    -<r, relu(u . x - t)> + sum_k max(0,  sigma_k u_k) rho_k    for one c < 0,

which must be positive. All thresholds `t` are scored, by running sums over the sorted projections.
Of the best neurons of all directions, the orthogonal greedy algorithm takes those whose inner
product remains positive, each on what the others leave of the residual.
"""

import numpy as np

from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.search.base import to_few_digits
from greedynet.support.types import Float64

# Of so many times the neurons that are wanted, the best by the scan, some are taken.
_CHOICE = 4
# Neurons of which less than this share of the square lies outside the span are left out.
_DEPENDENT = 1e-5


class SignedSearch:
    """Finds several monotone neurons at once for a residual.

    Parameters
    ----------
    rows : Rows
        Scaled training rows.
    shape : Shape
        Along the scaled columns.
    min_active : int
        Minimum number of rows on either side of a kink.
    """

    def __init__(self, rows: Rows, shape: Shape, min_active: int) -> None:
        self._X = np.ascontiguousarray(rows.X, dtype=np.float64)
        self._scale = np.ones(len(rows)) if rows.row_scale is None else rows.row_scale
        self._shape, self._min_active = shape, min_active
        X1 = np.column_stack([np.ones(len(rows)), self._X])
        self._affine = np.linalg.qr(X1 * self._scale[:, None])[0]

    def propose(
        self, residual: Float64, free: Float64, directions: Float64, n_more: int
    ) -> Float64:
        """Return at most `n_more` neurons, bias last.

        Parameters
        ----------
        residual : ndarray of shape (n_rows,)
            Times the square roots of the sample weights, as all columns.
        free : ndarray of shape (n_rows, k)
            Columns of the network whose weights are free.
        directions : ndarray of shape (m, d)
            Unit vectors.
        n_more : int
        """
        Q = np.linalg.qr(free)[0]
        residual = residual - Q @ (Q.T @ residual)
        found: list[Float64] = []
        while len(found) < n_more:
            W, signs = self._scanned(residual, directions)
            # Few directions, and always a single input, are scanned again for the other neurons.
            n_taken = min(n_more - len(found), max(1, len(W) // 2))
            W, signs = W[: _CHOICE * n_taken], signs[: _CHOICE * n_taken]
            taken, Q, residual = self._taken(W, signs, Q, residual, n_taken)
            if not taken:
                break
            found += taken
        return np.reshape(found, (-1, self._X.shape[1] + 1))

    def _scanned(self, residual: Float64, directions: Float64) -> tuple[Float64, Float64]:
        """Return the best neuron of every direction and sign, the best one first."""
        along = self._shape.monotone * ((self._scale * residual) @ self._X)
        scores, points, signs = [], [], []
        for u in directions:
            allowed = [
                sign
                for sign in (1.0, -1.0)
                if not ((self._shape.convex != 0) & (self._shape.convex != sign) & (u != 0)).any()
            ]
            gains, sizes, thresholds = self._of_direction(residual, u)
            for sign in allowed:
                given = np.maximum(0.0, -sign * self._shape.monotone * u) @ along
                gain = np.maximum(sign * gains + given, 0.0)
                of_sign = np.where(sizes > 0, gain**2 / np.where(sizes > 0, sizes, 1.0), 0.0)
                best = int(np.argmax(to_few_digits(of_sign)))
                scores.append(of_sign[best])
                points.append(np.append(u, -thresholds[best]))
                signs.append(sign)
        order = np.argsort(-to_few_digits(np.array(scores)), kind="stable")
        order = order[np.array(scores)[order] > 0]
        return np.reshape(points, (-1, self._X.shape[1] + 1))[order], np.array(signs)[order]

    def _of_direction(self, residual: Float64, u: Float64) -> tuple[Float64, Float64, Float64]:
        """Return `<r, g>` and `|(I - AA') g|^2` of `g = relu(u . x - t)`, and all thresholds.

        The squared norm is zero where a threshold has too few rows on one side.
        """
        z = self._X @ u
        order = np.argsort(-z, kind="stable")
        z, scale = z[order], self._scale[order]
        columns = np.column_stack([residual, self._affine])[order] * scale[:, None]
        # <v, relu(z - t)> at t = z_j: the sum of v_i z_i, minus t times that of v_i, over i <= j.
        products = np.cumsum(columns * z[:, None], axis=0) - z[:, None] * np.cumsum(columns, axis=0)
        w = scale**2
        squares = np.cumsum(w * z**2) - 2 * z * np.cumsum(w * z) + z**2 * np.cumsum(w)
        outside = squares - np.einsum("ij,ij->i", products[:, 1:], products[:, 1:])
        n = np.arange(len(z))
        allowed = (n >= self._min_active) & (len(z) - n >= self._min_active)
        allowed &= outside > _DEPENDENT * squares
        return products[:, 0], np.where(allowed, outside, 0.0), z

    def _taken(
        self, W: Float64, signs: Float64, Q: Float64, residual: Float64, n_neurons: int
    ) -> tuple[list[Float64], Float64, Float64]:
        """Take neurons one by one; return them, the new span and what is left of the residual."""
        G = np.maximum(self._X @ W[:, :-1].T + W[:, -1], 0.0)
        G -= self._X @ self._shape.taken(W, signs)[:, :-1].T
        G *= self._scale[:, None]
        size = np.einsum("ij,ij->j", G, G)
        G -= Q @ (Q.T @ G)
        taken, new = [], []
        for _ in range(min(n_neurons, len(W))):
            outside, gains = np.einsum("ij,ij->j", G, G), G.T @ residual
            usable = (outside > _DEPENDENT * size) & (signs * gains > 0)
            scores = np.where(usable, gains**2 / np.where(usable, outside, 1.0), 0.0)
            best = int(np.argmax(to_few_digits(scores)))
            if not scores[best] > 0:
                break
            taken.append(W[best])
            q = G[:, best] / np.sqrt(outside[best])
            new.append(q)
            residual = residual - q * (q @ residual)
            G -= np.outer(q, q @ G)
        return taken, np.column_stack([Q, *new]), residual
