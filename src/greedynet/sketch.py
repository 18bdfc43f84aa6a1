"""Many rows: look for neurons on samples, solve for the outer weights on all of them.

A sample of some thousand rows shows which neurons are worth taking; only their weights gain from
more. So every growth and every correction gets a sample of its own, and at the end one pass over
all rows, block by block, accumulates `F'F` and `F'Y`. Beside the data there are only blocks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import dsyrk

from greedynet.activations import Activation
from greedynet.data import Rows
from greedynet.frame import Frame
from greedynet.threads import Pool

Float64 = NDArray[np.float64]

ROWS_PER_WEIGHT = 8
MIN_SAMPLE = 8_192
MAX_SAMPLE = 16_384
HELD_OUT = 0.1
_BLOCK_ROWS = 2**12
_BLOCKS_AT_ONCE = 64
_JITTER = 1e-13


def sample_size(n_rows: int, n_features: int, n_neurons: int) -> int | None:
    """Rows to look at: some for every inner weight; None if that is more than half of them."""
    wanted = ROWS_PER_WEIGHT * n_neurons * (n_features + 1)
    size = min(max(wanted, MIN_SAMPLE), MAX_SAMPLE)
    return size if 2 * size < n_rows else None


class Sketch:
    """Samples of many rows.

    Parameters
    ----------
    rows : Rows
        All rows, as they came.
    size : int
        Rows in a sample.
    hold_out : bool
        Whether to keep a share of the rows out of all samples, to judge by.
    seed : int
        Seed of the samples.
    """

    def __init__(self, rows: Rows, size: int, *, hold_out: bool, seed: int) -> None:
        self.rows = rows
        self._size = size
        order = np.random.default_rng(seed).permutation(len(rows))
        n_held = min(size, int(HELD_OUT * len(rows))) if hold_out else 0
        self._held, self._rest = np.sort(order[:n_held]), order[n_held:]

    def sample(self, turn: int) -> Rows:
        """Return the rows of a turn; after all rows have had one, the first come again."""
        at = (turn * self._size + np.arange(self._size)) % len(self._rest)
        return self.rows.take(np.sort(self._rest[at]))

    def held_out(self) -> Rows | None:
        """Rows that are in no sample; None if there are none."""
        return self.rows.take(self._held) if len(self._held) else None

    def input_range(self) -> Float64:
        """Smallest and largest inputs of all rows."""
        X = self.rows.X
        return np.array([X.min(axis=0), X.max(axis=0)], dtype=np.float64)

    def gram(
        self, frame: Frame, points: Float64, activation: Activation, pool: Pool | None = None
    ) -> "Gram":
        """Products of the affine columns and of neurons, over all rows.

        Parameters
        ----------
        frame : Frame
        points : ndarray of shape (k, d + 1)
            Neurons in the coordinates of the frame.
        activation : Activation
        pool : Pool or None
            Threads; each takes a block of rows, and the blocks are added in their order.
        """
        pool = pool or Pool()
        k = frame.affine.to_weights.shape[1] + len(points)

        def block(start: int) -> tuple[Float64, Float64]:
            rows = frame.apply(self._block(start))
            F = np.empty((len(rows), k))
            F[:, : k - len(points)] = frame.affine.evaluate(rows.X)
            F[:, k - len(points) :] = rows.X @ points[:, :-1].T + points[:, -1]
            hidden = F[:, k - len(points) :]
            hidden[:] = activation.value(hidden)
            F = rows.weighted(F)
            return dsyrk(1.0, F.T, lower=0), F.T @ rows.weighted(rows.Y)

        starts = range(0, len(self.rows), _BLOCK_ROWS)
        G, b = np.zeros((k, k)), np.zeros((k, self.rows.Y.shape[1]))
        for i in range(0, len(starts), _BLOCKS_AT_ONCE):
            for products, right in pool.map(block, starts[i : i + _BLOCKS_AT_ONCE]):
                G += products
                b += right
        return Gram(G, b)

    def _block(self, start: int) -> Rows:
        part = slice(start, start + _BLOCK_ROWS)
        weights = None if self.rows.weights is None else self.rows.weights[part]
        return Rows(self.rows.X[part], self.rows.Y[part], weights)


@dataclass(frozen=True, eq=False)
class Triangle:
    """`F = QR` and `z = Q'Y`, without `Q`."""

    R: Float64
    z: Float64


@dataclass(frozen=True, eq=False)
class Gram:
    """Products `F'F` (upper triangle) and `F'Y`."""

    G: Float64
    b: Float64

    def divided(self, norms: Float64) -> "Gram":
        """Return the products of the columns divided by `norms`."""
        return Gram(self.G / np.outer(norms, norms), self.b / norms[:, None])

    def triangle(self, columns: NDArray[np.intp]) -> Triangle:
        """Return the triangle of some of the columns."""
        G = self.G[np.ix_(columns, columns)].copy()
        diagonal = np.einsum("ii->i", G)
        diagonal += _JITTER * diagonal.max(initial=1.0)
        R = cholesky(G, lower=False, check_finite=False)
        return Triangle(R, solve_triangular(R, self.b[columns], trans="T", check_finite=False))
