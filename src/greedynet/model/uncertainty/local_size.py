"""`LocalSize`: how large errors are at a place, learned from the errors of held-out rows.

`s(x) = exp(b . v(x) + c)`, where the features `v` are piecewise linear functions of every input and
of the prediction, with kinks at the quartiles, and the neurons of the network. Outside the central
96 % of the rows they are constant, and `s` has bounds, so that nothing is extrapolated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.support.magnitudes import TINY
from greedynet.support.types import Float64

_N_STEPS = 20
_SHORTEST = 2.0**-10
# A decrease of the objective below this is no progress; it is in units of the log-likelihood.
_CONVERGED = 1e-6
# Deviations below this fraction of the largest value are rounding.
_CONSTANT = 1e-9


class SizePath:
    """Weights for a sequence of ridges, each smaller than the one before.

    The `coefficients` are `b`, for the features as given, and `c`, one pair for each ridge.
    """

    def __init__(
        self, features: Float64, sizes: Float64, weights: Float64, ridges: Sequence[float] = ()
    ) -> None:
        self._shares = weights / weights.sum()
        self._sizes = sizes
        # Divide by the largest first: squares could overflow.
        largest = np.abs(features).max(axis=0, initial=0.0)
        V = features / np.where(largest > 0, largest, 1.0)
        V -= self._shares @ V
        deviation = np.sqrt(self._shares @ V**2)
        # Of the smallest numbers there are, the inverse is infinite.
        varies = (deviation > _CONSTANT) & (deviation * largest > TINY)
        self._scale = np.where(varies, 1.0 / np.where(varies, deviation * largest, 1.0), 0.0)
        self._V, self._center = V * (self._scale * largest), self._shares @ features
        moments = (self._V * self._shares[:, None]).T @ self._V
        self._values, self._vectors = np.linalg.eigh(moments)
        self._last = np.zeros(features.shape[1]), float(np.log(self._shares @ sizes))
        self.coefficients: list[tuple[Float64, float]] = []
        for ridge in ridges:
            self.advance(ridge)

    def advance(self, ridge: float) -> tuple[Float64, float]:
        """Return `b` and `c` for a smaller ridge, starting from the solution of the last one."""
        self._last = b, c = self._solved(*self._last, ridge)
        b = b * self._scale
        self.coefficients.append((b, c - float(self._center @ b)))
        return self.coefficients[-1]

    def _solved(self, b: Float64, c: float, ridge: float) -> tuple[Float64, float]:
        """Return the weights for a ridge by Fisher scoring, with steps that never go up."""
        now = self._objective(b, c, ridge)
        for _ in range(_N_STEPS):
            excess = self._shares * (self._sizes * np.exp(-(self._V @ b + c)) - 1.0)
            slope = self._V.T @ excess - ridge * b
            curvature = np.maximum(self._values, 0.0) + ridge
            step = self._vectors @ ((self._vectors.T @ slope) / curvature)
            length, shift = 1.0, float(excess.sum())
            while (after := self._objective(b + length * step, c + length * shift, ridge)) > now:
                length /= 2
                if length < _SHORTEST:
                    return b, c
            b, c = b + length * step, c + length * shift
            if now - after < _CONVERGED:
                break
            now = after
        return b, c

    def _objective(self, b: Float64, c: float, ridge: float) -> float:
        g = self._V @ b + c
        with np.errstate(over="ignore"):
            found = self._shares @ (g + self._sizes * np.exp(-g)) + ridge / 2 * (b @ b)
        return float(found) if np.isfinite(found) else np.inf


def size_loss(log_sizes: Float64, sizes: Float64, weights: Float64) -> float:
    """Return the mean of `g + a exp(-g)`, by which models of the size are compared."""
    return float(np.average(log_sizes + sizes * np.exp(-log_sizes), weights=weights))


# The edges beyond which features are constant, and the quartiles between them.
_LEVELS = (0.02, 0.25, 0.5, 0.75, 0.98)


@dataclass(frozen=True)
class SizeSettings:
    """How the size of errors is modelled."""

    # Ridges to choose from, decreasing.
    ridges: tuple[float, ...] = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    # Number of successive ridges that are not better after which no smaller one is tried.
    patience: int = 2
    # Parts into which the rows are divided, groups as a whole; the sizes of each are predicted from
    # the others.
    n_parts: int = 10
    # With fewer different rows or groups, all sizes are the same; with more, a sample of them is
    # used.
    min_rows: int = 20
    max_rows: int = 4_096
    max_inputs: int = 64  # with more inputs, only the prediction and the neurons are used
    # Added to all sizes, as a fraction of their mean: an error may be zero by chance.
    floor: float = 0.02
    # By how much sizes that depend on the place must be more likely, per row, than a constant.
    worth: float = 0.005
    edge: float = 0.01  # share of the predicted sizes beyond each of the bounds of `s`


@dataclass(frozen=True, eq=False)
class LocalSize:
    """The size of the errors of one output at a place."""

    # (5, n_columns): for each input, if they are used, and for the prediction: the range in which
    # the features vary, and the quartiles, all sorted.
    knots: Float64
    weights: Float64  # (n_features,): the `b`; empty if the size is the same everywhere
    constant: float  # the `c`
    bounds: Float64  # (2,): of `log s`

    def __call__(self, X: Float64, prediction: Float64, network: Network) -> Float64:
        """Return `s(x)` of rows, given the predictions of the network for them."""
        if not len(self.weights):
            return np.full(len(X), np.exp(self.constant))
        g = features(self.knots, X, prediction, network) @ self.weights + self.constant
        return np.asarray(np.exp(np.clip(g, *self.bounds)))

    def times(self, factor: float) -> "LocalSize":
        """Return the same function, times a factor."""
        shift = float(np.log(factor))
        return replace(self, constant=self.constant + shift, bounds=self.bounds + shift)


def features(knots: Float64, X: Float64, prediction: Float64, network: Network) -> Float64:
    """Return `v(x)` of rows, `(n_rows, n_features)`."""
    X = network.within_box(X)
    both = np.column_stack([X, prediction])
    used = both[:, both.shape[1] - knots.shape[1] :]
    low, *quartiles, high = knots
    width = np.where(high > low, high - low, 1.0)
    inside = np.clip(used, low, high)
    shares = (inside - low) / width
    hinges = [np.maximum(inside - quartile, 0.0) / width for quartile in quartiles]
    near = X if knots.shape[1] == 1 else inside[:, :-1]
    return np.hstack([shares, *hinges, network.hidden(near)])


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of one output."""

    X: Float64  # (n, d)
    predictions: Float64  # (n,)
    errors: Float64
    weights: Float64
    rounding: float = 0.0  # errors of this size are only rounding
    # (n,): rows of the same number belong together, see `Rows`.
    groups: NDArray[np.intp] | None = None

    def in_units(self, unit: float) -> "Errors":
        """Return the same rows with errors in other units."""
        return replace(self, errors=self.errors / unit)


def errors_of(
    X: NDArray[np.floating],
    Y: Float64,
    predictions: Float64,
    weights: Float64,
    groups: NDArray[np.intp] | None = None,
) -> list[Errors]:
    """Return the errors of each output; those that are only rounding are as large as that."""
    inputs: Float64 = np.asarray(X, dtype=np.float64)
    eps, largest = np.finfo(np.float64).eps, np.abs(Y).max(axis=0)
    # An output of zeros has the rounding of the others.
    rounding = 8 * eps * np.maximum(largest, eps * largest.max())
    rounding = np.maximum(rounding, np.finfo(np.float64).tiny / eps)
    left = Y - predictions
    left = np.where(np.abs(left) < rounding, np.where(left < 0, -rounding, rounding), left)
    return [
        Errors(inputs, f, e, weights, float(least), groups)
        for f, e, least in zip(predictions.T, left.T, rounding, strict=True)
    ]


def local_size(rows: Errors, network: Network, settings: SizeSettings) -> tuple[LocalSize, Float64]:
    """Return the size of errors as a function, and that of each row as predicted from others.

    The ridge is the one for which the sizes of rows that were left out are most likely. If this is
    not worth more than a constant, the size is the same everywhere.
    """
    sizes = np.abs(rows.errors)
    sizes = sizes + settings.floor * np.average(sizes, weights=rows.weights)
    used = rows.predictions[:, None]
    if rows.X.shape[1] <= settings.max_inputs:
        used = np.column_stack([rows.X, rows.predictions])
    knots = np.asarray(np.quantile(used, _LEVELS, axis=0))
    constant = float(np.log(np.average(sizes, weights=rows.weights)))
    flat = LocalSize(knots, np.empty(0), constant, np.array([constant, constant]))
    same = np.full(len(sizes), np.exp(constant))
    place = _places(rows.X if rows.groups is None else rows.groups[:, None])
    if place.max() + 1 < settings.min_rows:
        return flat, same
    parts = _parts(place, settings)
    V, known = features(knots, rows.X, rows.predictions, network), parts >= 0
    g, losses = _left_out(V, sizes, rows.weights, parts, settings)
    best = int(np.argmin(losses))
    of_constant = size_loss(np.log(same[known]), sizes[known], rows.weights[known])
    if losses[best] >= of_constant - settings.worth:
        return flat, same
    ridges = settings.ridges[: best + 1]
    b, c = SizePath(V[known], sizes[known], rows.weights[known], ridges).coefficients[-1]
    found = g[best]
    found[~known] = V[~known] @ b + c
    bounds = np.quantile(found[known], [settings.edge, 1 - settings.edge])
    return LocalSize(knots, b, c, bounds), np.exp(np.clip(found, *bounds))


def _left_out(
    V: Float64,
    sizes: Float64,
    weights: Float64,
    parts: NDArray[np.intp],
    settings: SizeSettings,
) -> tuple[list[Float64], list[float]]:
    """Return the logarithms of sizes, predicted from other parts, and their loss, by ridge."""
    held = [parts == part for part in range(settings.n_parts)]
    known = parts >= 0
    paths = [SizePath(V[known & ~h], sizes[known & ~h], weights[known & ~h]) for h in held]
    found: list[Float64] = []
    losses: list[float] = []
    for ridge in settings.ridges:
        g = np.zeros(len(V))
        for path, of_part in zip(paths, held, strict=True):
            b, c = path.advance(ridge)
            g[of_part] = V[of_part] @ b + c
        # No row is predicted to have an error of a size that no row has.
        found.append(np.clip(g, np.log(sizes.min()), np.log(sizes.max())))
        losses.append(size_loss(found[-1][known], sizes[known], weights[known]))
        if len(losses) - 1 - int(np.argmin(losses)) >= settings.patience:
            break
    return found, losses


def _places(keys: NDArray[Any]) -> NDArray[np.intp]:
    """Return numbers of the rows in their order, which is not that of columns; equal for equal."""
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which.reshape(-1)])


def _parts(place: NDArray[np.intp], settings: SizeSettings) -> NDArray[np.intp]:
    """Return a part for each row, drawn at random, and -1 for rows beyond the sample.

    Equal rows, or those of a group, are in the same part: their errors are not independent.
    """
    drawn = np.random.default_rng(0).permutation(int(place.max()) + 1)
    parts = np.where(drawn < settings.max_rows, drawn % settings.n_parts, -1)
    return np.asarray(parts[place])
