"""A growing QR factor: append a column, project the target, solve for any width.

For columns `F = [f_1 ... f_k]` in the order in which they are appended, it stores

    F = Q R,    z = Q' y,    r = y - Q z,

so that the least-squares weights of the first `k` columns are `R_k^{-1} z_k`, for every `k`. It
knows nothing of neurons or of the greedy algorithm.
"""

import numpy as np
from numpy.typing import NDArray

from greedynet.linalg.weights import misfit
from greedynet.support.types import Float64

DEPENDENT = 1e-5


class Factor:
    """Orthonormal factor of the columns appended so far, with the projections of the target.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_outputs)
        The outputs that the columns approximate.
    capacity : int, default=32
        Initial capacity in columns; it grows as needed.
    dependent : float, default=1e-5
        A column whose component outside the span is below this fraction of its norm is rejected.
        This bounds the weights: a unit column enters with a weight of at most `|y| / dependent`.

    Attributes
    ----------
    follows_projection : bool
        Whether a new column `q` changes the residual by `q (q'r)` only.
    """

    follows_projection = True

    def __init__(self, target: Float64, capacity: int = 32, dependent: float = DEPENDENT) -> None:
        n_rows, n_outputs = target.shape
        self.dependent = dependent
        self._residual = np.array(target, dtype=np.float64)
        self._capacity = max(1, capacity)
        self._Q = np.empty((n_rows, self._capacity), order="F")
        self._R = np.zeros((self._capacity, self._capacity))
        self._z = np.zeros((self._capacity, n_outputs))
        self.size = 0

    @property
    def Q(self) -> Float64:
        """Orthonormal columns, `(n_rows, size)`."""
        return self._Q[:, : self.size]

    @property
    def R(self) -> Float64:
        """Upper triangle, `(size, size)`."""
        return self._R[: self.size, : self.size]

    @property
    def z(self) -> Float64:
        """Projections of the target, `(size, n_outputs)`."""
        return self._z[: self.size]

    @property
    def residual(self) -> Float64:
        """The target minus its projection onto the columns, `(n_rows, n_outputs)`."""
        return self._residual

    @property
    def residual_norm(self) -> float:
        """Euclidean (Frobenius) norm of the residual."""
        return float(np.linalg.norm(self.residual))

    def append(self, column: Float64) -> bool:
        """Append a column; return False, without any change, if it depends on the existing ones.

        Gram-Schmidt is applied twice, which keeps `Q` orthonormal up to rounding, however close the
        column is to the span.
        """
        if self.size == self._capacity:
            self._grow()
        Q, k = self.Q, self.size
        length = float(np.linalg.norm(column))
        h = Q.T @ column
        q = column - Q @ h
        again = Q.T @ q
        q -= Q @ again
        h += again
        rho = float(np.linalg.norm(q))
        if not rho > self.dependent * length:
            return False
        q /= rho
        self._Q[:, k] = q
        self._R[:k, k] = h
        self._R[k, k] = rho
        self._project(slice(k, k + 1))
        self.size = k + 1
        return True

    def extend(self, columns: Float64) -> NDArray[np.bool_]:
        """Append columns, except those that depend on the ones before; return which were appended.

        The same as one by one, up to rounding, but by products of matrices.
        """
        while self.size + columns.shape[1] > self._capacity:
            self._grow()
        H = self.Q.T @ columns
        outside = columns - self.Q @ H
        again = self.Q.T @ outside
        new, upper = np.linalg.qr(outside - self.Q @ again)
        rho = upper.diagonal()
        if len(rho) < columns.shape[1] or not np.all(
            np.abs(rho) > self.dependent * np.linalg.norm(columns, axis=0)
        ):
            return np.array([self.append(column) for column in columns.T], dtype=bool)
        signs = np.sign(rho)
        added = slice(self.size, self.size + len(rho))
        self._Q[:, added] = signs * new
        self._R[: self.size, added] = H + again
        self._R[added, added] = signs[:, None] * upper
        self._project(added)
        self.size = added.stop
        return np.ones(len(rho), dtype=bool)

    @property
    def target_size(self) -> float:
        """Norm of the target."""
        return float(np.sqrt(self.residual_norm**2 + np.sum(self.z**2)))

    def rss(self, weights: Float64, alpha: float) -> float:
        """Return the squared norm of the residual of weights fitted with the ridge `alpha`."""
        return self.residual_norm**2 + (misfit(self.R, self.z, weights) if alpha else 0.0)

    def z_of(self, n_columns: int) -> Float64:
        """Return the weights of the orthonormal columns if there are only so many."""
        return self.z[:n_columns]

    def _project(self, added: slice) -> None:
        """Project onto new columns: the residual, so that exactly that is subtracted."""
        new = self._Q[:, added]
        self._z[added] = new.T @ self._residual
        self._residual -= new @ self._z[added]

    def _grow(self) -> None:
        old, self._capacity = self._capacity, 2 * self._capacity
        Q = np.empty((len(self._Q), self._capacity), order="F")
        Q[:, :old] = self._Q
        R = np.zeros((self._capacity, self._capacity))
        R[:old, :old] = self._R
        z = np.zeros((self._capacity, self._z.shape[1]))
        z[:old] = self._z
        self._Q, self._R, self._z = Q, R, z
