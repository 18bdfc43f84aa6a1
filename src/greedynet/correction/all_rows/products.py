"""Products of neurons over rows, and the outer weights that follow from them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from greedynet.activations import Activation
from greedynet.model.coordinates import Coordinates
from greedynet.rows.rows import Rows
from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Triangle:
    """`F = QR` and `z = Q'Y`, without `Q`."""

    R: Float64
    z: Float64

    def z_of(self, n_columns: int) -> Float64:
        """Return the projections onto the first columns."""
        return self.z[:n_columns]


@dataclass(frozen=True, eq=False)
class Gram:
    """Products `F'F`, `F'Y`, and the squared norm of `Y`."""

    G: Float64
    b: Float64
    square: float

    def times(self, factor: float) -> "Gram":
        """Return the products scaled to `factor` times as many rows."""
        return Gram(factor * self.G, factor * self.b, factor * self.square)

    def divided(self, norms: Float64) -> "Gram":
        """Return the products of the columns divided by `norms`."""
        return replace(self, G=self.G / np.outer(norms, norms), b=self.b / norms[:, None])

    def triangle(self, columns: NDArray[np.intp]) -> Triangle:
        """Return the triangular factor of some of the columns."""
        G = self.G[np.ix_(columns, columns)].copy()
        diagonal = np.einsum("ii->i", G)
        diagonal += 1e-13 * diagonal.max(initial=1.0)  # definite, though rounded
        R = cholesky(G, lower=False, check_finite=False)
        return Triangle(R, solve_triangular(R, self.b[columns], trans="T", check_finite=False))

    def regular(self, ridge: float | Float64 = 0.0) -> Float64:
        """Return `F'F` with a ridge, and a tiny multiple of the diagonal to make it definite."""
        M = self.G.copy()
        diagonal = np.einsum("ii->i", M)
        diagonal += 1e-12 * diagonal + (1e-14 * diagonal.max(initial=0.0) + TINY) + ridge
        return M

    def weights(self, ridge: float | Float64 = 0.0) -> Float64:
        """Return the weights `c` that minimise `|| Y - F c ||^2 + sum ridge c^2`."""
        # Not `solve`, which warns about nearly dependent neurons.
        triangle = cho_factor(self.regular(ridge), check_finite=False)
        return np.asarray(cho_solve(triangle, self.b, check_finite=False))

    def rss(self, weights: Float64) -> float:
        """Return `|| Y - F c ||^2`, by differences: inaccurate for tiny residuals."""
        return float(self.square + np.sum(weights * (self.G @ weights - 2.0 * self.b)))


@dataclass(frozen=True, eq=False)
class OnNeurons:
    """Base of `Work` with neurons for scaled inputs, on rows in their original units."""

    coordinates: Coordinates
    points: Float64
    activation: Activation

    @property
    def width(self) -> int:
        """Number of affine columns and neurons."""
        return self.coordinates.n_affine + len(self.points)

    def before_activation(self, rows: Rows) -> Float64:
        """Return affine columns and the neurons' `z`, one per row, on rows in original units.

        Transposed compared with other functions, so that the values of a neuron are contiguous and
        a block of rows is processed twice as fast. The weights are scaled instead of the rows:
        there should be few operations, since threads wait for each other at each.
        """
        A = self.coordinates.inputs.fold(
            np.concatenate([self.coordinates.affine.to_weights.T, self.points])
        )
        F = np.asarray(A[:, :-1] @ rows.X.T, dtype=np.float64)
        F += A[:, -1:]
        return F

    def activate(self, F: Float64) -> Float64:
        """Apply the activation to the neurons' `z`, in place."""
        r = self.coordinates.n_affine
        F[r:] = self.activation.value(F[r:])
        return F


class Products(OnNeurons):
    """The `Work` of the products of affine columns and neurons."""

    def of(self, rows: Rows) -> Gram:
        """Return the products over some rows."""
        F = self.activate(self.before_activation(rows))
        Y = rows.weighted(self.coordinates.outputs.apply(rows.Y))
        if rows.weights is not None:
            F *= np.sqrt(rows.weights)
        return Gram(F @ F.T, F @ Y, float(np.sum(Y**2)))

    def join(self, one: Gram, other: Gram) -> Gram:
        """Return the sum of two products."""
        return Gram(one.G + other.G, one.b + other.b, one.square + other.square)
