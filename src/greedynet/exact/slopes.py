"""The steepest slope of a piecewise linear function along one variable, within bounds.

Where just the neurons `s_n = 1` are on, the slope along variable `k` is `l_k + sum_n g_n s_n`,
`g_n = c_n a_nk`. For its largest value, a neuron with `g_n > 0` may be on only where `z_n >= 0`,
and one with `g_n < 0` may be off only where `z_n <= 0`:

    z_n >= low_n (1 - s_n),    z_n <= high_n s_n.

On a kink a neuron may count as on and as off, so that several kinks through one point allow
combinations that hold on no piece. Each combination, with the levels of categories and the pieces
of columns, is checked by a linear programme that looks for a row inside its piece, and excluded
from the next programme if there is none.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.exact.form import OutputLimits, PiecewiseLinear
from greedynet.exact.programme import Model, linprog, maximise
from greedynet.exact.space import Space
from greedynet.support.types import Float64

# Combinations of neurons that hold on no piece, after which the bound stays what it is.
_MOST_EXCLUDED = 50
# A piece is that wide at least, relative to the ranges of the variables.
_INSIDE = 1e-9
# Rows at which slopes are looked at where the solver finds none.
_DRAWN = 512


@dataclass(frozen=True, eq=False)
class Slope:
    """The largest slope that was found, in units of the feature, and a bound of all.

    `value` is minus infinity if none was found, with `v` None. `row` is `v` as a row of features.
    """

    value: float
    bound: float
    v: Float64 | None
    row: Float64


def steepest(form: PiecewiseLinear, space: Space, feature: int, seconds: float) -> Slope:
    """Return the largest slope along a feature, whose column has one piece in the space."""
    end = time.perf_counter() + seconds
    place = space.chain_of(feature).start
    width = float(space.widths[place])
    kinked = form.unstable(space)
    gains = kinked.outer * kinked.inner[:, place]
    turning = kinked.taken(gains != 0.0)
    gains = gains[gains != 0.0]
    constant = float(kinked.line[place])
    if not len(gains):
        middle = space.drawn(1)[0]
        return slope_at(constant, constant, middle, space, width)
    v, bound = Switches(turning, space, gains).largest(end)
    if v is not None:
        value = constant + float(gains @ (turning.inner @ v + turning.biases > 0.0))
        return slope_at(value, max(value, constant + bound), v, space, width)
    drawn = space.drawn(_DRAWN)
    values = (drawn @ turning.inner.T + turning.biases > 0.0) @ gains
    best = int(values.argmax())
    most = float(gains[gains > 0].sum())
    bound = most if bound == -np.inf else min(bound, most)
    return slope_at(constant + values[best], constant + bound, drawn[best], space, width)


def extreme_slopes(
    form: PiecewiseLinear, space: Space, feature: int, drawn: Float64, n: int
) -> NDArray[np.intp]:
    """Return the places of the `n` smallest slopes along a feature, and of the `n` largest."""
    chain = space.chain_of(feature)
    partial = drawn[:, chain] < 1.0
    piece = np.where(partial.any(axis=1), partial.argmax(axis=1), partial.shape[1] - 1)
    at = chain.start + piece
    on = drawn @ form.inner.T + form.biases > 0.0
    slopes = form.line[at] + ((on * form.outer) * form.inner[:, at].T).sum(axis=1)
    order = np.argsort(slopes / space.widths[at], kind="stable")
    return np.concatenate([order[:n], order[-n:]])


@dataclass(frozen=True, eq=False)
class Combination:
    """A combination of neurons.

    `on` says which neurons are on; `v` is where, since levels of categories and pieces of columns
    belong to the combination, and `places` are these as the programme has them.
    """

    on: NDArray[np.bool_]
    v: Float64
    places: NDArray[np.bool_]
    bound: float


class Switches:
    """Which neurons are on, for the largest sum of their gains."""

    def __init__(self, form: PiecewiseLinear, space: Space, gains: Float64) -> None:
        self.form, self.space, self.gains = form, space, gains
        self.exhausted = False
        self.model = Model.of(space, np.zeros(space.n_variables))
        lows, highs = form.ranges(space)
        self.switches: list[int] = []
        for gain, a, b, low, high in zip(
            gains.tolist(), form.inner, form.biases, lows, highs, strict=True
        ):
            on = self.model.column(gain, 0.0, 1.0, integral=True)
            places = [*range(len(a)), on]
            if gain > 0:  # z + low s >= low
                self.model.rows.add(places, [*a, low], low=low - b)
            else:  # z - high s <= 0
                self.model.rows.add(places, [*a, -high], high=-b)
            self.switches.append(on)

    def largest(self, end: float) -> tuple[Float64 | None, float]:
        """Return where the best combination that holds on a piece does, and a bound of all.

        None without one in the time; if there is none at all, the bound is minus infinity.
        """
        bound = np.inf
        for _ in range(_MOST_EXCLUDED):
            found = self.solve(end - time.perf_counter())
            if found is None:
                return None, -np.inf if self.exhausted else bound
            bound = min(bound, found.bound)
            v = self.inside(found)
            if v is not None:
                return v, bound
            self.exclude(found)
        return None, bound

    def inside(self, found: Combination) -> Float64 | None:
        """Return variables inside the piece of a combination, if it has one."""
        return inside(self.form.inner, self.form.biases, self.space, found.on, found.v)

    def solve(self, seconds: float) -> Combination | None:
        """Return the best combination; None without one in the time, or at all."""
        if seconds <= 0:
            return None
        scale = 1e3 / (float(np.abs(self.gains).sum()) or 1.0)
        found, bound = self.model.solve(scale, seconds)
        if found is None:
            self.exhausted = bound == -np.inf
            return None
        found = np.asarray(found)
        places = found[self.model.choices] > 0.5
        v = self._in_place(self.space.tidy(found[: self.space.n_variables]), places)
        return Combination(found[self.switches] > 0.5, v, places, bound)

    def _in_place(self, v: Float64, places: NDArray[np.bool_]) -> Float64:
        """Return variables on the pieces of columns that the programme has chosen.

        At a knot they might as well be on the next one.
        """
        n = sum(group.stop - group.start for group in self.space.groups)
        for chain in self.space.chains:
            full = places[n : n + chain.stop - chain.start - 1]
            n += len(full)
            at = chain.start + (len(full) if full.all() else int(full.argmin()))
            if len(full):
                v[chain.start : at], v[at], v[at + 1 : chain.stop] = 1.0, 0.5, 0.0
        return self.space.with_gaps(v)

    def exclude(self, found: Combination) -> None:
        """Leave a combination out of the next programme."""
        # At least one switch is another one: sum over on of (1 - s) + sum over off of s >= 1.
        on = np.concatenate([found.on, found.places])
        signs = np.where(on, -1.0, 1.0)
        columns = [*self.switches, *self.model.choices]
        self.model.rows.add(columns, signs, low=1.0 - float(on.sum()))


def inside(
    inner: Float64, biases: Float64, space: Space, on: NDArray[np.bool_], v: Float64
) -> Float64 | None:
    """Return variables inside the piece where just these neurons are on; None if there is none.

    The levels of categories and the pieces of columns are those of `v`. The distance to all kinks
    and to the ends of the pieces is as large as it can be.
    """
    bounds = np.column_stack([v, v])
    free = space.free(v)
    bounds[free] = 0.0, 1.0
    # sign z >= t |a| for neurons, v >= t and v <= 1 - t for the free variables.
    sign = np.where(on, 1.0, -1.0)
    size = np.abs(inner[:, free]).sum(axis=1)
    eye = np.eye(len(v))[free]
    rows = np.vstack(
        [
            np.column_stack([-sign[:, None] * inner, size]),
            np.column_stack([-eye, np.ones(len(eye))]),
            np.column_stack([eye, np.ones(len(eye))]),
        ]
    )
    high = np.concatenate([sign * biases, np.zeros(len(eye)), np.ones(len(eye))])
    objective = np.append(np.zeros(len(v)), -1.0)
    found = linprog(objective, A_ub=rows, b_ub=high, bounds=[*bounds.tolist(), (-1.0, 1.0)])
    if found.x is None or not found.x[-1] > _INSIDE:
        return None
    return np.asarray(found.x[:-1])


def slope_at(value: float, bound: float, v: Float64, space: Space, width: float) -> Slope:
    """Return a slope along a variable of the given width, in units of the feature."""
    return Slope(float(value) / width, float(bound) / width, v, space.rows(v[None])[0])


def steepest_within(
    form: PiecewiseLinear,
    space: Space,
    feature: int,
    limits: OutputLimits,
    seconds: float,
    below: float = -np.inf,
) -> Slope:
    """Return the largest slope along a feature of all pieces within the bounds on the output.

    Minus infinity if there are none. Where no slope at all is above `below`, it does not matter
    which pieces can be seen.
    """
    end = time.perf_counter() + seconds
    first = steepest(form, space, feature, seconds / 2)
    if first.bound <= below or _is_within(form, limits, first.v):
        return first
    kinked = form.unstable(space)
    place = space.chain_of(feature).start
    width, constant = float(space.widths[place]), float(kinked.line[place])
    gains = kinked.outer * kinked.inner[:, place]
    v, bound = _SwitchesWithin(kinked, space, gains, limits).largest(end)
    bound = min(first.bound * width, constant + bound)
    if v is None:
        drawn = space.drawn(_DRAWN)
        shown = drawn[[_is_within(form, limits, row) for row in drawn]]
        if not len(shown):
            return slope_at(-np.inf, bound, drawn[0], space, width)
        # A sample attains it: ignore the status of the solver.
        bound = first.bound * width if bound == -np.inf else bound
        on = shown @ kinked.inner.T + kinked.biases > 0.0
        v = shown[int((on @ gains).argmax())]
    value = constant + float(gains @ (kinked.inner @ v + kinked.biases > 0.0))
    return slope_at(value, max(value, bound), v, space, width)


def flat_slopes(
    form: PiecewiseLinear, space: Space, limits: OutputLimits, seconds: float
) -> list[Slope]:
    """Return the slope 0 where the output is at a bound; nothing if it never is.

    If time runs out first, 0 is a bound without a row.
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


def _is_within(form: PiecewiseLinear, limits: OutputLimits, v: Float64 | None) -> bool:
    return v is not None and bool(limits.low < form(v[None])[0] < limits.high)


class _SwitchesWithin(Switches):
    """Which neurons are on, for the largest sum of their gains within the bounds on the output."""

    def __init__(
        self, form: PiecewiseLinear, space: Space, gains: Float64, limits: OutputLimits
    ) -> None:
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

    def inside(self, found: Combination) -> Float64 | None:
        """Return variables inside the piece and within the bounds, if there are some."""
        constant, line = self.form.linear_where(found.on)
        size = float(np.abs(line).max(initial=0.0)) or 1.0
        walls = [(line, constant - self.limits.low), (-line, self.limits.high - constant)]
        kept = [(a / size, b / size) for a, b in walls if np.isfinite(b)]
        inner = np.vstack([self.form.inner, *(a[None] for a, _ in kept)])
        biases = np.concatenate([self.form.biases, [b for _, b in kept]])
        on = np.concatenate([found.on, np.ones(len(kept), dtype=np.bool_)])
        return inside(inner, biases, self.space, on, found.v)
