"""`Sums`: the sums over rows in blocks that a correction needs, each computed once."""

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from greedynet.activations import Activation
from greedynet.correction.all_rows.products import Gram, Products
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import Blocks, Work
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.types import Float64

T = TypeVar("T")


class Sums:
    """Sums over rows in blocks.

    Parameters
    ----------
    blocks : Blocks
        The rows, in their original units.
    journal : Journal
        Contains the sums of an earlier run.
    """

    def __init__(self, blocks: Blocks, journal: Journal = NO_JOURNAL) -> None:
        self._blocks, self._journal = blocks, journal
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
            self._last = points, self.parts(work, Gram)
        return self._last[1]

    def total(self, work: Work[Float64]) -> Float64:
        """Return the sum of some `Work`."""
        (found,) = self._journal.once(lambda _: (self._blocks.total(work),))
        return np.ascontiguousarray(found)

    def parts(self, work: Work[T], kind: type[T]) -> T:
        """Return the sum of `Work` that yields a `kind`, a dataclass of arrays and numbers."""
        names = [field.name for field in fields(kind)]  # type: ignore[arg-type]

        def found(_: Journal) -> list[Any]:
            whole = self._blocks.total(work)
            return [getattr(whole, name) for name in names]

        # A journal does not store the memory order, on which the last bits of products depend.
        return kind(*map(_in_order, self._journal.once(found)))


def _in_order(value: Any) -> Any:
    return np.ascontiguousarray(value) if np.ndim(value) else value
