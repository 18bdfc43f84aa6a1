"""`Shape`: what a function must be like along its columns, and the weights that make it so.

A network `sum_j c_j relu(w_j . x + b_j) + l . x + m` has the slope `l_k + sum_j c_j w_jk 1[...]` in
column `k`, over the neurons that are active. So it is increasing in column `k` if

    l_k + sum_j min(0, c_j w_jk) >= 0,

because the slope is at least this wherever neurons are active; decreasing with the opposite signs.
It is convex in column `k` if

    c_j >= 0 for every neuron with w_jk != 0,

and concave with the opposite sign. Averages of such networks are of the same shape. Both hold for
all rows, not only near the data.

The first condition says that every neuron comes with as much slope as it may take away: a network
is of the shape if and only if it is a sum of `sigma_k t_k x_k`, `t_k >= 0`, and of neurons

    c_j (relu(w_j . x + b_j) - sum_k w_jk x_k [s_j sigma_k w_jk < 0]),    s_j = sign c_j,

where `sigma_k` is 1 for increasing, -1 for decreasing columns, and slopes are free in others. Such
terms are monotone; for a single column they are `max(x, t)` and `min(x, t)`, for two among others
the minimum `x_1 - relu(x_1 - x_2)`. So shapes are a matter of signs (`correction/shaped.py`).

Both conditions are sufficient. That for convexity is also necessary, unless kinks of several
neurons coincide. That for monotonicity is not: of two neurons that are never active alone, one may
take away what the other adds. A step between two plateaus is such a function: in one layer it is
not a sum of monotone neurons. Over ramps of single columns, which rise between two plateaus
themselves, it is (`hidden_layers=2`).
"""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.scaling import InputScaling
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Shape:
    """What a function must be like along each of its columns."""

    monotone: Float64  # (d,): 1 for increasing, -1 for decreasing, 0 for any
    convex: Float64  # (d,): 1 for convex, -1 for concave, 0 for any

    def scaled(self, inputs: InputScaling) -> "Shape":
        """Return the shape along scaled columns, some of which may be reversed."""
        order = slice(None) if inputs.order is None else inputs.order
        return Shape((self.monotone * np.sign(inputs.width))[order], self.convex[order])

    def of_columns(self, columns: NDArray[np.intp]) -> "Shape":
        """Return the shape along increasing functions of some of the columns."""
        return Shape(self.monotone[columns], self.convex[columns])

    # Inner weights, bias last, for outer weights of given signs

    def taken(self, W: Float64, signs: Float64) -> Float64:
        """Return the inner weights by which neurons take slope away, 0 for the others."""
        return np.where(self.takes(W, signs), W, 0.0)

    def takes(self, W: Float64, signs: Float64) -> NDArray[np.bool_]:
        """Whether inner weights take slope away, `s_j sigma_k w_jk < 0`; never the bias."""
        return np.asarray(signs[:, None] * np.append(self.monotone, 0.0) * W < 0)

    def limits(self, signs: Float64) -> tuple[Float64, Float64]:
        """Return the smallest and largest inner weights: zero where a neuron is bent wrongly."""
        bent = (self.convex != 0) & (self.convex != signs[:, None])
        high = np.where(np.hstack([bent, np.zeros((len(signs), 1), dtype=bool)]), 0.0, np.inf)
        return -high, high

    def without_convex(self, directions: Float64) -> Float64:
        """Return directions, and those without convex columns if there are such columns.

        Along the latter, neurons may be bent in any way.
        """
        if not self.convex.any():
            return directions
        flat = np.where(self.convex != 0, 0.0, directions)
        length = np.linalg.norm(flat, axis=1)
        kept = length > 0
        return np.concatenate([directions, flat[kept] / length[kept, None]])

    # Networks of one output

    def is_of(
        self, inner: Float64, outer: Float64, linear: Float64, biases: Float64 | None = None
    ) -> bool:
        """Whether the weights of a network prove its shape; they are as for `least`."""
        bent = (self.convex != 0) & (np.sign(outer)[:, None] == -self.convex) & (inner != 0)
        return (
            bool((self.monotone * (linear - self.least(inner, outer, biases)) >= 0).all())
            and not bent.any()
        )

    def least(self, inner: Float64, outer: Float64, biases: Float64 | None = None) -> Float64:
        """Return the slopes `l_k` that make a network monotone: zero, or larger in magnitude.

        Neurons of the same inner weights become active one after the other, in the order of their
        biases: together they take away at most what one of the partial sums of their outer weights
        does. The sums are exact, and rounded away from zero.

        `inner` weights are `(k, d)`, `outer` ones `(k,)`; the biases, `(k,)`, are None if no two
        neurons have the same inner weights.
        """
        along = self.monotone * inner
        taken = np.minimum(along * outer[:, None], 0.0)
        if biases is not None:
            taken = np.array([_taken(along[i[0]], outer[i]) for i in _same(inner, biases)])
            taken = taken.reshape(-1, inner.shape[1])
        sums = np.array([-fsum(column) for column in taken.T])
        return self.monotone * np.where(sums > 0, np.nextafter(sums, np.inf), 0.0)


def _same(inner: Float64, biases: Float64) -> list[NDArray[np.intp]]:
    """Return the positions of neurons of the same inner weights, those that begin first first."""
    first = np.argsort(-biases, kind="stable")
    group = np.unique(inner, axis=0, return_inverse=True)[1].ravel()
    return [first[group[first] == g] for g in range(group.max(initial=-1) + 1)]


def _taken(along: Float64, outer: Float64) -> Float64:
    """Return the least slopes of neurons of one direction, at most 0."""
    sums = [fsum(outer[: i + 1]) for i in range(len(outer))]
    return np.minimum(np.min(np.multiply.outer(sums, along), axis=0), 0.0)
