"""Joint correction of all weights of a classifier, by L-BFGS on the penalised log-loss.

    mean loss(C' sigma(W [x, 1]) + L' [x, 1]) + ridge / 2 (|W|^2 + |C|^2 + |L|^2),

where the constant of `L` is not penalised. As in the correction of a regression, for a homogeneous
sigma this amounts to a penalty on the magnitude of the neurons, so that neurons that contribute
little vanish.

Networks of a given shape (`rows/shape.py`) have the unknowns `W`, `C` and the slopes `t` that are
left when every neuron has what it may take away, `L = t - V' C` with `V_jk = w_jk [s_j sigma_k w_jk
< 0]`. With signs of `C` and of `t`, this is a network of the shape. The derivatives of the loss by
`C` and `W` are smaller by `V dL` and by `C dL'` where `V` is not zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, degree_of
from greedynet.correction.limited_memory import minimised, minimised_within
from greedynet.losses.logistic import losses_and_residual
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.shape import Shape
from greedynet.support.context import FitContext
from greedynet.support.magnitudes import LARGEST_LOSS
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# Number of gradients that approximate the Hessian; the default of ten needs more steps.
MEMORY = 20
TOLERANCE = 1e-6
# Number of rows of a block, and of the chunks of blocks that threads compute.
_BLOCK = 512
_CHUNKS, _CHUNKS_OF_MANY, _MANY = 4, 16, 2**14
# With fewer multiplications, threads would cost more than they gain.
_PARALLEL_FROM = 2**22


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a network on scaled inputs: inner, bias last; outer; affine, constant last.

    `W` is of shape (k, d + 1), `C` of (k, n_outputs), and `L` of (d + 1, n_outputs).
    """

    W: Float64
    C: Float64
    L: Float64

    def logits(self, X: NDArray[np.floating], activation: Activation) -> Float64:
        """Return the outputs of the network; rows so far that they overflow are equally far."""
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = activation.value(X @ self.W[:, :-1].T + self.W[:, -1])
            found = np.asarray(hidden @ self.C + X @ self.L[:-1] + self.L[-1])
        return np.nan_to_num(
            found, copy=False, nan=LARGEST_LOSS, posinf=LARGEST_LOSS, neginf=-LARGEST_LOSS
        )

    def take(self, neurons: NDArray[np.intp]) -> "Weights":
        """Return the network of some of the neurons."""
        return Weights(self.W[neurons], self.C[neurons], self.L)

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return len(self.W)

    @property
    def sizes(self) -> Float64:
        """Magnitude of every neuron, `|w| |c|`."""
        return np.asarray(np.linalg.norm(self.W, axis=1) * np.linalg.norm(self.C, axis=1))

    def balanced(self, activation: Activation) -> "Weights":
        """Return the same network with minimal penalty, `|w_j|^2 = k |c_j|^2`, if homogeneous."""
        k = degree_of(activation)
        if k is None:
            return self
        inner, outer = np.linalg.norm(self.W, axis=1), np.linalg.norm(self.C, axis=1)
        ratio = np.maximum(outer, 1e-6) / np.where(inner > 0, inner, 1.0)
        share = ((np.sqrt(k) * ratio) ** (1 / (k + 1)))[:, None]
        return Weights(self.W * share, self.C / share**k, self.L)

    def carried(self, scaling: InputScaling, to: InputScaling) -> "Weights":
        """Return the network for inputs that are scaled by another map."""
        L = np.ascontiguousarray(scaling.carried(self.L.T, to).T)
        return Weights(scaling.carried(self.W, to), self.C, L)

    def flat(self) -> Float64:
        """Return all weights as one vector."""
        return np.concatenate([self.W.ravel(), self.C.ravel(), self.L.ravel()])

    def like(self, flat: Float64) -> "Weights":
        """Return weights of the same shapes from one vector."""
        a, b = self.W.size, self.W.size + self.C.size
        parts = (flat[:a], flat[a:b], flat[b:])
        shapes = (self.W.shape, self.C.shape, self.L.shape)
        return Weights(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


def descend(
    rows: "Rows | PreparedRows",
    start: Weights,
    ridge: float,
    n_steps: int,
    activation: Activation,
    *,
    linear_term: bool = True,
    shape: Shape | None = None,
    enough: float = 0.0,
    context: FitContext | None = None,
) -> Weights:
    """Return weights with a smaller penalised log-loss, close to a minimum if steps suffice.

    Classes are unit vectors in `Y`. Without a linear term, that of the network remains zero. Ends
    where a few steps together lower the objective by less than the fraction `enough`, or where the
    clock of the context says so. A shape along the scaled columns is kept by networks of one output
    with a linear term.
    """
    context = context or FitContext()
    penalised = PenalisedLogLoss(
        rows,
        start,
        ridge,
        activation,
        linear_term=linear_term or shape is not None,
        pool=context.pool,
    )

    def objective(flat: Float64) -> tuple[float, Float64]:
        context.check()
        return penalised.evaluate(flat)

    ends = (n_steps, MEMORY, TOLERANCE, context.clock.is_over, enough)
    if shape is None:
        return start.like(minimised(objective, start.flat(), *ends))
    shaped = ShapedLogLoss(objective, start, shape)
    return shaped.weights(minimised_within(shaped.limits, shaped.evaluate, shaped.start, *ends))


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows as the descent reads them, prepared once for many descents.

    Inputs have a column of ones; in float32, products with them take half of the time. Weights of
    the rows, a column, are those in the mean.
    """

    X1: NDArray[np.floating]
    Y: Float64
    w: Float64

    @staticmethod
    def of(rows: "Rows | PreparedRows", *, single: bool = False) -> "PreparedRows":
        """Prepare rows, in float32 if `single`; prepared ones stay as they are."""
        if isinstance(rows, PreparedRows):
            return rows
        X1 = np.ones((len(rows), rows.n_features + 1), np.float32 if single else np.float64)
        X1[:, :-1] = rows.X
        w = np.ones(len(rows)) if rows.weights is None else rows.weights
        return PreparedRows(X1, rows.Y, (w / w.sum())[:, None])

    def __len__(self) -> int:
        return len(self.X1)


class PenalisedLogLoss:
    """The penalised log-loss, a function of the weights of networks `like` one in one vector."""

    def __init__(
        self,
        rows: Rows | PreparedRows,
        like: Weights,
        ridge: float,
        activation: Activation,
        *,
        linear_term: bool,
        pool: Pool | None = None,
    ) -> None:
        self._rows, self._like, self._activation = PreparedRows.of(rows), like, activation
        penalty = like.like(np.full(like.flat().shape, ridge))
        penalty.L[-1] = 0.0
        self._pull, self._free = penalty.flat(), float(linear_term)
        is_large = len(self._rows) * (like.W.size + like.L.size) >= _PARALLEL_FROM
        self._pool = pool if pool is not None and is_large else Pool()
        self._chunks = _chunks(len(self._rows))

    def evaluate(self, flat: Float64) -> tuple[float, Float64]:
        """Return the value and the gradient."""
        at, k, dtype = self._like.like(flat), self._like.n_neurons, self._rows.X1.dtype
        with np.errstate(over="ignore"):
            inner, outer = np.concatenate([at.W, at.L.T]).astype(dtype), at.C.astype(dtype)
            gradient = self._pull * flat
            value = 0.5 * float(gradient @ flat)
        if not all(np.isfinite(a).all() for a in (inner, outer, value)):
            return np.inf, np.zeros_like(flat)  # too far for single precision, or for the ridge
        found = self._pool.map(lambda blocks: self._sums(inner, outer, blocks), self._chunks)
        slopes = self._like.like(gradient)
        # In this order, whatever the number of threads.
        for loss, by_inner, by_outer in found:
            value += loss
            slopes.W[...] += by_inner[:k]
            slopes.C[...] += by_outer
            slopes.L[...] += self._free * by_inner[k:].T
        return value, gradient

    def _sums(
        self, inner: NDArray[np.floating], outer: NDArray[np.floating], blocks: Sequence[slice]
    ) -> tuple[float, Float64, Float64]:
        """Return the loss of a chunk of rows, and its derivatives by inner and outer weights.

        Rows are taken in blocks, whose hidden values stay in the processor's cache.
        """
        value, by_inner, by_outer = 0.0, np.zeros(inner.shape), np.zeros(outer.shape)
        for block in blocks:
            value += self._add(inner, outer, block, by_inner, by_outer)
        return value, by_inner, by_outer

    def _add(
        self,
        inner: NDArray[np.floating],
        outer: NDArray[np.floating],
        block: slice,
        by_inner: Float64,
        by_outer: Float64,
    ) -> float:
        """Return the loss of a block of rows, and add its derivatives by inner and outer weights.

        The affine term is computed along with the neurons: a product with a few columns takes
        hardly less time than one with many.
        """
        X1, w, sigma = self._rows.X1[block], self._rows.w[block], self._activation
        k = len(outer)
        F = X1 @ inner.T
        Z = F[:, :k]
        H = sigma.value(Z)
        # Losses are differences of logits: in double precision, whatever that of the products.
        logits = np.add(F[:, k:], H @ outer, dtype=np.float64)
        loss, residual = losses_and_residual(logits, self._rows.Y[block])
        residual *= -w
        G = np.empty_like(F)
        G[:, k:] = residual
        np.matmul(G[:, k:], outer.T, out=G[:, :k])
        G[:, :k] *= sigma.slope(Z)
        by_inner += G.T @ X1
        by_outer += H.T @ G[:, k:]
        return float(w[:, 0] @ loss)


class ShapedLogLoss:
    """A function of all weights of a network as a function of the unknowns of a shape.

    The network to start from has one output, and its neurons keep the signs of their outer weights.
    """

    def __init__(
        self, objective: Callable[[Float64], tuple[float, Float64]], start: Weights, shape: Shape
    ) -> None:
        self._objective, self._shape = objective, shape
        self._signs = np.where(start.C[:, 0] < 0, -1.0, 1.0)
        W = np.clip(start.W, *shape.limits(self._signs))
        start = replace(start, W=W)
        slopes = replace(start, L=start.L + self._taken(W).T @ start.C)
        self.limits = self._limits_of(start)
        self.start = np.clip(slopes.flat(), *self.limits)
        self._like = start

    def _taken(self, W: Float64) -> Float64:
        return self._shape.taken(W, self._signs)

    def _limits_of(self, start: Weights) -> tuple[Float64, Float64]:
        """Return the smallest and largest unknowns."""
        signs, slopes = self._signs[:, None], np.append(self._shape.monotone, 0.0)[:, None]
        ends = zip(
            self._shape.limits(self._signs),
            (np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)),
            (np.where(slopes > 0, 0.0, -np.inf), np.where(slopes < 0, 0.0, np.inf)),
            strict=True,
        )
        low, high = (Weights(*parts).flat() for parts in ends)
        return low, high

    def weights(self, unknowns: Float64) -> Weights:
        """Return the network of unknowns."""
        at = self._like.like(unknowns)
        return replace(at, L=at.L - self._taken(at.W).T @ at.C)

    def evaluate(self, unknowns: Float64) -> tuple[float, Float64]:
        """Return the value and the gradient."""
        network = self.weights(unknowns)
        value, gradient = self._objective(network.flat())
        by = self._like.like(gradient)
        takes = self._shape.takes(network.W, self._signs)
        W = by.W - takes * (network.C @ by.L.T)
        C = by.C - self._taken(network.W) @ by.L
        return value, Weights(W, C, by.L).flat()


def _chunks(n_rows: int) -> list[list[slice]]:
    """Return the blocks of rows of every chunk, all of nearly the same size.

    Unlike `parts_of`, chunks are of whole blocks, and more with many rows. The last bits of a fit
    depend on the division, and on adding the chunks to the penalty one after the other.
    """
    n_blocks = -(-n_rows // _BLOCK)
    n_chunks = min(n_blocks, _CHUNKS if n_rows < _MANY else _CHUNKS_OF_MANY)
    n_blocks = -(-n_blocks // max(1, n_chunks)) * n_chunks
    ends = np.arange(n_blocks + 1) * n_rows // max(1, n_blocks)
    blocks = [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    size = n_blocks // max(1, n_chunks)
    return [blocks[i * size : (i + 1) * size] for i in range(n_chunks)]
