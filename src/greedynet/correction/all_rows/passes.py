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
    """Sums over all rows, and over the larger sample where there is one.

    Parameters
    ----------
    samples : RandomSamples
        The samples, and all rows behind them.
    sizes : BlockSizes
    context : FitContext
        Its journal knows sums of an earlier run.

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
        """Sums to correct neurons by: over all rows, or the larger sample if there is one."""
        larger = self._samples.larger()
        if larger is None:
            return self.all
        blocks = MemoryBlocks(larger, self._context.pool, self._sizes)
        return Sums(blocks, self._context.journal)

    def products(
        self, coordinates: Coordinates, points: Float64, activation: Activation, ridge: float
    ) -> Gram:
        """Return products of neurons that give the outer weights of all rows.

        Parameters
        ----------
        coordinates : Coordinates
        points : ndarray of shape (k, d + 1)
            Neurons.
        activation : Activation
        ridge : float
            With which the weights will be solved for.
        """
        if self.many is self.all:
            return self.all.gram(coordinates, points, activation)
        return products_of_all_rows(self.many, self.all, coordinates, points, activation, ridge)
