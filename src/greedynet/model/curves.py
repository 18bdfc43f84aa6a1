"""The curves into which a network of two layers turns its columns.

With `u_j` for a column `x_j` and its ramps, and the parts of the weights that belong to them,

    g(x) = sum_n c_n sigma(sum_j a_nj . u_j + b_n)  +  sum_j l_j . u_j + m.

The curve `l_j . u_j` is added to the output directly; `a_nj . u_j` is what neuron `n` sees of the
column. Times `c_n`, it has the units of the output: a ReLU neuron adds it while it is active.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

if TYPE_CHECKING:
    from greedynet.model.network import Network


@dataclass(frozen=True, eq=False)
class ColumnCurves:
    """The curves of one column, straight between its knots, each with the mean 0 over the knots.

    Attributes
    ----------
    feature : int
        The column.
    knots : ndarray of shape (n_knots,)
        Where the curves bend, and the ends of the training data.
    direct : ndarray of shape (n_knots,) or None
        The curve that is added to the output; None without an affine term.
    neurons : ndarray of shape (n_shown,)
        The neurons that the column moves most, in this order.
    through : ndarray of shape (n_shown, n_knots)
        What they see of the column, times their outer weights.
    """

    feature: int
    knots: Float64
    direct: Float64 | None
    neurons: NDArray[np.intp]
    through: Float64

    @property
    def size(self) -> float:
        """The largest range of the curves, in units of the output."""
        direct = [] if self.direct is None else [np.ptp(self.direct)]
        return float(max([*direct, *np.ptp(self.through, axis=1)], default=0.0))


def column_curves(
    network: "Network", output: int = 0, *, most_neurons: int = 3
) -> list[ColumnCurves]:
    """Return the curves of every column with hinges, those with the largest range first.

    Parameters
    ----------
    network : Network
        The network.
    output : int, default=0
        The output in whose units the curves are.
    most_neurons : int, default=3
        Number of neurons of each column.
    """
    columns = np.unique(network.hinges()[0]).tolist()
    found = [_curves(network, j, output, most_neurons) for j in columns]
    return sorted(found, key=lambda curves: -curves.size)


def _curves(network: "Network", feature: int, output: int, most: int) -> ColumnCurves:
    knots = _knots(network, feature)
    lifted = _along(network, feature, knots)
    # The other columns are constant, and vanish with the mean.
    lifted -= lifted.mean(axis=0)
    through = network.outer_weights[:, output, None] * (network.inner_weights @ lifted.T)
    chosen = np.argsort(-np.ptp(through, axis=1), kind="stable")[:most]
    linear = network.linear_weights
    direct = None if linear is None else lifted @ linear[:, output]
    return ColumnCurves(feature, knots, direct, chosen, through[chosen])


def _knots(network: "Network", feature: int) -> Float64:
    """Return all knots of a column, none without ramps."""
    ramps = network.ramps
    return np.empty(0) if ramps is None else ramps.knots[ramps.features == feature]


def _along(network: "Network", feature: int, values: Float64) -> Float64:
    """Return what neurons get of rows that are 0 but for a column, which has the given values."""
    at = np.zeros((len(values), network.n_features))
    at[:, feature] = values
    return network.lift(at)


def column_moves(network: "Network") -> Float64:
    """Return by how much each column moves each neuron at most, `(n_neurons, n_features)`.

    The range of the curve of the column in `a_n . u`, over the range of the training data.
    """
    d, known = network.n_features, network.input_range
    low, high = known if known is not None else np.tile([[0.0], [1.0]], d)
    moves = np.empty((network.n_neurons, d))
    for j in range(d):
        values = np.array([low[j], *_knots(network, j), high[j]])
        moves[:, j] = np.ptp(_along(network, j, values) @ network.inner_weights.T, axis=0)
    return moves


def over_hinges(network: "Network") -> "Network":
    """Return the neurons and the affine term over the inputs and the hinges `relu(x_j - t)`.

    This is a network of one layer; `network.hinges()` are the `j` and the `t`.
    """
    if network.ramps is None:
        return network
    inner, constants = network.ramps.as_hinges(network.inner_weights)
    linear, intercept = network.linear_weights, network.intercept
    if linear is not None:
        weights, shift = network.ramps.as_hinges(linear.T)
        linear, intercept = weights.T, shift if intercept is None else shift + intercept
    return replace(
        network,
        inner_weights=inner,
        biases=network.biases + constants,
        linear_weights=linear,
        intercept=intercept,
        path_factor=None,
        input_range=None,
        feature_names=None,
        ramps=None,
    )
