"""Rows: validated arrays in canonical order, inputs and outputs scaled, and the way back.

A fit sees a sample weight of two and a row written twice as the same thing, and the order of the
rows as nothing at all, because both are taken out here: rows of weight zero are dropped, equal rows
are merged and their weights added, and the rest is sorted. This is done up to `CANONICAL_ROWS`
rows, where it costs nothing; larger data keep their order.
"""

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

CANONICAL_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Rows:
    """Data as the algorithm takes it.

    Attributes
    ----------
    X : ndarray of shape (n_rows, d)
        Inputs, float64 or float32.
    Y : ndarray of shape (n_rows, n_outputs)
        Outputs, float64.
    weights : ndarray of shape (n_rows,) or None
        Positive sample weights with mean 1; None if all are equal.
    worth : float or None
        How many rows of equal weight they are worth; None for as many as they are.
    start : int
        Position of the first one among all rows, where these are a block of them.
    """

    X: NDArray[np.floating]
    Y: Float64
    weights: Float64 | None = None
    worth: float | None = None
    start: int = 0

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return int(self.X.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.Y.shape[1])

    @property
    def digest(self) -> str:
        """Digest of all numbers, in their order: rows with the same one are the same rows."""
        found = blake2b(digest_size=8)
        for part in (self.X, self.Y, self.weights):
            if part is not None:
                found.update(f"{part.dtype} {part.shape}".encode())
                found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()

    @property
    def n_independent(self) -> float:
        """Number of rows, as far as noise and degrees of freedom are concerned."""
        return float(len(self)) if self.worth is None else self.worth

    @property
    def row_scale(self) -> Float64 | None:
        """Square roots of the weights, by which rows are multiplied."""
        return None if self.weights is None else np.sqrt(self.weights)

    def weighted(self, values: Float64) -> Float64:
        """Rows of `values` times the square roots of the weights."""
        return values if self.weights is None else values * np.sqrt(self.weights)[:, None]

    @property
    def n_weighted(self) -> int:
        """Number of rows with a positive weight."""
        return len(self) if self.weights is None else int(np.count_nonzero(self.weights))

    def take(self, chosen: NDArray[np.intp]) -> "Rows":
        """Return the chosen rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return Rows(self.X[chosen], self.Y[chosen], weights)

    def canonical(self) -> "Rows":
        """Without rows of weight zero; equal rows merged and sorted, unless there are very many."""
        rows = self
        if rows.weights is not None and not rows.weights.all():
            rows = rows.take(np.flatnonzero(rows.weights))
        if len(rows) <= CANONICAL_ROWS:
            rows = rows._merged()
        return rows._mean_one()

    def _merged(self) -> "Rows":
        weights = np.ones(len(self)) if self.weights is None else self.weights
        # By weight last: those of equal rows are then added in one order.
        order = np.lexsort(np.column_stack([self.X, self.Y, weights]).T[::-1])
        X, Y, weights = self.X[order], self.Y[order], weights[order]
        new = np.ones(len(X), dtype=bool)
        new[1:] = (X[1:] != X[:-1]).any(axis=1) | (Y[1:] != Y[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        return Rows(X[starts], Y[starts], np.add.reduceat(weights, starts))

    def _mean_one(self) -> "Rows":
        if self.weights is None or (self.weights == self.weights[0]).all():
            return replace(self, weights=None)
        # By way of the largest: the sum of huge weights must not overflow.
        largest = self.weights.max()
        mean = largest * (self.weights / largest).mean()
        return replace(self, weights=self.weights / rounded(mean))


def rounded(value: Any) -> Any:
    """Return numbers to twelve digits: sums of the same numbers in another order agree to these.

    What they scale is then the same to the last bit wherever the rows are.
    """
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


def class_numbers(Y: Float64) -> NDArray[np.intp]:
    """Return the numbers of the classes that unit vectors, or one column of 0 and 1, stand for."""
    found = Y[:, 0] > 0.5 if Y.shape[1] == 1 else Y.argmax(axis=1)
    return found.astype(np.intp)


def unit_vectors(labels: NDArray[Any], classes: NDArray[Any]) -> Float64:
    """Return classes as unit vectors; of two classes, 1 for the second."""
    at = np.searchsorted(classes, labels)
    if len(classes) == 2:
        return at[:, None].astype(np.float64)
    return np.asarray(np.eye(len(classes))[at])


@dataclass(frozen=True, eq=False)
class InputScaling:
    """An affine map of each input, `x -> (x - center) / width`."""

    center: Float64
    width: Float64

    @staticmethod
    def identity(n_features: int) -> "InputScaling":
        """Leave the inputs as they are."""
        return InputScaling(np.zeros(n_features), np.ones(n_features))

    @staticmethod
    def to_cube(X: NDArray[np.floating]) -> "InputScaling":
        """Map the range of each column onto [-1, 1], the cube on which the paper works."""
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        width = high / 2 - low / 2
        # A constant column says nothing: infinite width gives it the weight zero.
        width[width == 0] = np.inf
        return InputScaling(low / 2 + high / 2, width)

    @staticmethod
    def standard(rows: Rows) -> "InputScaling":
        """Map each column to mean 0 and standard deviation 1; one far row hardly moves the rest."""
        # In one order of memory: sums of the same numbers must not differ.
        X = np.ascontiguousarray(rows.X, dtype=np.float64)
        largest = np.abs(X).max(axis=0)
        largest[largest == 0] = 1.0
        unit = X / largest
        center = np.average(unit, axis=0, weights=rows.weights)
        width = np.sqrt(np.average((unit - center) ** 2, axis=0, weights=rows.weights))
        # Constant but for rounding: infinite width gives the column the weight zero.
        width[(np.ptp(X, axis=0) == 0) | (width < 1e-14)] = np.inf
        return InputScaling(center * largest, width * largest)

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Scaled inputs, in the precision of `X`."""
        scaled = (X - self.center) / self.width
        return np.ascontiguousarray(scaled, dtype=X.dtype)

    def fold(self, points: Float64) -> Float64:
        """Turn weights on the scaled inputs, bias last, into weights on the inputs as they came."""
        weights = points[:, :-1] / self.width
        return np.column_stack([weights, points[:, -1] - weights @ self.center])

    def unfold(self, points: Float64) -> Float64:
        """Turn weights on the inputs as they came, bias last, into weights on the scaled inputs."""
        bias = points[:, -1] + points[:, :-1] @ self.center
        width = np.where(np.isinf(self.width), 0.0, self.width)
        return np.column_stack([points[:, :-1] * width, bias])


@dataclass(frozen=True, eq=False)
class OutputScaling:
    """An affine map of each output, `y -> (y - center) / scale`, so that outputs weigh the same."""

    center: Float64
    scale: Float64

    @staticmethod
    def of(rows: Rows, centred: bool) -> "OutputScaling":
        """Unit root mean square of each output; about its mean if the network has a constant."""
        size = np.abs(rows.Y).max(axis=0)
        size[size == 0] = 1.0
        unit = rows.Y / size
        center = np.average(unit, axis=0, weights=rows.weights)
        if not centred:
            center = np.zeros_like(center)
        scale = np.sqrt(np.average((unit - center) ** 2, axis=0, weights=rows.weights))
        # A constant output is zero after centring but for rounding, which must not be blown up.
        scale[scale < 1e-14] = 1.0
        return OutputScaling(center * size, scale * size)

    def apply(self, Y: Float64) -> Float64:
        """Scaled outputs."""
        return np.asarray((Y - self.center) / self.scale)
