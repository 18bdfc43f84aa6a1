"""How a loss weighs rows by their misses: `v_i = L'(r_i) / r_i`; see `reweighted`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.stopping import neuron_cost
from greedynet.losses import Absolute, Chebyshev, Huber, Loss, Power, Quantile
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import SelectionPath
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

_FAR = 10.0
# The standard deviation of normal numbers, in medians of their absolute values.
_DEVIATION = 1.4826
# Misses below this share of their median count as that large.
_FLOOR = 0.05
# Beyond this the weights of the rows jump from round to round.
_LARGEST_POWER = 4.0
# With more degrees of freedom than this share of the rows a growth is none to weigh rows by.
_MAX_SPENT = 0.4


def can_be_reweighted(loss: Loss) -> bool:
    """Whether it is known what weights a loss gives to rows; a user's own does not tell."""
    return isinstance(loss, Absolute | Quantile | Huber | Power | Chebyshev)


@dataclass(frozen=True, eq=False)
class Weighing:
    """How a loss weighs rows by their misses.

    Attributes
    ----------
    loss : Loss
    network : ShallowNetwork
        What was grown.
    scale : float
        Its median miss.
    """

    loss: Loss
    network: ShallowNetwork
    scale: float

    @staticmethod
    def by(grown: SelectionPath, loss: Loss, rows: Rows) -> "Weighing":
        """Return the weighing for a loss, by the misses of a growth.

        Where rows may be wrong, that is the width with the smallest median miss, as far as
        degrees of freedom are few: the loss of all rows may be mostly that of the wrong ones.
        """
        spent = neuron_cost(rows.X.shape[1]) * np.arange(len(grown.n_nodes)) / len(rows)
        # Wider ones may meet most rows, and say nothing of their misses.
        widths = grown.n_nodes[spent < _MAX_SPENT]
        network = grown.network.truncate(int(min(grown.kept.n_nodes, widths[-1])))
        if isinstance(loss, Absolute | Huber):
            n_tried = min(16, len(widths))
            tried = np.unique(np.geomspace(1, len(widths), n_tried).astype(int)) - 1
            networks = [grown.network.truncate(int(widths[i])) for i in tried]
            scores = [
                float(np.median(np.abs(misses(n, rows)))) / (1 - spent[n.n_nodes - widths[0]])
                for n in networks
            ]
            network = networks[int(np.argmin(scores))]
        return Weighing(loss, network, float(np.median(np.abs(misses(network, rows)))))

    def near(self, rows: Rows, network: ShallowNetwork) -> NDArray[np.bool_]:
        """Whether rows are within ten deviations, for losses that are there for others."""
        if not isinstance(self.loss, Absolute | Huber):
            return np.ones(len(rows), dtype=bool)
        far = np.abs(misses(network, rows)[:, 0]) > _FAR * _DEVIATION * self.scale
        return ~far if np.count_nonzero(~far) > len(rows) // 2 else np.ones_like(far)

    def apply(self, rows: Rows, network: ShallowNetwork) -> Rows:
        """Rows weighted by their misses; those up to the median count as that large."""
        return _weighted(rows, self.weights(misses(network, rows)[:, 0], rows, self.scale))

    def weights(self, r: Float64, rows: Rows, floor: float | None = None) -> Float64:
        """Return `L'(r) / r` of the misses, times the sample weights, with mean 1."""
        middle = float(np.median(np.abs(r)))
        if floor is None:
            floor = _FLOOR * middle
        size = np.maximum(np.abs(r), max(floor, 1e-12 * float(np.abs(r).max()), 1e-300))
        match self.loss:
            case Absolute():
                v = size.min() / size
            case Quantile(quantile=q):
                v = np.where(r > 0, q, 1 - q) * (size.min() / size)
            case Huber():
                v = np.minimum(1.0, 1.345 * _DEVIATION * max(middle, size.min()) / size)
            case Power(p=p):
                v = (size / size.max()) ** (min(p, _LARGEST_POWER) - 2)
            case _:
                v = np.ones_like(size)
        v = v if rows.weights is None else v * rows.weights
        return np.asarray(v / v.mean())


def misses(network: ShallowNetwork, rows: Rows) -> Float64:
    """Return `Y` minus the network's values."""
    return rows.Y - network.predict(rows.X).reshape(rows.Y.shape)


def _weighted(rows: Rows, weights: Float64) -> Rows:
    """Rows with weights; uneven ones are worth fewer rows, `(sum v)^2 / sum v^2`."""
    return Rows(rows.X, rows.Y, weights, float(np.sum(weights) ** 2 / np.sum(weights**2)))
