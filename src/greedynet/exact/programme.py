"""The largest value of a piecewise linear function, as a mixed-integer linear programme.

For the maximum of `m + l . v + sum_n c_n relu(z_n)`, `z_n = a_n . v + b_n` between `low_n` and
`high_n`, the hidden values `h_n = relu(z_n)` become variables. Those with `c_n < 0` are as small as
they can be, so that `h_n >= z_n` and `h_n >= 0` suffice; only those with `c_n > 0` need a binary
variable `s_n`, which says whether the neuron is on:

    h_n <= z_n - low_n (1 - s_n),    h_n <= high_n s_n.

The ranges of `z_n` in a space are attained, so that no linear programme could tighten them.

An output within bounds, `min(max(g, low), high)`, is a variable `t <= high`, and `t <= max(g, low)`
needs one binary variable more:

    t <= g + (low - min g) (1 - s),    t <= low + (high - low) s.
"""

import ctypes
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import IO, Any, NoReturn

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint
from scipy.sparse import coo_array

from greedynet.exact.form import Clipped, ClippedSum, PiecewiseLinear
from greedynet.exact.space import Space
from greedynet.support.types import Float64

_STRAY = re.compile(rb"Highs\w*::.*\n?")
_lock = threading.Lock()
_users = 0
_kept: int | None = None
_aside: IO[bytes]


@contextmanager
def without_stray_lines() -> Iterator[None]:
    """Drop lines such as `HighsMipSolverData::... tmpSolver.run();` from the standard output.

    HiGHS 1.12, in SciPy 1.17, prints them in C. So the file descriptor is directed to a temporary
    file by the first thread in here, and back by the last one, which passes on what others have
    written in between.
    """
    global _users
    with _lock:
        if _users == 0:
            _set_aside()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _kept is not None:
                _pass_on(_kept)


def _set_aside() -> None:
    global _aside, _kept
    try:
        _kept = os.dup(1)
    except OSError:  # closed: nobody would see a line
        _kept = None
        return
    _aside = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_pass_on`
    _flush()
    os.dup2(_aside.fileno(), 1)


def _pass_on(kept: int) -> None:
    _flush()
    os.dup2(kept, 1)
    with _aside, open(kept, "wb") as out:
        _aside.seek(0)
        out.write(_STRAY.sub(b"", _aside.read()))


def _flush() -> None:
    """Write what the buffers of C hold."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


linprog = without_stray_lines()(scipy.optimize.linprog)
milp = without_stray_lines()(scipy.optimize.milp)


# Rows whose best is a lower bound from the start, and the best of them from which to climb.
_DRAWN, _CLIMBED = 512, 4
_MOST_STEPS = 20
# HiGHS stops at an absolute gap of 1e-6, which shall be 1e-9 of the spread of the function.
_SPREAD = 1e3
# SciPy's status of a programme without solutions.
_INFEASIBLE = 2
# Beyond this share of the value and of the spread, a gap is not the solver's tolerance.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Solution:
    """The largest value that was found, and a bound of all others.

    `v` is where it is, `(n_variables,)`. No value in the space is above `bound`, up to the
    tolerance of the solver; gaps up to `tolerance` are due to its rounding.
    """

    v: Float64
    value: float
    bound: float
    tolerance: float


@dataclass
class Conditions:
    """Linear conditions, collected one by one."""

    entries: list[tuple[int, int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(
        self,
        columns: Sequence[int] | NDArray[np.intp],
        values: Sequence[float] | Float64,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> None:
        """Add `low <= sum of values times columns <= high`."""
        row = len(self.low)
        self.entries += [(row, int(c), float(x)) for c, x in zip(columns, values, strict=True) if x]
        self.low.append(low)
        self.high.append(high)

    def constraint(self, n_columns: int) -> LinearConstraint:
        row, column, value = zip(*self.entries, strict=True) if self.entries else ((), (), ())
        shape = (len(self.low), n_columns)
        matrix = coo_array((np.array(value, float), (row, column)), shape=shape).tocsc()
        return LinearConstraint(matrix, np.array(self.low), np.array(self.high))


@dataclass
class Model:
    """Columns of a programme, and its conditions; the first columns are the variables.

    `choices` are those that choose levels of categories, and then pieces of columns.
    """

    objective: list[float]
    upper: list[float]
    integral: list[int]
    rows: Conditions = field(default_factory=Conditions)
    lower: list[float] = field(default_factory=list)
    choices: list[int] = field(default_factory=list)

    @staticmethod
    def of(space: Space, line: Float64) -> "Model":
        """Return the programme of a space, with the objective `line . v`."""
        n = space.n_variables
        model = Model(line.tolist(), [1.0] * n, [0] * n, lower=[0.0] * n)
        for group in space.groups:
            places = range(group.start, group.stop)
            model.rows.add(places, [1.0] * len(places), 1.0, 1.0)
            for place in places:
                model.integral[place] = 1
                model.choices.append(place)
        for chain in space.chains:
            model.add_chain(chain)
        for chain in space.whole:
            model.add_whole(space, chain)
        for condition, most in zip(space.conditions, space.most.tolist(), strict=True):
            model.rows.add(range(n), condition, high=most)
        return model

    def column(self, objective: float, lower: float, upper: float, *, integral: bool) -> int:
        self.objective.append(objective)
        self.lower.append(lower)
        self.upper.append(upper)
        self.integral.append(int(integral))
        return len(self.objective) - 1

    def add_chain(self, chain: slice) -> None:
        """Let each piece of a column begin when the one before is full."""
        for place in range(chain.start, chain.stop - 1):
            full = self.column(0.0, 0.0, 1.0, integral=True)
            self.choices.append(full)
            self.rows.add([place, full], [1.0, -1.0], low=0.0)
            self.rows.add([full, place + 1], [1.0, -1.0], low=0.0)

    def add_whole(self, space: Space, chain: slice) -> None:
        """Let a column of numbers be whole."""
        low, high = space.ends[chain][[0, -1], [0, 1]]
        whole = self.column(0.0, 0.0, float(high - low), integral=True)
        places = [*range(chain.start, chain.stop), whole]
        self.rows.add(places, [*space.widths[chain].tolist(), -1.0], 0.0, 0.0)

    def add_clipped(self, term: Clipped, space: Space) -> None:
        """Add an output within its bounds to the objective."""
        form, (low, high) = term.form, term.limits
        least, most = form.interval(space)
        t = self.column(1.0, max(low, min(least, high)), max(low, min(most, high)), integral=False)
        h = self.add_neurons(form, space, weight=0.0)
        places = [t, *range(space.n_variables), *h]
        values = [1.0, *(-form.line).tolist(), *(-form.outer).tolist()]
        if least >= low:
            self.rows.add(places, values, high=form.constant)
            return
        on = self.column(0.0, 0.0, 1.0, integral=True)
        slack = low - least
        self.rows.add([*places, on], [*values, slack], high=form.constant + slack)
        self.rows.add([t, on], [1.0, low - self.upper[t]], high=low)

    def add_neurons(self, form: PiecewiseLinear, space: Space, weight: float = 1.0) -> list[int]:
        """Add `sum_n c_n relu(z_n)`, times a weight, to the objective; return the `relu(z_n)`.

        They are as large as they can be where `c_n > 0`, and as small where `c_n < 0`.
        """
        lows, highs = form.ranges(space)
        return [
            self._add_neuron(c, weight * c, a, b, low, high)
            for c, a, b, low, high in zip(
                form.outer.tolist(),
                form.inner,
                form.biases.tolist(),
                lows.tolist(),
                highs.tolist(),
                strict=True,
            )
        ]

    def _add_neuron(
        self, c: float, objective: float, a: Float64, b: float, low: float, high: float
    ) -> int:
        h = self.column(objective, 0.0, high, integral=False)
        places, values = [*range(len(a)), h], [*(-a).tolist(), 1.0]
        if c < 0:
            self.rows.add(places, values, low=b)
            return h
        on = self.column(0.0, 0.0, 1.0, integral=True)
        self.rows.add([*places, on], [*values, -low], high=b - low)
        self.rows.add([h, on], [1.0, -high], high=0.0)
        return h

    def solve(self, scale: float, seconds: float) -> tuple[Any, float]:
        """Return the best columns, None if none were found, and a bound of the objective."""
        n = len(self.objective)
        found = milp(
            -np.array(self.objective) * scale,
            integrality=np.array(self.integral),
            bounds=Bounds(np.array(self.lower), np.array(self.upper)),
            constraints=[self.rows.constraint(n)] if self.rows.low else [],
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 1e-9},
        )
        bound = found.mip_dual_bound
        if bound is None:  # a linear programme
            bound = found.fun if found.status == 0 else None
        if found.status == _INFEASIBLE:
            return None, -np.inf
        return found.x, np.inf if bound is None else -float(bound) / scale


def maximise(form: PiecewiseLinear | ClippedSum, space: Space, seconds: float) -> Solution:
    """Return the largest value of a function in a space, or the best that time allowed."""
    end = time.perf_counter() + seconds
    kinked = form.unstable(space)
    if not space.n_variables:
        value = float(kinked(np.zeros((1, 0)))[0])
        return Solution(np.zeros(0), value, value, 0.0)
    drawn = space.drawn(_DRAWN)
    values = form(drawn)
    spread = float(np.ptp(values)) or 1.0
    model = _model_of(kinked, space)
    found, bound = model.solve(_SPREAD / spread, end - time.perf_counter())
    order = np.argsort(-values, kind="stable")
    starts = list(drawn[order][space.meets(drawn[order])][:_CLIMBED])
    if found is None and not starts:
        _refuse_no_rows(proven=bound == -np.inf)
    bound = np.inf if bound == -np.inf else bound  # the rows drawn are there
    n = space.n_variables
    solved = [] if found is None else [climb(kinked, space, space.tidy(found[:n]))]
    best = _best_of(kinked, [*solved, *starts])
    tolerance = TOLERANCE * (abs(best.value) + spread)
    if bound + kinked.constant - best.value > tolerance:  # time ran out: look elsewhere, too
        best = _best_of(kinked, [best.v, *(climb(kinked, space, v) for v in starts)])
    return replace(best, bound=max(best.value, bound + kinked.constant), tolerance=tolerance)


class NoRowsInTimeError(ValueError):
    """No row that meets all conditions was found in the time."""


def _refuse_no_rows(*, proven: bool) -> NoReturn:
    if proven:
        raise ValueError("`constraints` must leave rows of the region, got some that no row meets.")
    raise NoRowsInTimeError(
        "`max_seconds` must be enough to find a row that meets all `constraints`, got too few: "
        "write more, or ask about a smaller region."
    )


def _model_of(form: PiecewiseLinear | ClippedSum, space: Space) -> Model:
    """Return the programme of a function, without its constant."""
    if isinstance(form, PiecewiseLinear):
        model = Model.of(space, form.line)
        model.add_neurons(form, space)
        return model
    model = Model.of(space, np.zeros(space.n_variables))
    for term in form.terms:
        model.add_clipped(term, space)
    return model


def _best_of(form: PiecewiseLinear | ClippedSum, found: list[Float64]) -> Solution:
    values = form(np.array(found))
    place = int(values.argmax())
    return Solution(found[place], float(values[place]), np.inf, 0.0)


def climb(form: PiecewiseLinear | ClippedSum, space: Space, v: Float64) -> Float64:
    """Return the best corner of the linear piece at `v`, and of the pieces it leads to.

    Solvers meet conditions up to a tolerance; a corner is exact up to rounding.
    """
    value = float(form(v[None])[0])
    for _ in range(_MOST_STEPS):
        better = space.tidy(_best_of_piece(form, space, v))
        found = float(form(better[None])[0])
        if not found > value:
            break
        v, gain, value = better, found - value, found
        if gain <= 1e-13 * abs(value):
            break
    return v


def _best_of_piece(form: PiecewiseLinear | ClippedSum, space: Space, v: Float64) -> Float64:
    """Return the maximum over the piece around `v`: same neurons on, same pieces of columns."""
    around = form.piece(v)
    bounds = np.column_stack([v, v])
    bounds[space.free(v)] = 0.0, 1.0
    found = linprog(
        -around.line,
        A_ub=np.vstack([around.rows, space.conditions]),
        b_ub=np.concatenate([around.most, space.most]),
        bounds=[(low, high) for low, high in bounds.tolist()],
    )
    return v if found.x is None else np.asarray(found.x)
