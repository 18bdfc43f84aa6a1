"""The affine term `l . x + m`: columns that span it on the rows, and their weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

# Principal components below this fraction of the largest are dropped: two columns that agree to six
# digits would get huge weights of opposite sign.
_RANK = 1e-6


@dataclass(frozen=True, eq=False)
class AffineTerm:
    """Columns spanning the affine functions on the rows.

    By default orthonormal ones, the constant and the principal components of the centred inputs. So
    for equal or constant columns of `X`, or more columns than rows, the affine function has the
    smallest weights.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Sample weights included; none if the network has no affine term.
    to_weights : ndarray of shape (d + 1, n_columns)
        Weights of each column as an affine function of the inputs, constant last.
    """

    columns: Float64
    to_weights: Float64

    @property
    def n_nodes(self) -> int:
        """Number of nodes: `l . x + m = relu(l . x + m) - relu(-l . x - m)` counts as two."""
        return 2 if self.columns.shape[1] else 0

    @staticmethod
    def absent(rows: Rows) -> "AffineTerm":
        """Return an empty affine term."""
        return AffineTerm(np.empty((len(rows), 0)), np.empty((rows.X.shape[1] + 1, 0)))

    @staticmethod
    def of(rows: Rows) -> "AffineTerm":
        """Return the affine functions of all inputs."""
        X = rows.X.astype(np.float64)
        mean = np.average(X, axis=0, weights=rows.weights)
        width = np.abs(X - mean).max(axis=0)
        width[width == 0] = 1.0
        U, sizes, Vt = np.linalg.svd(rows.weighted((X - mean) / width), full_matrices=False)
        rank = int(np.sum(sizes > _RANK * max(1.0, sizes[0])))
        ones = rows.weighted(np.ones((len(rows), 1)))
        length = np.linalg.norm(ones)
        linear = Vt[:rank].T / sizes[:rank] / width[:, None]
        to_weights = np.zeros((X.shape[1] + 1, rank + 1))
        to_weights[-1, 0] = 1.0 / length
        to_weights[:-1, 1:] = linear
        to_weights[-1, 1:] = -mean @ linear
        return AffineTerm(np.column_stack([ones / length, U[:, :rank]]), to_weights)

    @staticmethod
    def of_single_columns(rows: Rows) -> "AffineTerm":
        """Return the constant and the inputs themselves, which may depend on each other."""
        X1 = np.column_stack([np.ones(len(rows)), rows.X.astype(np.float64)])
        to_weights = np.roll(np.eye(X1.shape[1]), -1, axis=0)
        return AffineTerm(rows.weighted(X1), to_weights)

    @staticmethod
    def shrunk(rows: Rows, line: RidgeLine) -> "AffineTerm":
        """Return the constant and the lines of the outputs: for few rows beside the inputs.

        All affine functions would reproduce as many rows as there are inputs, noise included.
        """
        weights = np.vstack([line.linear, line.intercept])
        constant = np.zeros((len(weights), 1))
        constant[-1] = 1.0
        to_weights = np.hstack([constant, weights])
        X1 = np.column_stack([rows.X.astype(np.float64), np.ones(len(rows))])
        columns = rows.weighted(X1 @ to_weights)
        kept = _independent(columns)
        Q, R = np.linalg.qr(columns[:, kept])
        return AffineTerm(Q, np.linalg.solve(R.T, to_weights[:, kept].T).T)

    def evaluate(self, X: NDArray[np.floating]) -> Float64:
        """Return the columns on other rows, without weights."""
        values: Float64 = X @ self.to_weights[:-1] + self.to_weights[-1]
        return values


def _independent(columns: Float64) -> list[int]:
    """Return the positions of the first column, and of those that do not depend on earlier ones."""
    kept = [0]
    for j in range(1, columns.shape[1]):
        Q = np.linalg.qr(columns[:, kept])[0]
        left = columns[:, j] - Q @ (Q.T @ columns[:, j])
        if np.linalg.norm(left) > _RANK * np.linalg.norm(columns[:, 0]):
            kept.append(j)
    return kept
