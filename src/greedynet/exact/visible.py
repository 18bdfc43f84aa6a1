"""The steepest slope of an output within its bounds: of the pieces that the bounds let be seen.

    f(v) = min(max(g(v), low), high),    f' = g' where low < g < high, and 0 where g is beyond

The programme of `slopes` is told the values of `g`, too: with both conditions of every neuron, its
hidden value is exact, and `low <= g <= high` is one more linear condition.
"""

import time

import numpy as np

from greedynet.exact.clipped import Limits
from greedynet.exact.form import Form
from greedynet.exact.programme import maximise
from greedynet.exact.slopes import Found, Slope, Switches, inside, slope_at, steepest
from greedynet.exact.space import Space
from greedynet.support.types import Float64

_DRAWN = 512


def steepest_visible(
    form: Form, space: Space, feature: int, limits: Limits, seconds: float, below: float = -np.inf
) -> Slope:
    """Return the largest slope along a feature of all pieces between the bounds.

    Minus infinity if there are none. The parameters are those of `steepest`, and the bounds.

    Parameters
    ----------
    form, space, feature, seconds
        As for `steepest`.
    limits : Limits
    below : float
        Where no slope at all is larger, it does not matter which pieces can be seen.
    """
    end = time.perf_counter() + seconds
    first = steepest(form, space, feature, seconds / 2)
    if first.bound <= below or _is_visible(form, limits, first.v):
        return first
    kinked = form.unstable(space)
    place = space.chain_of(feature).start
    width, constant = float(space.widths[place]), float(kinked.line[place])
    gains = kinked.outer * kinked.inner[:, place]
    v, bound = _Visible(kinked, space, gains, limits).largest(end)
    bound = min(first.bound * width, constant + bound)
    if v is None:
        drawn = space.drawn(_DRAWN)
        shown = drawn[[_is_visible(form, limits, row) for row in drawn]]
        if not len(shown):
            return slope_at(-np.inf, bound, drawn[0], space, width)
        # What was seen is there, whatever the solver says of it.
        bound = first.bound * width if bound == -np.inf else bound
        on = shown @ kinked.inner.T + kinked.biases > 0.0
        v = shown[int((on @ gains).argmax())]
    value = constant + float(gains @ (kinked.inner @ v + kinked.biases > 0.0))
    return slope_at(value, max(value, bound), v, space, width)


def flat_slopes(form: Form, space: Space, limits: Limits, seconds: float) -> list[Slope]:
    """Return the slope 0 where the output is at a bound; nothing if it never is.

    Where time does not tell, 0 is a bound that was not found.
    """
    unknown: list[Slope] = []
    for side, limit in ((form, limits.high), (-form, -limits.low)):
        if np.isfinite(limit):
            found = maximise(side, space, seconds / 2)
            row = space.rows(found.v[None])[0]
            if found.value > limit:
                return [Slope(0.0, 0.0, found.v, row)]
            if found.bound > limit + found.tolerance:
                unknown = [Slope(-np.inf, 0.0, None, row)]
    return unknown


def _is_visible(form: Form, limits: Limits, v: Float64 | None) -> bool:
    return v is not None and bool(limits.low < form(v[None])[0] < limits.high)


class _Visible(Switches):
    """Which neurons are on, for the largest sum of their gains where the output can be seen."""

    def __init__(self, form: Form, space: Space, gains: Float64, limits: Limits) -> None:
        super().__init__(form, space, gains)
        self.limits = limits
        lows, highs = form.ranges(space)
        rows, hidden = self.model.rows, []
        for on, a, b, low, high in zip(
            self.switches, form.inner, form.biases, lows, highs, strict=True
        ):
            h = self.model.column(0.0, 0.0, high, integral=False)
            places, values = [*range(len(a)), h], [*(-a), 1.0]
            rows.add(places, values, low=b)  # h >= z
            rows.add([*places, on], [*values, -low], high=b - low)  # h <= z - low (1 - s)
            rows.add([h, on], [1.0, -high], high=0.0)  # h <= high s
            hidden.append(h)
        places, values = [*range(space.n_variables), *hidden], [*form.line, *form.outer]
        rows.add(places, values, limits.low - form.constant, limits.high - form.constant)

    def inside(self, found: Found) -> Float64 | None:
        """Return variables inside the piece, and between the bounds, if there are some."""
        constant, line = self.form.linear_where(found.on)
        size = float(np.abs(line).max(initial=0.0)) or 1.0
        walls = [(line, constant - self.limits.low), (-line, self.limits.high - constant)]
        kept = [(a / size, b / size) for a, b in walls if np.isfinite(b)]
        inner = np.vstack([self.form.inner, *(a[None] for a, _ in kept)])
        biases = np.concatenate([self.form.biases, [b for _, b in kept]])
        on = np.concatenate([found.on, np.ones(len(kept), dtype=np.bool_)])
        return inside(inner, biases, self.space, on, found.v)
