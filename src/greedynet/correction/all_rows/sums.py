"""`Sums`: the sums over rows in blocks that a correction needs, each computed once."""

from typing import TypeVar

import numpy as np

from greedynet.activations import Activation
from greedynet.correction.all_rows.products import Gram, Products
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import Blocks, Work
from greedynet.support.types import Float64

T = TypeVar("T")


class Sums:
    """Sums over rows in blocks.

    Parameters
    ----------
    blocks : Blocks
        The rows, in their original units.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._last: tuple[Float64, Gram] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._blocks)

    def gram(self, coordinates: Coordinates, points: Float64, activation: Activation) -> Gram:
        """Return the products of the affine columns and of neurons.

        Parameters
        ----------
        coordinates : Coordinates
        points : ndarray of shape (k, d + 1)
            Inner weights for scaled inputs, bias last.
        activation : Activation
        """
        # The outer weights are solved at the last point of the correction, whose products are
        # known.
        if self._last is None or not np.array_equal(self._last[0], points):
            work = Products(coordinates.without_rows(), points, activation)
            self._last = points, self._blocks.total(work)
        return self._last[1]

    def look(self, work: Work[T]) -> T:
        """Return the sum of any `Work`."""
        return self._blocks.total(work)

    def total(self, work: Work[Float64]) -> Float64:
        """Return the sum of some `Work`."""
        return np.ascontiguousarray(self._blocks.total(work))
