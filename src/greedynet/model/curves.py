"""The curves into which a network of two layers turns its columns.

With `u_j` for a column `x_j` and its ramps, and the parts of the weights that belong to them,

    g(x) = sum_n c_n sigma(sum_j a_nj . u_j + b_n)  +  sum_j l_j . u_j + m.

The curve `l_j . u_j` is added to the output directly; `a_nj . u_j` is what neuron `n` sees of the
column. Times `c_n`, it has the units of the output: a ReLU neuron adds it while it is active.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.model.deep_network import DeepNetwork
from greedynet.support.types import Float64


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
    network: DeepNetwork, output: int = 0, *, most_neurons: int = 3
) -> list[ColumnCurves]:
    """Return the curves of every column with hinges, those with the largest range first.

    Parameters
    ----------
    network : DeepNetwork
        The network.
    output : int, default=0
        The output in whose units the curves are.
    most_neurons : int, default=3
        Number of neurons of each column.
    """
    columns = np.unique(network.ramps.features).tolist()
    found = [_curves(network, j, output, most_neurons) for j in columns]
    return sorted(found, key=lambda curves: -curves.size)


def _curves(network: DeepNetwork, feature: int, output: int, most: int) -> ColumnCurves:
    over, knots = network.over, network.ramps.knots[network.ramps.features == feature]
    at = np.zeros((len(knots), network.n_features))
    at[:, feature] = knots
    lifted = network.ramps.lift(at)
    # The other columns are constant, and vanish with the mean.
    lifted -= lifted.mean(axis=0)
    through = over.outer_weights[:, output, None] * (over.inner_weights @ lifted.T)
    chosen = np.argsort(-np.ptp(through, axis=1), kind="stable")[:most]
    linear = over.linear_weights
    direct = None if linear is None else lifted @ linear[:, output]
    return ColumnCurves(feature, knots, direct, chosen, through[chosen])
