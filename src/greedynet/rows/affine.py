"""The affine term `l . x + m`: columns that span it on the rows, and their weights."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.linalg.weights import signed_weights
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.types import Float64

# Candidates of the ridge, relative to the number of rows, for inputs of unit variance.
RIDGES = np.append(0.0, np.geomspace(1e-10, 1e5, 61))
# Principal components below this fraction of the largest are dropped.
_COLLINEAR = 1e-7
_ZERO = 1e-11
# So that columns that agree have weights.
_LEAST_RIDGE = 1e-10


@dataclass(frozen=True, eq=False)
class RidgeLine:
    """`l . x + m`, with the ridge on `l` that has the smallest leave-one-out error.

    With the singular value decomposition `U S V'` of the centred inputs and `f = s^2 / (s^2 + r)`,

        l = V (f / s) U'y,    h_i = sum_j U_ij^2 f_j + 1 / n,    e_i = (y_i - yhat_i) / (1 - h_i),

    where `e_i` is the error at row `i` of the line that is fitted without it, at the same ridge.
    """

    linear: Float64  # (d, n_outputs): the `l`
    intercept: Float64  # (n_outputs,): the `m`
    parameters: Float64  # (n_outputs,): effective number of parameters, `sum h_i`
    ridges: Float64  # (n_outputs,)

    @staticmethod
    def of(rows: Rows, shape: Shape | None = None) -> "RidgeLine":
        """Return the line of rows whose inputs have unit variance; each output has its ridge.

        With a shape, that of one output whose slopes have the signs of the shape, at the ridge of
        the line without it.
        """
        line = RidgeLine._of(rows)
        if shape is None or (shape.monotone[:, None] * line.linear >= 0).all():
            return line
        return line._shaped(rows, shape)

    @staticmethod
    def _of(rows: Rows) -> "RidgeLine":
        X = rows.X.astype(np.float64)
        center = np.average(X, axis=0, weights=rows.weights)
        mean = np.average(rows.Y, axis=0, weights=rows.weights)
        U, s, Vt = np.linalg.svd(rows.weighted(X - center), full_matrices=False)
        kept = s > _COLLINEAR * max(1.0, s.max(initial=0.0))
        U, s, Vt = U[:, kept], s[kept], Vt[kept]
        left = rows.weighted(rows.Y - mean)
        ridges = RIDGES[:, None] * len(X)
        shares, rest = s**2 / (s**2 + ridges), ridges / (s**2 + ridges)
        # By the shares that are left: with as many inputs as rows, `1 - h` would be rounding.
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        outside = 1.0 - weights / weights.sum() - np.sum(U**2, axis=1)
        free = U**2 @ rest.T + np.where(outside > _ZERO, outside, 0.0)[:, None]
        along = U.T @ left
        beyond = left - U @ along
        beyond[np.abs(beyond) < _ZERO * np.abs(left).max(initial=0.0)] = 0.0
        linear, parameters, chosen = [], [], []
        for b, e in zip(along.T, beyond.T, strict=True):
            left_out = (U @ (rest * b).T + e[:, None]) / np.where(free > _ZERO**2, free, np.inf)
            squares = np.where((free > _ZERO**2).all(axis=0), np.sum(left_out**2, axis=0), np.inf)
            best = int(np.argmin(squares)) if np.isfinite(squares).any() else len(RIDGES) - 1
            linear.append(Vt.T @ (shares[best] / s * b))
            parameters.append(float(np.sum(shares[best])) + 1.0)
            chosen.append(float(ridges[best, 0]))
        slopes = np.array(linear).T.reshape(X.shape[1], -1)
        found = np.array(parameters), np.array(chosen)
        return RidgeLine(slopes, mean - center @ slopes, *found)

    def _shaped(self, rows: Rows, shape: Shape) -> "RidgeLine":
        """Return the line of the same ridge whose slopes have the signs of a shape."""
        X = rows.X.astype(np.float64)
        center = np.average(X, axis=0, weights=rows.weights)
        mean = np.average(rows.Y, axis=0, weights=rows.weights)
        A, left = rows.weighted(X - center), rows.weighted(rows.Y - mean)
        M = A.T @ A + (self.ridges[0] + _LEAST_RIDGE * len(X)) * np.eye(X.shape[1])
        slopes, _ = signed_weights(M, A.T @ left[:, 0], shape.monotone)
        weights = slopes[:, None]
        return replace(self, linear=weights, intercept=mean - center @ weights)

    def predict(self, X: NDArray[np.floating]) -> Float64:
        return np.asarray(X @ self.linear + self.intercept)


# Principal components below this fraction of the largest are dropped: two columns that agree to six
# digits would get huge weights of opposite sign.
_RANK = 1e-6


@dataclass(frozen=True, eq=False)
class AffineTerm:
    """Columns spanning the affine functions on the rows.

    By default orthonormal ones, the constant and the principal components of the centred inputs. So
    for equal or constant columns of `X`, or more columns than rows, the affine function has the
    smallest weights.
    """

    # (n_rows, n_columns): sample weights included; none if the network has no affine term.
    columns: Float64
    # (d + 1, n_columns): weights of each column as an affine function of the inputs, constant last.
    to_weights: Float64

    @property
    def n_nodes(self) -> int:
        """Number of nodes: `l . x + m = relu(l . x + m) - relu(-l . x - m)` counts as two."""
        return 2 if self.columns.shape[1] else 0

    @staticmethod
    def absent(rows: Rows) -> "AffineTerm":
        return AffineTerm(np.empty((len(rows), 0)), np.empty((rows.X.shape[1] + 1, 0)))

    @staticmethod
    def of(rows: Rows) -> "AffineTerm":
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
