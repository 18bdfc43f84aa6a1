"""Scaling of inputs and outputs, and the conversion of weights to the original units."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.rows import CanonicalColumns, Rows, rounded
from greedynet.support.types import Float64

# Columns with a kurtosis above this are scaled by their fourth moment.
MAX_KURTOSIS = 10.0
# Finer than the grid of the rows, coarser than the rounding of their units.
_GRID = 2.0**40


@dataclass(frozen=True, eq=False)
class InputScaling:
    """An affine map of each input, `x -> (x - center) / width`, and an order of the results."""

    center: Float64  # (d,): for the columns as given; a negative width reverses the sign
    width: Float64
    # (d,): positions of the scaled columns among the given ones; None for the order given.
    order: NDArray[np.intp] | None = None

    @staticmethod
    def identity(n_features: int) -> "InputScaling":
        return InputScaling(np.zeros(n_features), np.ones(n_features))

    @staticmethod
    def to_cube(X: NDArray[np.floating]) -> "InputScaling":
        """Map the range of each column onto [-1, 1], the cube on which the paper works."""
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        width = high / 2 - low / 2
        # A constant column has no information: infinite width gives it zero weight.
        width[width == 0] = np.inf
        return InputScaling(low / 2 + high / 2, width)

    @staticmethod
    def standard(rows: Rows) -> "InputScaling":
        """Map each column to mean 0 and standard deviation 1; robust to a single outlier."""
        # Always C order: sums of the same numbers must not differ.
        X = np.ascontiguousarray(rows.X, dtype=np.float64)
        largest = np.abs(X).max(axis=0)
        largest[largest == 0] = 1.0
        unit = X / largest
        center = np.average(unit, axis=0, weights=rows.weights)
        width = np.sqrt(np.average((unit - center) ** 2, axis=0, weights=rows.weights))
        # Constant up to rounding: infinite width gives the column zero weight.
        width[(np.ptp(X, axis=0) == 0) | (width < 1e-14) | (width * largest == 0)] = np.inf
        return InputScaling(center * largest, width * largest)

    @staticmethod
    def limiting_kurtosis(rows: Rows) -> "InputScaling":
        """Map to mean 0 and standard deviation 1, but smaller for nearly constant columns.

        A pixel that is nearly always 0 has a tiny standard deviation, and dividing by it would
        inflate its few other values. Columns with a kurtosis `m4 / m2^2` above 10 are divided by
        `(m4 / 10)^(1/4)` instead of `m2^(1/2)`.
        """
        standard = InputScaling.standard(rows)
        fourth = np.average(standard.apply(rows.X) ** 4.0, axis=0, weights=rows.weights)
        share = np.maximum(1.0, fourth / MAX_KURTOSIS) ** 0.25
        return replace(standard, width=standard.width * share)

    def in_canonical_columns(self, rows: Rows) -> "InputScaling":
        """Return the scaling followed by the canonical order and signs of the columns."""
        columns = canonical_columns(rows)
        return InputScaling(self.center, self.width * columns.signs, columns.order)

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scaled inputs, in the precision of `X`; in canonical columns, in float64.

        Rows that the scaling was not made for may lie anywhere: beyond the fourth root of the
        largest number they all count as equally far, so that cubes of them, too, are finite.
        """
        kind = X.dtype if self.order is None else np.dtype(np.float64)
        scaled = _scaled(X, self.center, self.width, farthest=float(np.finfo(kind).max) ** 0.25)
        ordered = scaled if self.order is None else scaled[:, self.order]
        return np.ascontiguousarray(ordered, dtype=kind)

    def scaled_gradient(self, by_inputs: Float64, by_bias: Float64) -> Float64:
        """Return a gradient for scaled inputs, bias last, from one for the original units."""
        scaled = (by_inputs - by_bias * self.center) / self.width
        return np.column_stack([self._ordered(scaled), by_bias])

    def fold(self, points: Float64) -> Float64:
        """Convert weights for scaled inputs, bias last, to weights for the original units."""
        weights = self._as_given(points) / self.width
        return np.column_stack([weights, points[:, -1] - weights @ self.center])

    def unfold(self, points: Float64) -> Float64:
        """Convert weights for the original units, bias last, to weights for scaled inputs."""
        bias = points[:, -1] + points[:, :-1] @ self.center
        width = np.where(np.isinf(self.width), 0.0, self.width)
        return np.column_stack([self._ordered(points[:, :-1] * width), bias])

    def carried(self, points: Float64, to: "InputScaling") -> Float64:
        """Convert weights for inputs scaled by this map, bias last, to those scaled by another.

        A scaled input is `(x - center) / width = ratio u + shift` in the other scaled input `u`.
        Both numbers are rounded, so that they are the same in all units of the inputs.
        """
        with np.errstate(invalid="ignore"):
            ratio, shift = to.width / self.width, (to.center - self.center) / self.width
        ratio = np.where(np.isfinite(ratio), rounded(ratio), 0.0)
        shift = np.round(shift * _GRID) / _GRID
        weights = self._as_given(points)
        bias = points[:, -1] + weights @ shift
        return np.column_stack([to._ordered(weights * ratio), bias])

    def _as_given(self, points: Float64) -> Float64:
        """Return weights of scaled inputs, without the bias, in the order of the given columns."""
        if self.order is None:
            return points[:, :-1]
        weights = np.empty_like(points[:, :-1])
        weights[:, self.order] = points[:, :-1]
        return weights

    def _ordered(self, weights: Float64) -> Float64:
        return weights if self.order is None else weights[:, self.order]


def canonical_columns(rows: Rows) -> CanonicalColumns:
    rows = rows.canonical(merged_up_to=0)
    Z = InputScaling.standard(rows).apply(np.asarray(rows.X, dtype=np.float64))
    T = OutputScaling.of(rows, centred=True).apply(rows.Y)
    return CanonicalColumns.of(np.asarray(Z), T, rows.weights)


@dataclass(frozen=True, eq=False)
class OutputScaling:
    """An affine map of each output, `y -> (y - center) / scale`, so that all count equally."""

    center: Float64
    scale: Float64

    @staticmethod
    def of(rows: Rows, centred: bool) -> "OutputScaling":
        """Scale to unit root mean square; about the mean if the network has an affine term."""
        size = np.abs(rows.Y).max(axis=0)
        size[size == 0] = 1.0
        unit = rows.Y / size
        center = np.average(unit, axis=0, weights=rows.weights)
        if not centred:
            center = np.zeros_like(center)
        scale = np.sqrt(np.average((unit - center) ** 2, axis=0, weights=rows.weights))
        # A constant output is zero after centring up to rounding, which must not be amplified.
        scale[(scale < 1e-14) | (scale * size == 0)] = 1.0
        return OutputScaling(center * size, scale * size)

    def apply(self, Y: Float64) -> Float64:
        """Return scaled outputs; those whose squares would overflow are all equally large."""
        return _scaled(Y, self.center, self.scale, farthest=float(np.finfo(np.float64).max) ** 0.4)


def _scaled(
    values: NDArray[np.floating], center: Float64, width: Float64, farthest: float
) -> Float64:
    """Return `(values - center) / width`, limited to `farthest` from 0."""
    with np.errstate(over="ignore"):
        scaled = np.asarray((values - center) / width)
    return np.clip(scaled, -farthest, farthest, out=scaled)
