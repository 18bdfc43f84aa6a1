"""`Shape`: what a function must be like along its columns, and the weights that make it so.

A network `sum_j c_j sigma(w_j . x + b_j) + l . x + m` with a nondecreasing `sigma` is increasing in
column `k` if

    c_j w_jk >= 0 for every neuron,    l_k >= 0,

because every term is; decreasing with the opposite signs. With a convex `sigma` it is convex in
column `k` if

    c_j >= 0 for every neuron with w_jk != 0.

Sums and averages of such networks are of the same shape. Both conditions are sufficient. That for
convexity is also necessary, unless kinks of several neurons coincide. That for monotonicity is not:
a neuron of one layer that increases is convex or concave along each line, so that a sum of them
cannot be a step between two plateaus. Over ramps of single columns, which increase between two
plateaus themselves, it can (`hidden_layers=2`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.scaling import InputScaling
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Shape:
    """What a function must be like along each of its columns.

    Attributes
    ----------
    monotone : ndarray of shape (d,)
        1 for increasing, -1 for decreasing, 0 for any.
    convex : ndarray of shape (d,)
        1 for convex, -1 for concave, 0 for any.
    """

    monotone: Float64
    convex: Float64

    def scaled(self, inputs: InputScaling) -> "Shape":
        """Return the shape along scaled columns, some of which may be reversed."""
        order = slice(None) if inputs.order is None else inputs.order
        return Shape((self.monotone * np.sign(inputs.width))[order], self.convex[order])

    def of_columns(self, columns: NDArray[np.intp]) -> "Shape":
        """Return the shape along increasing functions of some of the columns."""
        return Shape(self.monotone[columns], self.convex[columns])

    # Inner weights, bias last

    def oriented(self, W: Float64, signs: Float64, *, mirrored: bool) -> Float64:
        """Return the inner weights nearest to `W`, or to `-W`, for outer weights of given signs.

        Parameters
        ----------
        W : ndarray of shape (k, d + 1)
        signs : ndarray of shape (k,)
            1 or -1.
        mirrored : bool
            Whether the neurons of `W` and `-W` differ by a linear function, so that either will do.
        """
        if mirrored:
            W = np.where(self.turned(W, signs)[:, None], -W, W)
        return np.clip(W, *self.limits(signs))

    def turned(self, W: Float64, signs: Float64) -> NDArray[np.bool_]:
        """Whether `-W` is nearer than `W` to what outer weights of given signs allow."""
        return np.asarray(self._wrong(-W, signs) < self._wrong(W, signs))

    def _wrong(self, W: Float64, signs: Float64) -> Float64:
        """Return the squared length of what monotonicity does not allow."""
        along = signs[:, None] * self.monotone * W[:, :-1]
        return np.asarray(np.sum(np.minimum(along, 0.0) ** 2, axis=1))

    def limits(self, signs: Float64) -> tuple[Float64, Float64]:
        """Return the smallest and largest inner weights for outer weights of given signs."""
        up = signs[:, None] * self.monotone
        flat = (self.convex != 0) & (self.convex != signs[:, None])
        low = np.where(flat | (up > 0), 0.0, -np.inf)
        high = np.where(flat | (up < 0), 0.0, np.inf)
        free = np.full((len(signs), 1), np.inf)
        return np.hstack([low, -free]), np.hstack([high, free])

    # Directions of a search, along which outer weights of either sign are tried

    def along(self, directions: Float64) -> Float64:
        """Return directions along which a neuron can be monotone, normalised.

        A neuron that is curved in the wrong way must not depend on a convex column: if there are
        such columns, all directions are tried without them, too.
        """
        turned = np.where(self.monotone != 0, self.monotone * np.abs(directions), directions)
        if self.convex.any():
            turned = np.concatenate([turned, np.where(self.convex != 0, 0.0, turned)])
        length = np.linalg.norm(turned, axis=1)
        kept = length > 0
        return np.asarray(turned[kept] / length[kept, None])

    def signs_of(self, directions: Float64) -> Float64:
        """Return the sign of the outer weights of neurons along directions: 0 for any, else NaN."""
        can_be = [self.allows(directions, np.full(len(directions), sign)) for sign in (1.0, -1.0)]
        return np.select([can_be[0] & can_be[1], *can_be], [0.0, 1.0, -1.0], np.nan)

    def allows(self, inner: Float64, signs: Float64) -> NDArray[np.bool_]:
        """Whether neurons of inner weights, without the bias, have outer weights of given signs."""
        falls = signs[:, None] * self.monotone * inner < 0
        bends = (self.convex != 0) & (self.convex != signs[:, None]) & (inner != 0)
        return np.asarray(~(falls | bends).any(axis=1))

    def clipped(self, W: Float64) -> Float64:
        """Return neurons, bias last, that are monotone in one way or the other."""
        along = self.monotone * W[..., :-1]
        way = np.where(along.sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
        inner = np.where(way * along < 0, 0.0, W[..., :-1])
        return np.concatenate([inner, W[..., -1:]], axis=-1)
