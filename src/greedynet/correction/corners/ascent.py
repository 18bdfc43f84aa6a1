"""Where a network leaves its margin: projected gradient ascent in a box, from many places at once.

A piecewise linear function has its largest values at corners of its pieces, many of which are
corners of the box. Steps follow the gradient, in units of the sides of the box; a step that does
not lead upwards is halved. This finds local maxima, and proves nothing: `greedynet.exact` does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.correction.corners.box import Box
from greedynet.model.any_network import Network, in_layers
from greedynet.support.types import Float64

_FIRST_STEP = 0.5


@dataclass(frozen=True, eq=False)
class Ascent:
    """One output of a network in a box, upwards or downwards.

    Attributes
    ----------
    network : ShallowNetwork or DeepNetwork
        Without bounds on its outputs, which would hide what is beyond them.
    box : Box
    output : int
    sign : float
        1 for large outputs, -1 for small ones.
    """

    network: Network
    box: Box
    output: int
    sign: float

    def values(self, places: Float64) -> Float64:
        """Return the output at some places, times the sign."""
        outputs = self.network.predict(self.box.rows(places))
        return np.asarray(self.sign * outputs.reshape(len(places), -1)[:, self.output])

    def slopes(self, places: Float64) -> Float64:
        """Return the gradient of `values`, for each side of the box."""
        by_inputs = input_slopes(self.network, self.box.rows(places), self.output)
        return np.asarray(self.sign * by_inputs * self.box.sides)

    def climbed(self, starts: Float64, n_steps: int) -> tuple[Float64, Float64]:
        """Return places above the given ones, and the values there."""
        return _climbed(self.values, self.slopes, starts, n_steps)


def _climbed(
    values: Callable[[Float64], Float64],
    slopes: Callable[[Float64], Float64],
    starts: Float64,
    n_steps: int,
) -> tuple[Float64, Float64]:
    places, best = starts.copy(), values(starts)
    step = np.full((len(places), 1), _FIRST_STEP)
    for _ in range(n_steps):
        up = slopes(places)
        up[((places <= 0) & (up < 0)) | ((places >= 1) & (up > 0))] = 0.0
        largest = np.abs(up).max(axis=1, keepdims=True, initial=0.0)
        tried = np.clip(places + step * up / np.where(largest > 0, largest, 1.0), 0.0, 1.0)
        found = values(tried)
        higher = found > best
        places[higher], best[higher] = tried[higher], found[higher]
        step = np.where(higher[:, None], np.minimum(1.5 * step, 1.0), 0.5 * step)
    return places, best


def input_slopes(network: Network, X: Float64, output: int) -> Float64:
    """Return the gradient of an output by the inputs, `(n_rows, n_features)`; one side at kinks."""
    ramps, over = in_layers(network)
    lifted = X if ramps is None else ramps.lift(X)
    z = lifted @ over.inner_weights.T + over.biases
    by_lifted = (over.activation.slope(z) * over.outer_weights[:, output]) @ over.inner_weights
    if over.linear_weights is not None:
        by_lifted = by_lifted + over.linear_weights[:, output]
    if ramps is None:
        return np.asarray(by_lifted)
    d, (columns, starts, widths, low, high) = ramps.n_features, ramps.table
    rise = (X[:, columns] - starts) / widths
    rising = by_lifted[:, d:] * ((rise > low) & (rise < high)) / widths
    slopes = by_lifted[:, :d].copy()
    np.add.at(slopes.T, columns, rising.T)
    return slopes


def apart(places: Float64, values: Float64, least: float, most: int) -> NDArray[np.intp]:
    """Return at most so many places with the largest values, any two of which differ clearly."""
    kept: list[int] = []
    for i in np.argsort(-values, kind="stable").tolist():
        if len(kept) == most:
            break
        if not kept or np.abs(places[kept] - places[i]).max(axis=1).min() > least:
            kept.append(i)
    return np.array(kept, dtype=np.intp)
