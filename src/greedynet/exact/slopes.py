"""The steepest slope of a piecewise linear function along one variable.

Where just the neurons `s_n = 1` are on, the slope along variable `k` is `l_k + sum_n g_n s_n`,
`g_n = c_n a_nk`. For its largest value, a neuron with `g_n > 0` may be on only where `z_n >= 0`,
and one with `g_n < 0` may be off only where `z_n <= 0`:

    z_n >= low_n (1 - s_n),    z_n <= high_n s_n.

On a kink a neuron may count as on and as off, so that several kinks through one point allow
combinations that hold on no piece. Each combination is checked by a linear programme that looks for
a row inside its piece, and excluded from the next programme if there is none.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from greedynet.exact.form import Form
from greedynet.exact.programme import Model
from greedynet.exact.space import Space
from greedynet.support.types import Float64

# Combinations of neurons that hold on no piece, after which the bound stays what it is.
_MOST_EXCLUDED = 50
# A piece is that wide at least, relative to the ranges of the variables.
_INSIDE = 1e-9


@dataclass(frozen=True, eq=False)
class Slope:
    """The largest slope that was found, in units of the feature, and a bound of all.

    Attributes
    ----------
    value : float
        Minus infinity if none was found.
    bound : float
    v : ndarray of shape (n_variables,) or None
        Where it is.
    row : ndarray of shape (n_features,)
        The same as a row.
    """

    value: float
    bound: float
    v: Float64 | None
    row: Float64


def steepest(form: Form, space: Space, feature: int, seconds: float) -> Slope:
    """Return the largest slope along a feature, whose column has one piece in the space.

    Parameters
    ----------
    form : Form
    space : Space
    feature : int
    seconds : float
        Time after which the solver stops with what it has.
    """
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
        return _slope(constant, constant, middle, space, width)
    programme = _Programme(turning, space, gains)
    bound = np.inf
    for _ in range(_MOST_EXCLUDED):
        found = programme.solve(end - time.perf_counter())
        if found is None:
            break
        bound = min(bound, found.bound)
        v = inside(turning, space, found.on, found.v)
        if v is not None:
            value = constant + float(gains @ (turning.inner @ v + turning.biases > 0.0))
            return _slope(value, max(value, constant + bound), v, space, width)
        programme.exclude(found.on)
    drawn = space.drawn(512)
    values = (drawn @ turning.inner.T + turning.biases > 0.0) @ gains
    best = int(values.argmax())
    bound = min(bound, float(gains[gains > 0].sum()))
    return _slope(constant + values[best], constant + bound, drawn[best], space, width)


def shallowest_of(
    form: Form, space: Space, feature: int, drawn: Float64, n: int
) -> NDArray[np.intp]:
    """Return the rows, of some, at which the slope along a feature is smallest, and largest."""
    chain = space.chain_of(feature)
    partial = drawn[:, chain] < 1.0
    piece = np.where(partial.any(axis=1), partial.argmax(axis=1), partial.shape[1] - 1)
    at = chain.start + piece
    on = drawn @ form.inner.T + form.biases > 0.0
    slopes = form.line[at] + ((on * form.outer) * form.inner[:, at].T).sum(axis=1)
    order = np.argsort(slopes / space.widths[at], kind="stable")
    return np.concatenate([order[:n], order[-n:]])


@dataclass(frozen=True, eq=False)
class _Found:
    on: NDArray[np.bool_]
    v: Float64
    bound: float


class _Programme:
    """Which neurons are on, for the largest sum of their gains."""

    def __init__(self, form: Form, space: Space, gains: Float64) -> None:
        self.space, self.gains = space, gains
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

    def solve(self, seconds: float) -> _Found | None:
        """Return the best combination; None without one in the time."""
        if seconds <= 0:
            return None
        scale = 1e3 / float(np.abs(self.gains).sum())
        found, bound = self.model.solve(scale, seconds)
        if found is None:
            return None
        on = np.asarray(found)[self.switches] > 0.5
        return _Found(on, self.space.tidy(np.asarray(found)[: self.space.n_variables]), bound)

    def exclude(self, on: NDArray[np.bool_]) -> None:
        """Leave a combination out of the next programme."""
        # At least one switch is another one: sum over on of (1 - s) + sum over off of s >= 1.
        signs = np.where(on, -1.0, 1.0)
        self.model.rows.add(self.switches, signs, low=1.0 - float(on.sum()))


def inside(form: Form, space: Space, on: NDArray[np.bool_], v: Float64) -> Float64 | None:
    """Return variables inside the piece where just these neurons are on; None if there is none.

    The levels of categories and the pieces of columns are those of `v`. The distance to all kinks
    and to the ends of the pieces is as large as it can be.
    """
    bounds = np.column_stack([v, v])
    free = np.zeros(len(v), dtype=np.bool_)
    for chain in space.chains:
        partial = v[chain] < 1.0
        free[chain.start + (int(partial.argmax()) if partial.any() else len(partial) - 1)] = True
    bounds[free] = 0.0, 1.0
    # sign z >= t |a| for neurons, v >= t and v <= 1 - t for the free variables.
    sign = np.where(on, 1.0, -1.0)
    size = np.abs(form.inner[:, free]).sum(axis=1)
    eye = np.eye(len(v))[free]
    rows = np.vstack(
        [
            np.column_stack([-sign[:, None] * form.inner, size]),
            np.column_stack([-eye, np.ones(len(eye))]),
            np.column_stack([eye, np.ones(len(eye))]),
        ]
    )
    high = np.concatenate([sign * form.biases, np.zeros(len(eye)), np.ones(len(eye))])
    objective = np.append(np.zeros(len(v)), -1.0)
    found = linprog(objective, A_ub=rows, b_ub=high, bounds=[*bounds.tolist(), (-1.0, 1.0)])
    if found.x is None or not found.x[-1] > _INSIDE:
        return None
    return np.asarray(found.x[:-1])


def _slope(value: float, bound: float, v: Float64, space: Space, width: float) -> Slope:
    return Slope(float(value) / width, float(bound) / width, v, space.rows(v[None])[0])
