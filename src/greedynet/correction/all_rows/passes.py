"""`Passes`: sums over all rows, for networks that were grown on samples of them."""

from greedynet.activations import Activation
from greedynet.correction.all_rows.outer_weights import products_of_all_rows
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.all_rows.sums import Sums
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import Blocks
from greedynet.support.types import Float64


class Passes:
    """Sums over all rows, and over a larger sample if there is one.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    larger : Blocks or None
        The larger sample.

    Attributes
    ----------
    all : Sums
        Sums over all rows.
    many : Sums
        Sums for the correction of neurons: over the larger sample, or over all rows without one.
    """

    def __init__(self, blocks: Blocks, larger: Blocks | None = None) -> None:
        self.all = Sums(blocks)
        self.many = self.all if larger is None else Sums(larger)

    def products(
        self, coordinates: Coordinates, points: Float64, activation: Activation, ridge: float
    ) -> Gram:
        """Return products of neurons from which the outer weights for all rows follow.

        Parameters
        ----------
        coordinates : Coordinates
        points : ndarray of shape (k, d + 1)
            Neurons.
        activation : Activation
        ridge : float
            Ridge with which the weights will be solved.
        """
        if self.many is self.all:
            return self.all.gram(coordinates, points, activation)
        return products_of_all_rows(self.many, self.all, coordinates, points, activation, ridge)
