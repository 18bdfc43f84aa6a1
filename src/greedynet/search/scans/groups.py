"""Groups of directions, which score all their neurons; one class for each kind of activation.

    ReluGroup     every threshold, by running sums (`relu`)
    BlockGroup    with many rows, the thresholds between blocks of them (`relu_blocks`)
    PowerGroup    thresholds at the projections and outside of them, by sums of powers (`powers`)
    BinnedGroup   a grid of thresholds and scales, by histograms and one product (`bins`)

A group is updated with the new orthonormal columns of the factor (`take_off`), and finds the best
neuron of each of its directions for a residual (`scan`).
"""

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, degree_of, halves, scales_of
from greedynet.search.scans import powers, relu, relu_blocks
from greedynet.support.types import Float64

# Thresholds outside the rows, relative to the largest norm: there a power is a polynomial.
_BEYOND = np.array([0.04, 0.5, 2.0])
N_NODES = 512
N_THRESHOLDS = 64
# From so many rows on, a ReLU has at most so many thresholds. With fewer, a scan takes little time
# anyway, and functions without noise are approximated a little better by the best of all.
MIN_ROWS_IN_BLOCKS = 6_000
N_BLOCKS = 256
_ROWS_PER_BLOCK = 8
# Sums of single precision: less outside the span is rounding.
_DEPENDENT_IN_BLOCKS = 1e-6


class Group(Protocol):
    """A group of directions."""

    directions: Float64  # (m, d)
    precision: ClassVar[type[np.floating]]  # of the columns that are taken off

    def joined(self, other: Self) -> Self:
        """Return the union of two groups."""
        ...

    def take_off(self, columns: Any, n_columns: int) -> None:
        """Subtract the components along the first orthonormal columns from the norms."""
        ...

    def scan(self, residual: Float64, min_active: int, dependent: float) -> tuple[Float64, Float64]:
        """Return the best score of each direction, 0 for none, and its neuron, bias last."""
        ...


MakeGroup = Callable[[Float64], Group]


def make_group(
    activation: Activation, X: Float64, weights: Float64, *, mirrored: bool
) -> MakeGroup:
    """Return the function that makes groups of directions for an activation.

    The sample weights are empty if all are 1. `mirrored` says that a neuron and its mirror image
    are equivalent, given the affine term.
    """
    degree = degree_of(activation)
    if degree is None:
        grid = Grid(activation)
        return lambda directions: BinnedGroup(directions, X, weights, grid)
    if degree == 1 and (mirrored or halves(activation)[1] == 0.0):
        # With one input there is no refinement, and the scan must be exact.
        if mirrored and len(X) >= MIN_ROWS_IN_BLOCKS and X.shape[1] > 1:
            return lambda directions: BlockGroup(directions, X, weights)
        # With an affine term, every piecewise linear activation is equivalent to a ReLU.
        return lambda directions: ReluGroup(directions, X, weights, mirrored=mirrored)
    longest = float(np.sqrt(np.einsum("ij,ij->i", X, X).max())) or 1.0
    sigma = (degree, halves(activation), longest * _BEYOND)
    return lambda directions: PowerGroup(directions, X, weights, sigma)


class _Joinable:
    """A group with arrays that have one entry per direction."""

    directions: Float64
    precision: ClassVar[type[np.floating]] = np.float64
    _arrays: ClassVar[tuple[str, ...]]

    def joined(self, other: Self) -> Self:
        both = copy(self)
        for name in ("directions", *self._arrays):
            setattr(both, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        return both


class _Sorted(_Joinable):
    """Directions with their sorted projections."""

    def __init__(self, directions: Float64, X: Float64, weights: Float64) -> None:
        self.directions = directions
        projections = directions @ X.T
        order = np.argsort(-projections, axis=1)
        self._weights = weights
        self._values = np.take_along_axis(projections, order, axis=1)
        self._order = order.astype(np.uint32)


class ReluGroup(_Sorted):
    """All thresholds of `relu(u . x - t)`, and of `relu(-u . x - t)` unless equivalent."""

    _arrays = ("_values", "_order", "_outside")

    def __init__(
        self, directions: Float64, X: Float64, weights: Float64, *, mirrored: bool
    ) -> None:
        if not mirrored:
            directions = np.concatenate([directions, -directions])
        super().__init__(directions, X, weights)
        self._mirrored = mirrored
        self._outside = np.empty((*self._values.shape, 3))
        relu.measure(self._values, self._order, weights, self._outside)

    def take_off(self, columns: Any, n_columns: int) -> None:
        relu.take_off(self._values, self._order, columns, n_columns, self._outside)

    def scan(self, residual: Float64, min_active: int, dependent: float) -> tuple[Float64, Float64]:
        scores, thresholds = np.empty(len(self._values)), np.empty(len(self._values))
        reach = 0.0 if self._mirrored else (float(np.ptp(self._values)) or 1.0)
        relu.best_thresholds(
            self._values,
            self._order,
            self._weights,
            residual,
            self._outside,
            min_active,
            reach,
            dependent,
            scores,
            thresholds,
        )
        return scores, np.column_stack([self.directions, -thresholds])


class BlockGroup(_Sorted):
    """Thresholds of `relu(u . x - t)` at the ends of blocks of rows; `-u` is equivalent."""

    precision = np.float32
    _arrays = ("_order", "_offsets", "_starts", "_gaps", "_sizes", "_n_active", "_ends", "_outside")

    def __init__(self, directions: Float64, X: Float64, weights: Float64) -> None:
        super().__init__(directions, X, weights)
        m, n = self._values.shape
        n_blocks = min(N_BLOCKS, n // _ROWS_PER_BLOCK)
        self._starts = np.empty((m, n_blocks + 1), dtype=np.intp)
        relu_blocks.divide(self._values, self._starts)
        self._offsets = np.empty((m, n), dtype=np.float32)
        self._gaps, self._sizes = np.empty((m, n_blocks)), np.empty((m, n_blocks))
        self._n_active = np.empty((m, n_blocks), dtype=np.intp)
        relu_blocks.measure(
            self._values,
            self._order,
            weights,
            self._starts,
            self._offsets,
            self._gaps,
            self._sizes,
            self._n_active,
        )
        ends = np.minimum(self._starts[:, 1:], n - 1)
        self._ends = np.take_along_axis(self._values, ends, axis=1)
        self._outside = self._sizes.copy()
        del self._values

    def take_off(self, columns: Any, n_columns: int) -> None:
        relu_blocks.take_off(
            self._order, self._offsets, self._starts, self._gaps, columns, n_columns, self._outside
        )

    def scan(self, residual: Float64, min_active: int, dependent: float) -> tuple[Float64, Float64]:
        m = len(self._order)
        scores, best = np.empty(m), np.empty(m, dtype=np.intp)
        relu_blocks.best_blocks(
            self._order,
            self._offsets,
            self._starts,
            self._gaps,
            residual,
            self._sizes,
            self._n_active,
            self._outside,
            min_active,
            max(dependent, _DEPENDENT_IN_BLOCKS),
            scores,
            best,
        )
        return scores, np.column_stack([self.directions, -self._ends[np.arange(m), best]])


class PowerGroup(_Sorted):
    """Neurons `sigma(u . x - t)` and `sigma(t - u . x)` with thresholds at rows and outside.

    `sigma` is the degree, the two halves, and the distances of the thresholds outside.
    """

    _arrays = ("_values", "_order", "_sizes", "_outside")

    def __init__(
        self,
        directions: Float64,
        X: Float64,
        weights: Float64,
        sigma: tuple[int, tuple[float, float], Float64],
    ) -> None:
        super().__init__(directions, X, weights)
        self._sigma = sigma
        self._sizes = np.empty((len(directions), 2, self._values.shape[1] + 2 * len(_BEYOND)))
        powers.sizes(self._values, self._order, weights, *sigma, self._sizes)
        self._outside = self._sizes.copy()

    def take_off(self, columns: Any, n_columns: int) -> None:
        rows = np.ascontiguousarray(columns[:, :n_columns].T)
        powers.add_squares(self._values, self._order, rows, *self._sigma, -1.0, self._outside)

    def scan(self, residual: Float64, min_active: int, dependent: float) -> tuple[Float64, Float64]:
        gains = np.zeros_like(self._outside)
        powers.add_squares(self._values, self._order, residual, *self._sigma, 1.0, gains)
        free = self._outside > dependent * self._sizes
        free[:, :, : self._values.shape[1]] &= self._balanced(min_active)[:, None, :]
        scores = np.divide(gains, self._outside, out=np.zeros_like(gains), where=free)
        flat = scores.reshape(len(scores), -1)
        best = np.argmax(flat, axis=1)
        side, at = np.divmod(best, scores.shape[2])
        rows = np.arange(len(scores))
        sign = 1.0 - 2.0 * side
        thresholds = self._thresholds()[rows, at]
        return flat[rows, best], sign[:, None] * np.column_stack([self.directions, -thresholds])

    def _thresholds(self) -> Float64:
        low, high = self._values[:, -1:], self._values[:, :1]
        beyond = self._sigma[2]
        return np.hstack([self._values, low - beyond, high + beyond])

    def _balanced(self, min_active: int) -> NDArray[np.bool_]:
        n = self._values.shape[1]
        if min_active >= n:
            return np.zeros(self._values.shape, dtype=bool)
        above, below = self._values[:, [min_active - 1]], self._values[:, [n - min_active]]
        return (self._values < above) & (self._values > below)


class BinnedGroup(_Joinable):
    """Neurons `sigma(s (u . x - t))` for a grid of thresholds and scales, by histograms."""

    _arrays = ("_center", "_half", "_nodes", "_shares", "_sizes", "_outside", "_n_alive")

    def __init__(self, directions: Float64, X: Float64, weights: Float64, grid: "Grid") -> None:
        self.directions = directions
        projections = directions @ X.T
        low, high = projections.min(axis=1), projections.max(axis=1)
        self._center, self._half = (low + high) / 2, np.maximum((high - low) / 2, 1e-12)
        place = (projections - low[:, None]) / (2 * self._half[:, None]) * (N_NODES - 1)
        nodes = np.minimum(place.astype(np.uint16), N_NODES - 2)
        self._nodes, self._shares = nodes, (place - nodes).astype(np.float32)
        self._grid = grid
        self._sizes = self._histogram(weights) @ self._grid.powers[1]
        self._outside = self._sizes.copy()
        self._n_alive = self._count_alive()

    def take_off(self, columns: Any, n_columns: int) -> None:
        """Subtract the components along columns from the squared norms, up to binning errors."""
        for column in np.ascontiguousarray(columns[:, :n_columns].T):
            self._outside -= (self._histogram(column) @ self._grid.values) ** 2

    def scan(self, residual: Float64, min_active: int, dependent: float) -> tuple[Float64, Float64]:
        """Return the best neuron of the grid, up to binning errors."""
        gains = np.zeros_like(self._outside)
        for column in residual:
            gains += (self._histogram(column) @ self._grid.values) ** 2
        # Histograms are not exact: small values are not significant.
        free = self._outside > max(dependent, 1e-6) * self._sizes
        # Slightly stricter than `polish`, which must not reject what is found here.
        free &= self._n_alive > min_active - 0.25
        scores = np.divide(gains, self._outside, out=np.zeros_like(gains), where=free)
        best = np.argmax(scores, axis=1)
        slopes = self._grid.slopes[best] / self._half
        offsets = self._center + self._grid.thresholds[best] * self._half
        points = slopes[:, None] * np.column_stack([self.directions, -offsets])
        return scores[np.arange(len(scores)), best], points

    def _count_alive(self) -> Float64:
        """Return the effective number of rows of each neuron, as in `polish`."""
        rows, n = self._histogram(np.empty(0)), self._nodes.shape[1]
        m1, m2, m3, m4 = (rows @ power / n for power in self._grid.powers)
        second = m2 - m1**2
        fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
        certain = fourth > 1e-12 * m4
        return np.divide(n * second**2, fourth, out=np.zeros_like(fourth), where=certain)

    def _histogram(self, column: Float64) -> Float64:
        out = np.empty((len(self._nodes), N_NODES))
        powers.histogram(self._nodes, self._shares, column, out)
        return out


class Grid:
    """The activation at the grid points, for every threshold, scale and sign."""

    def __init__(self, activation: Activation) -> None:
        scales = np.array(scales_of(activation))
        if not _is_its_own_mirror(activation):
            scales = np.concatenate([scales, -scales])
        thresholds = np.linspace(-1.0, 1.0, N_THRESHOLDS + 1)
        self.slopes = np.repeat(scales, len(thresholds))
        self.thresholds = np.tile(thresholds, len(scales))
        nodes = np.linspace(-1.0, 1.0, N_NODES)
        z = self.slopes * (nodes[:, None] - self.thresholds)
        self.values = np.asarray(activation.value(z), dtype=np.float64)
        square = self.values * self.values
        self.powers = (self.values, square, square * self.values, square * square)


def _is_its_own_mirror(activation: Activation) -> bool:
    """Whether `sigma` is even or odd."""
    z = np.linspace(0.1, 5.0, 50)
    up, down = activation.value(z), activation.value(-z)
    return bool(np.allclose(up, down, atol=1e-12) or np.allclose(up, -down, atol=1e-12))
