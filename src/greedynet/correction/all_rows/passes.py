"""`Passes`: sums over all rows, for networks that were grown on samples of them."""

from functools import cached_property

from greedynet.activations import Activation
from greedynet.correction.all_rows.outer_weights import products_of_all_rows
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.all_rows.sums import Sums
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import BlockSizes, MemoryBlocks
from greedynet.rows.sampling import RandomSamples
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


class Passes:
    """Sums over all rows, and over the larger sample if there is one.

    Parameters
    ----------
    samples : RandomSamples
        The samples, with access to all rows.
    sizes : BlockSizes
    context : FitContext
        Its journal contains the sums of an earlier run.

    Attributes
    ----------
    all : Sums
        Sums over all rows.
    """

    def __init__(self, samples: RandomSamples, sizes: BlockSizes, context: FitContext) -> None:
        self.all = Sums(samples.blocks, context.journal)
        self._samples, self._sizes, self._context = samples, sizes, context

    @cached_property
    def many(self) -> Sums:
        """Sums for the correction of neurons: over all rows, or the larger sample if any."""
        larger = self._samples.larger()
        if larger is None:
            return self.all
        blocks = MemoryBlocks(larger, self._context.pool, self._sizes)
        return Sums(blocks, self._context.journal)

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
