"""`Box`: all rows between the smallest and the largest value of each column."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Box:
    """The box of some rows; places in it are shares of its sides, from 0 to 1.

    Attributes
    ----------
    low, high : ndarray of shape (d,)
    """

    low: Float64
    high: Float64

    @property
    def sides(self) -> Float64:
        """Lengths of the sides; 0 for a column with a single value."""
        return np.asarray(self.high - self.low)

    def rows(self, places: Float64) -> Float64:
        """Return the rows at some places."""
        return np.clip(self.low + places * self.sides, self.low, self.high)

    def places(self, X: NDArray[np.floating]) -> Float64:
        """Return the places of rows; those outside are moved to the box."""
        sides = self.sides
        return np.clip((X - self.low) / np.where(sides > 0, sides, 1.0), 0.0, 1.0)

    def drawn(self, n_rows: int, rng: np.random.Generator) -> Float64:
        """Return random places, every second one a corner."""
        places = rng.random((n_rows, len(self.low)))
        places[::2] = np.round(places[::2])
        return places


def between_nearest(
    places: Float64, n_copies: int, n_nearest: int, rng: np.random.Generator
) -> Float64:
    """Return places near those given, on lines to one of the nearest ones or a little behind.

    New rows are like these. With independent noise in every column they would be impossible where
    columns depend on each other, and such rows are no evidence of how to predict.
    """
    n, k = len(places), min(n_nearest, len(places) - 1)
    if k < 1:
        return np.empty((0, places.shape[1]))
    nearest = NearestNeighbors(n_neighbors=k + 1).fit(places).kneighbors(places)[1]
    base = np.tile(np.arange(n), n_copies)
    towards = nearest[base, rng.integers(1, k + 1, len(base))]
    share = rng.uniform(-0.5, 1.0, (len(base), 1))
    return np.clip(places[base] + share * (places[towards] - places[base]), 0.0, 1.0)
