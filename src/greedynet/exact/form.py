"""One output of a network over a space, `PiecewiseLinear`, and outputs within bounds, `ClippedSum`.

    f(v) = m + l . v + sum_n c_n relu(a_n . v + b_n)

Every activation of degree 1 is of this kind: with `sigma(1) = p` and `sigma(-1) = q`,
`sigma(z) = (p + q) relu(z) - q z`; so ReLU, leaky ReLU and abs are exact. Neurons with the same
kink are merged, `relu(-z) = relu(z) - z`, and those that do not change sign in the space become
part of `l` and `m`.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, degree_of, halves
from greedynet.exact.space import Space
from greedynet.model.network import Network
from greedynet.support.types import Float64

# Directions of kinks that agree to so many digits are the same.
_DIGITS = 12


class Piece(NamedTuple):
    """A linear piece of a function: its slopes, and the conditions `rows . v <= most` for it."""

    line: Float64
    rows: Float64
    most: Float64


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """A piecewise linear function of variables.

    The letters are those above: `constant` is m, `line` l, `(n_variables,)`; `outer` has the c_n,
    `inner` the a_n, `(n_neurons, n_variables)`, of each of which the largest entry is 1 or -1, and
    `biases` the b_n.
    """

    constant: float
    line: Float64
    outer: Float64
    inner: Float64
    biases: Float64

    @staticmethod
    def of(network: Network, output: int, space: Space) -> "PiecewiseLinear":
        """Return an output of a network on a space; its kinks must be those of the space."""
        check_activation(network.activation)
        up, down = halves(network.activation)
        starts, ends = map(network.neuron_inputs, space.single_moves())
        base, rises = network.neuron_inputs(space.base[None])[0], ends - starts
        inner = rises @ network.inner_weights.T
        biases = network.inner_weights @ base + network.biases
        outer = network.outer_weights[:, output]
        line, constant = np.zeros(space.n_variables), 0.0
        if network.linear_weights is not None:
            line = rises @ network.linear_weights[:, output]
            constant = float(base @ network.linear_weights[:, output])
        if network.intercept is not None:
            constant += float(network.intercept[output])
        form = PiecewiseLinear(
            constant - down * float(biases @ outer),
            line - down * (inner @ outer),
            (up + down) * outer,
            inner.T,
            biases,
        )
        return form.merged()

    def __call__(self, v: Float64) -> Float64:
        """Return the values at some `(n_rows, n_variables)`."""
        z = v @ self.inner.T + self.biases
        return np.asarray(self.constant + v @ self.line + np.maximum(z, 0.0) @ self.outer)

    def __neg__(self) -> "PiecewiseLinear":
        return replace(self, constant=-self.constant, line=-self.line, outer=-self.outer)

    def minus(self, other: "PiecewiseLinear") -> "PiecewiseLinear":
        """Return the difference of two functions of the same variables."""
        return PiecewiseLinear(
            self.constant - other.constant,
            self.line - other.line,
            np.concatenate([self.outer, -other.outer]),
            np.vstack([self.inner, other.inner]),
            np.concatenate([self.biases, other.biases]),
        ).merged()

    def merged(self) -> "PiecewiseLinear":
        """Return the same function without zero neurons, and with one neuron for each kink."""
        size = np.abs(self.inner).max(axis=1, initial=0.0)
        flat = size == 0.0
        constant = self.constant + float(self.outer[flat] @ np.maximum(self.biases[flat], 0.0))
        size, outer = size[~flat], self.outer[~flat]
        inner, biases = self.inner[~flat] / size[:, None], self.biases[~flat] / size
        outer = outer * size
        first, sign = _same_kinks(inner, biases)
        # relu(-z) = relu(z) - z, for those that point the other way.
        back = sign < 0
        line = self.line + outer[back] @ inner[back]
        constant += float(outer[back] @ biases[back])
        kept, place = np.unique(first, return_inverse=True)
        return PiecewiseLinear(
            constant,
            line,
            np.asarray(np.bincount(place, outer, len(kept)), dtype=np.float64),
            inner[kept],
            biases[kept],
        )

    def taken(self, chosen: NDArray[np.bool_]) -> "PiecewiseLinear":
        inner, biases = self.inner[chosen], self.biases[chosen]
        return replace(self, outer=self.outer[chosen], inner=inner, biases=biases)

    def linear_where(self, active: NDArray[np.bool_]) -> tuple[float, Float64]:
        """Return the constant and the slopes of the function where just these neurons are on."""
        line = self.line + self.outer[active] @ self.inner[active]
        return self.constant + float(self.outer[active] @ self.biases[active]), line

    def piece(self, v: Float64) -> Piece:
        """Return the linear piece at `v`: the same neurons are on."""
        active = self.inner @ v + self.biases > 0.0
        _, line = self.linear_where(active)
        sign = np.where(active, -1.0, 1.0)
        return Piece(line, sign[:, None] * self.inner, -sign * self.biases)

    def interval(self, space: Space) -> tuple[float, float]:
        """Return numbers between which all values in a space are, not necessarily close ones."""
        _, highs = self.ranges(space)
        steps = self.outer * np.maximum(highs, 0.0)
        line = replace(self, inner=self.line[None], biases=np.array([self.constant]))
        (low,), (high,) = line.ranges(space)
        return float(low + steps[steps < 0].sum()), float(high + steps[steps > 0].sum())

    def ranges(self, space: Space) -> tuple[Float64, Float64]:
        """Return the smallest and the largest `a_n . v + b_n` in a space; both are attained."""
        low, high = self.biases.copy(), self.biases.copy()
        for chain in space.chains:
            sums = np.cumsum(self.inner[:, chain], axis=1)
            low += np.minimum(sums.min(axis=1), 0.0)
            high += np.maximum(sums.max(axis=1), 0.0)
        for group in space.groups:
            low += self.inner[:, group].min(axis=1)
            high += self.inner[:, group].max(axis=1)
        return low, high

    def unstable(self, space: Space) -> "PiecewiseLinear":
        """Return the same function in a space, with the neurons that have a kink inside it."""
        low, high = self.ranges(space)
        constant, line = self.linear_where(low >= 0.0)
        kinked = (low < 0.0) & (high > 0.0) & (self.outer != 0.0)
        return replace(self.taken(kinked), constant=constant, line=line)


def check_activation(activation: Activation) -> None:
    """Raise an error unless networks of the activation are piecewise linear."""
    if degree_of(activation) != 1:
        raise ValueError(
            f"Exact answers need a piecewise linear network, got the activation "
            f"{activation.name!r}, whose neurons are curved: fit with `activation=` 'relu', "
            "'leaky_relu' or 'abs'."
        )


def _same_kinks(inner: Float64, biases: Float64) -> tuple[NDArray[np.intp], Float64]:
    """Return for each neuron the first one with the same kink, and whether it points that way."""
    points = np.column_stack([inner, biases])
    lead = points[np.arange(len(points)), np.abs(inner).argmax(axis=1)] if len(points) else points
    # Of a direction and its opposite, the same one.
    keys = np.round(points / lead.reshape(-1, 1), _DIGITS) + 0.0
    seen: dict[bytes, int] = {}
    first = np.array([seen.setdefault(key.tobytes(), i) for i, key in enumerate(keys)], np.intp)
    sign = np.sign(lead).reshape(-1)
    return first, sign * sign[first] if len(first) else sign


class OutputLimits(NamedTuple):
    """The bounds on one output, infinite where they are open."""

    low: float
    high: float

    @staticmethod
    def of(network: Network, output: int) -> "OutputLimits | None":
        """Return the bounds on an output of a network; None without any."""
        bounds = network.bounds
        if bounds is None or (bounds.low[output], bounds.high[output]) == (-np.inf, np.inf):
            return None
        return OutputLimits(float(bounds.low[output]), float(bounds.high[output]))

    def __neg__(self) -> "OutputLimits":
        return OutputLimits(-self.high, -self.low)

    def apply(self, values: Float64) -> Float64:
        return np.clip(values, self.low, self.high)


_OPEN = OutputLimits(-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Clipped:
    """An output within its bounds."""

    form: PiecewiseLinear
    limits: OutputLimits

    @staticmethod
    def of(form: PiecewiseLinear, limits: OutputLimits | None) -> "Clipped":
        """Return an output within bounds, or without any."""
        return Clipped(form, limits or _OPEN)

    def __call__(self, v: Float64) -> Float64:
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
    """A sum of outputs within their bounds."""

    terms: tuple[Clipped, ...]
    constant = 0.0

    def __call__(self, v: Float64) -> Float64:
        return np.asarray(np.sum([term(v) for term in self.terms], axis=0))

    def __neg__(self) -> "ClippedSum":
        return ClippedSum(tuple(-term for term in self.terms))

    def unstable(self, space: Space) -> "ClippedSum":
        return ClippedSum(tuple(replace(t, form=t.form.unstable(space)) for t in self.terms))

    def piece(self, v: Float64) -> Piece:
        pieces = [term.piece(v) for term in self.terms]
        return Piece(
            np.sum([piece.line for piece in pieces], axis=0),
            np.vstack([piece.rows for piece in pieces]),
            np.concatenate([piece.most for piece in pieces]),
        )
