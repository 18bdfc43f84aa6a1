"""`Passes`: sums over all rows, for networks grown on samples, and their outer weights."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from greedynet.activations import Activation
from greedynet.correction.all_rows.products import Gram, OnNeurons, Products
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import Blocks, Work
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

N_PROBES = 8
# Allowed deviation of a probe. `(r + k) sqrt(2 / m)` is due to chance, several times that with
# heavy tails; a larger deviation indicates outlying rows.
_ALIKE, _BY_CHANCE = 0.5, 8.0
T = TypeVar("T")


class Sums:
    """Sums over rows in blocks, in their original units."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._last: tuple[Float64, Gram] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._blocks)

    def gram(self, coordinates: Coordinates, points: Float64, activation: Activation) -> Gram:
        """Return the products of the affine columns and of neurons."""
        # The outer weights are solved at the last point of the correction, whose products are
        # known.
        if self._last is None or not np.array_equal(self._last[0], points):
            work = Products(coordinates.without_rows(), points, activation)
            self._last = points, self._blocks.total(work)
        return self._last[1]

    def total(self, work: Work[T]) -> T:
        """Return the sum of any `Work`."""
        return self._blocks.total(work)


@dataclass(frozen=True, eq=False)
class Look:
    """Sums over all rows, for weights found on a sample.

    The gradient `F'(Y - F c)`, the error `|| Y - F c ||^2`, and the squared norms of `F p` for
    every probe `p`.
    """

    gradient: Float64
    square: float
    probes: Float64


@dataclass(frozen=True, eq=False)
class Looked(OnNeurons):
    """The `Work` that computes a `Look`; probes, too, are combinations of the columns."""

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
    """Return products that give the outer weights of all rows, from sums over a large sample.

    The ridge on the weights of the neurons may be approximate; the products contain none.
    """
    # So many rows of a sample are enough for a column.
    if sample.n_rows < 100 * (coordinates.n_affine + len(points)):
        return everything.gram(coordinates, points, activation)
    few = sample.gram(coordinates, points, activation).times(everything.n_rows / sample.n_rows)
    c = few.weights(np.repeat([0.0, ridge], [coordinates.n_affine, len(points)]))
    work = Looked(coordinates.without_rows(), points, activation, c, _probes(few))
    look = everything.total(work)
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


class Passes:
    """Sums over all rows, and over a larger sample if there is one, for the correction of neurons.

    Without a larger sample, `many` is `all`.
    """

    def __init__(self, blocks: Blocks, larger: Blocks | None = None) -> None:
        self.all = Sums(blocks)
        self.many = self.all if larger is None else Sums(larger)

    def products(
        self, coordinates: Coordinates, points: Float64, activation: Activation, ridge: float
    ) -> Gram:
        """Return products of neurons from which the outer weights for all rows follow."""
        if self.many is self.all:
            return self.all.gram(coordinates, points, activation)
        return products_of_all_rows(self.many, self.all, coordinates, points, activation, ridge)
