"""The outer weights of a network on large data: products of a sample, and one gradient.

Products `F'F` take `(r + k)^2 / 2` multiplications per row, residual and gradient `2 (r + k)`. So
the products are those of a large sample, scaled to all rows, and the solution is corrected on all
rows:

    H    products of the sample, times n / m
    c0   the best weights on the sample
    g    F'(Y - F c0), over all rows
    c    c0 + H^-1 g

is a step of Newton's method. It reduces the distance from `c0` to the best weights of all rows to a
fraction of about `sqrt((r + k) / m)`, one in a hundred, and this distance is small: the remaining
error is far below that of the noise in the best weights themselves.

This requires that `H` represents all rows, which a few outlying rows, none of them in the sample,
are enough to prevent. The same pass detects this: with `H = L L'` and random signs `v`,

    v' L^-1 F'F L^-T v = |v|^2                           if it does,

and larger by the contribution of such rows otherwise. Then the products are computed over all rows,
in another pass.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from greedynet.activations import Activation
from greedynet.correction.all_rows.products import Gram, OnNeurons
from greedynet.correction.all_rows.sums import Sums
from greedynet.model.coordinates import Coordinates
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

N_PROBES = 8
# Allowed deviation of a probe. `(r + k) sqrt(2 / m)` is due to chance, several times that with
# heavy tails; a larger deviation indicates outlying rows.
_ALIKE, _BY_CHANCE = 0.5, 8.0
# Minimum number of rows per column for a sample to be used.
_ROWS_PER_COLUMN = 100


@dataclass(frozen=True, eq=False)
class Look:
    """Gradient, error and probes over all rows, for weights found on a sample.

    Attributes
    ----------
    gradient : ndarray of shape (r + k, n_outputs)
        `F'(Y - F c)`.
    square : float
        `|| Y - F c ||^2`.
    probes : ndarray of shape (n_probes,)
        Squared norms of `F p` for every probe `p`.
    """

    gradient: Float64
    square: float
    probes: Float64


@dataclass(frozen=True, eq=False)
class Looked(OnNeurons):
    """The `Work` that computes a `Look`.

    Attributes
    ----------
    weights : ndarray of shape (r + k, n_outputs)
        Weights of the affine columns and of the neurons.
    probes : ndarray of shape (r + k, n_probes)
        Linear combinations of the same columns.
    """

    weights: Float64
    probes: Float64

    def of(self, rows: Rows) -> Look:
        """Return the sums over some rows."""
        F = self.activate(self.before_activation(rows))
        Y = self.coordinates.outputs.apply(rows.Y)
        found = np.concatenate([self.weights, self.probes], axis=1).T @ F
        residual, probed = Y.T - found[: Y.shape[1]], found[Y.shape[1] :]
        weights = np.ones(len(Y)) if rows.weights is None else rows.weights
        weighted = residual * weights
        return Look(F @ weighted.T, float(np.sum(residual * weighted)), probed**2 @ weights)

    def join(self, one: Look, other: Look) -> Look:
        """Return the sum of both."""
        return Look(
            one.gradient + other.gradient, one.square + other.square, one.probes + other.probes
        )


def products_of_all_rows(
    sample: Sums,
    everything: Sums,
    coordinates: Coordinates,
    points: Float64,
    activation: Activation,
    ridge: float = 0.0,
) -> Gram:
    """Return products that give the outer weights of all rows.

    Parameters
    ----------
    sample, everything : Sums
        Sums over a large sample of the rows, and over all rows.
    coordinates : Coordinates
        The coordinates.
    points : ndarray of shape (k, d + 1)
        Neurons.
    activation : Activation
    ridge : float
        Approximate ridge on the weights of the neurons; the products contain none.
    """
    if sample.n_rows < _ROWS_PER_COLUMN * (coordinates.n_affine + len(points)):
        return everything.gram(coordinates, points, activation)
    few = sample.gram(coordinates, points, activation).times(everything.n_rows / sample.n_rows)
    c = few.weights(np.repeat([0.0, ridge], [coordinates.n_affine, len(points)]))
    work = Looked(coordinates.without_rows(), points, activation, c, _probes(few))
    look = everything.look(work)
    off = np.abs(look.probes - len(c)).max()
    if off > max(_ALIKE, _BY_CHANCE * len(c) / np.sqrt(sample.n_rows)):
        return everything.gram(coordinates, points, activation)
    # The quadratic that has the same value and gradient at `c` as the sum over all rows.
    Hc = few.G @ c
    b = Hc + look.gradient
    return Gram(few.G, b, look.square + float(np.sum(c * (2.0 * b - Hc))))


def _probes(gram: Gram) -> Float64:
    """Return random combinations `L^-T v` of the columns, of squared norm `|v|^2` on the sample."""
    R = cholesky(gram.regular(), lower=False, check_finite=False)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(R), N_PROBES))
    return np.asarray(solve_triangular(R, signs, check_finite=False))
