"""Questions about the changes of a network along one column: its direction, its steepest slopes."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from greedynet.exact.answers import Change, Monotone
from greedynet.exact.branching import Largest, Solve, largest, near
from greedynet.exact.form import PiecewiseLinear
from greedynet.exact.programme import maximise
from greedynet.exact.questions import (
    SECONDS,
    Question,
    asked_region,
    difference,
    outputs,
    outside_of,
)
from greedynet.exact.region import Region
from greedynet.exact.region_columns import ChoiceColumn
from greedynet.exact.slopes import Slope, extreme_slopes, flat_slopes, steepest, steepest_within
from greedynet.exact.space import Space
from greedynet.exact.where import Where
from greedynet.support.types import Float64

# Rows at which a counterexample is looked for before anything is proven.
_DRAWN, _LINES = 4096, 64
# Changes against a direction below this share of the spread of the predictions are rounding.
_ROUNDING = 1e-9


def is_monotone(
    model: Any,
    column: Any,
    where: Where | None = None,
    *,
    increasing: bool = True,
    output: Any = None,
    max_seconds: float = SECONDS,
) -> Monotone:
    """Return whether predictions never fall, or never rise, with a column, anywhere in a region.

    Either this is proven, for all rows, or two rows are returned that differ in this column alone
    and contradict it. Changes below 1e-9 of the spread of the predictions count as rounding.

    A proof is about the network in exact arithmetic. `predict` is not exact: it may fall by some
    1e-16 times the size of its terms, which is more than 1e-9 of their sum where they cancel; see
    *Exact answers* in the documentation.

    Parameters
    ----------
    model, where, output
        As for `optimise`.
    column : str or int
        A column of numbers, or of true and false.
    increasing : bool, default=True
        Whether predictions shall rise with it, or fall.
    max_seconds : float, default=30
        Time after which the answer may be `holds=None`: neither.

    Returns
    -------
    monotone : Monotone
        True in a condition if it is proven.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.exact import is_monotone
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = GreedyNetRegressor(n_nodes=3).fit(X, np.abs(X[:, 0]))
    >>> found = is_monotone(model, 0)
    >>> bool(found), [round(float(x[0]), 3) + 0.0 for x in found.pair]
    (False, [-1.0, 0.0])
    >>> bool(is_monotone(model, 0, where={0: (0.1, 1)}))
    True
    """
    start = time.perf_counter()
    end = start + max_seconds
    region = asked_region(model, where)
    region.changing(column)
    # Of a region with many moments, a few first.
    asked = _along(model, region.sampled, column, output)
    sign, bound = 1.0 if increasing else -1.0, 0.0
    regions = deque([region])
    pair = asked.counterexample(asked.drawn_rows(), sign)
    while regions and pair is None:
        node = regions.popleft()
        part = _along(model, node.exact or node.enclosed, column, output)
        steepest = 0.0
        for found in part.slopes(-sign, end, below=asked.rounding):
            steepest = max(steepest, found.bound)
            if found.value > 0:
                row = found.row if node.exact else node.at_moments(found.row, near(found.row))[1]
                pair = pair or asked.counterexample(row[None], sign)
        is_proven = steepest <= asked.rounding
        if is_proven or node.exact or time.perf_counter() > end:
            bound = max(bound, steepest)
        else:
            regions += node.halves
    if pair is not None:
        return asked.answer(increasing, False, None, pair, time.perf_counter() - start)
    holds = True if bound <= asked.rounding else None
    return asked.answer(increasing, holds, bound, None, time.perf_counter() - start)


def sensitivity(
    model: Any,
    columns: Sequence[Any] | None = None,
    where: Where | None = None,
    *,
    output: Any = None,
    max_seconds: float = SECONDS,
) -> dict[Any, Change]:
    """Return the steepest slopes of the predictions along columns, anywhere in a region.

    Parameters
    ----------
    model, where, output
        As for `optimise`.
    columns : sequence of str or int, or None, default=None
        Columns of numbers, or of true and false; None for all that vary in the region.
    max_seconds : float, default=30
        Time for each column.

    Returns
    -------
    changes : dict of str or int to Change
        By the columns as they are asked for, names or positions; by names if `columns` is None.
    """
    region = asked_region(model, where)
    if columns is None:
        columns = [column.name for column in region.columns if column.changes]
    return {column: _change(model, region, column, output, max_seconds) for column in columns}


def _change(model: Any, region: Region, column: Any, output: Any, max_seconds: float) -> Change:
    start = time.perf_counter()
    name = region.changing(column).name
    fall, rise = (
        largest(region, _steepest(model, column, output, sign), None, max_seconds / 2)
        for sign in (-1.0, 1.0)
    )
    close = fall.tolerance + 1e-6 * max(abs(fall.value), abs(rise.value))
    return Change(
        column=name,
        steepest_fall=0.0 - fall.value,
        steepest_rise=rise.value,
        bounds=(0.0 - fall.bound, rise.bound),
        rows=(fall.region.row(fall.point), rise.region.row(rise.point)),
        proven=fall.bound - fall.value <= close and rise.bound - rise.value <= close,
        seconds=time.perf_counter() - start,
        outside=outside_of(model, np.array([fall.point, rise.point])),
    )


def _steepest(model: Any, column: Any, output: Any, sign: float) -> Solve:
    """Return what finds the steepest slope along a column, times the sign, in a region."""

    def solve(region: Region, seconds: float) -> Largest:
        end = time.perf_counter() + seconds
        asked = _along(model, region, column, output)
        flat = asked.at_bounds(seconds / 2)
        slopes = [*asked.slopes(sign, end), *flat]
        best = max(slopes, key=lambda slope: slope.value)
        bound = max(slope.bound for slope in slopes)
        return Largest(best.value, bound, asked.rounding, best.row, asked.region)

    return solve


def _along(model: Any, region: Region, given: Any, output: Any) -> "_Along":
    column = region.changing(given)
    if isinstance(column, ChoiceColumn):
        return _Across(model, region, output, column)
    return _Along(model, region.replaced(column), output, column)


class _Along(Question):
    """A model on a region, along a column of numbers."""

    def __init__(self, model: Any, region: Region, output: Any, column: Any) -> None:
        super().__init__(model, region, output)
        self.column = column
        drawn = self.form(self.space.drawn(_DRAWN))
        seen = drawn if self.limits is None else self.limits.apply(drawn)
        self.spread = float(np.ptp(seen) or np.ptp(drawn)) or 1.0

    @property
    def rounding(self) -> float:
        """Slopes up to here are rounding."""
        return _ROUNDING * self.spread / (self.column.high - self.column.low)

    def drawn_rows(self) -> Float64:
        """Return the rows at which the slope is smallest, then largest, of many drawn ones."""
        drawn = self.space.drawn(_DRAWN)
        places = extreme_slopes(self.form, self.space, self.column.feature, drawn, _LINES)
        return self.space.rows(drawn[places])

    def slopes(self, sign: float, end: float, below: float = -np.inf) -> Iterator[Slope]:
        """Yield the largest slope, times the sign, on each piece of the column.

        With bounds on the output, that of the pieces within them, unless no slope at all is above
        `below`.
        """
        chain = self.space.chain_of(self.column.feature)
        pieces = self.space.ends[chain]
        for done, (low, high) in enumerate(pieces.tolist()):
            seconds = (end - time.perf_counter()) / (len(pieces) - done)
            part = self.region.replaced(replace(self.column, low=low, high=high))
            space = Space.of(part, (self.network,))
            form = PiecewiseLinear.of(self.network, self.which, space)
            form = form if sign > 0 else -form
            asked = (form, space, self.column.feature)
            if self.limits is None:
                yield steepest(*asked, seconds)
            else:
                limits = self.limits if sign > 0 else -self.limits
                yield steepest_within(*asked, limits, seconds, below)

    def at_bounds(self, seconds: float) -> list[Slope]:
        """Return the slope of the predictions where they are at a bound, if they are anywhere."""
        if self.limits is None:
            return []
        return flat_slopes(self.form, self.space, self.limits, seconds)

    def counterexample(self, rows: Float64, sign: float) -> tuple[Float64, Float64] | None:
        """Return the pair of rows with the largest change against the sign along lines, if any."""
        best, pair = _ROUNDING * self.spread, None
        for row in rows:
            line = self._line(row)
            values = sign * outputs(self.model, self.output, line)
            falls = np.maximum.accumulate(values) - values
            second = int(falls.argmax())
            if falls[second] > best:
                best = float(falls[second])
                pair = line[int(values[: second + 1].argmax())], line[second]
        return pair

    def _line(self, row: Float64) -> Float64:
        """Return the rows of all kinks along the column through a row, and its ends."""
        chain, feature = self.space.chain_of(self.column.feature), self.column.feature
        stops = np.append(self.space.ends[chain, 0], self.space.ends[chain.stop - 1, 1])
        line = np.tile(row, (len(stops), 1))
        line[:, feature] = stops
        network = self.network
        z = network.neuron_inputs(line) @ network.inner_weights.T + network.biases
        before, after = z[:-1], z[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = before / (before - after)
        piece, _ = inside = np.nonzero((before * after < 0) & (share > 0) & (share < 1))
        kinks = stops[piece] + share[inside] * np.diff(stops)[piece]
        values = np.unique(np.concatenate([stops, kinks]))
        line = np.tile(row, (len(values), 1))
        line[:, feature] = values
        return line

    def answer(
        self,
        increasing: bool,
        holds: bool | None,
        bound: float | None,
        pair: tuple[Float64, Float64] | None,
        seconds: float,
    ) -> Monotone:
        predictions = rows = outside = None
        if pair is not None:
            a, b = outputs(self.model, self.output, np.array(pair)).tolist()
            predictions = (a, b)
            rows = (self.region.row(pair[0]), self.region.row(pair[1]))
            outside = outside_of(self.model, np.array(pair))
        return Monotone(
            self.column.name, increasing, holds, bound, pair, predictions, rows, seconds, outside
        )


class _Across(_Along):
    """A model on a region, from false to true in a column; the slope is this change."""

    @property
    def rounding(self) -> float:
        return _ROUNDING * self.spread

    def drawn_rows(self) -> Float64:
        return self.space.rows(self.space.drawn(_LINES))

    def slopes(self, sign: float, end: float, below: float = -np.inf) -> Iterator[Slope]:
        sides = (self.region.replaced(self.column.only(place)) for place in (0, 1))
        false, true = (Question(self.model, side, self.output) for side in sides)
        change = difference(true, false)
        found = maximise(change if sign > 0 else -change, true.space, end - time.perf_counter())
        gap = found.bound - found.value
        bound = found.value if gap <= found.tolerance else found.bound
        yield Slope(found.value, bound, found.v, true.space.rows(found.v[None])[0])

    def at_bounds(self, seconds: float) -> list[Slope]:
        """Return nothing: changes are those of predictions within their bounds."""
        return []

    def _line(self, row: Float64) -> Float64:
        line = np.tile(row, (2, 1))
        line[:, list(self.column.features)] = self.column.rows
        return line
