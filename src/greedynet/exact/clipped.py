"""`ClippedSum`: outputs of networks within their bounds, and sums of such, on a space.

    f(v) = sum_k min(max(g_k(v), low_k), high_k)

Every term rises with its `g_k`. So its largest value needs `g_k` from above only, as that of `g_k`
itself does.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from greedynet.exact.form import Form, Piece
from greedynet.exact.space import Space
from greedynet.model.network import Network
from greedynet.support.types import Float64


class Limits(NamedTuple):
    """The bounds on one output, infinite where they are open."""

    low: float
    high: float

    @staticmethod
    def of(network: Network, output: int) -> "Limits | None":
        """Return the bounds on an output of a network; None without any."""
        bounds = network.bounds
        if bounds is None or (bounds.low[output], bounds.high[output]) == (-np.inf, np.inf):
            return None
        return Limits(float(bounds.low[output]), float(bounds.high[output]))

    def __neg__(self) -> "Limits":
        return Limits(-self.high, -self.low)

    def apply(self, values: Float64) -> Float64:
        """Return values within the bounds."""
        return np.clip(values, self.low, self.high)


_OPEN = Limits(-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Clipped:
    """An output within its bounds.

    Attributes
    ----------
    form : Form
    limits : Limits
    """

    form: Form
    limits: Limits

    @staticmethod
    def of(form: Form, limits: Limits | None) -> "Clipped":
        """Return an output within bounds, or without any."""
        return Clipped(form, limits or _OPEN)

    def __call__(self, v: Float64) -> Float64:
        """Return the values at some `(n_rows, n_variables)`."""
        return self.limits.apply(self.form(v))

    def __neg__(self) -> "Clipped":
        return Clipped(-self.form, -self.limits)

    def piece(self, v: Float64) -> Piece:
        """Return the linear piece at `v`, on which the output stays where it is: in or at a bound.

        A kink at a bound is one of a neuron, of `g - low` or `g - high`.
        """
        piece = self.form.piece(v)
        slope, g = piece.line, float(self.form(v[None])[0])
        inside = self.limits.low < g < self.limits.high
        rows, most = [piece.rows], [piece.most]
        for limit in self.limits:
            if np.isfinite(limit):
                # On the same side of it: sign (g + slope . (w - v)) >= sign limit.
                sign = 1.0 if g > limit or (g == limit == self.limits.high) else -1.0
                rows.append(-sign * slope[None])
                most.append(np.array([sign * (g - float(slope @ v) - limit)]))
        line = slope if inside else np.zeros_like(slope)
        return Piece(line, np.vstack(rows), np.concatenate(most))


@dataclass(frozen=True, eq=False)
class ClippedSum:
    """A sum of outputs within their bounds.

    Attributes
    ----------
    terms : tuple of Clipped
        Of the same variables.
    """

    terms: tuple[Clipped, ...]
    constant = 0.0

    def __call__(self, v: Float64) -> Float64:
        """Return the values at some `(n_rows, n_variables)`."""
        return np.asarray(np.sum([term(v) for term in self.terms], axis=0))

    def __neg__(self) -> "ClippedSum":
        return ClippedSum(tuple(-term for term in self.terms))

    def unstable(self, space: Space) -> "ClippedSum":
        """Return the same function in a space, with the neurons that have a kink inside it."""
        return ClippedSum(tuple(replace(t, form=t.form.unstable(space)) for t in self.terms))

    def piece(self, v: Float64) -> Piece:
        """Return the linear piece at `v`."""
        pieces = [term.piece(v) for term in self.terms]
        return Piece(
            np.sum([piece.line for piece in pieces], axis=0),
            np.vstack([piece.rows for piece in pieces]),
            np.concatenate([piece.most for piece in pieces]),
        )
