"""`Space`: the rows of a region as variables between 0 and 1 and linear conditions on them.

A column of numbers with the ends and knots `t_0 < ... < t_P` is

    x = t_0 + sum_p (t_{p+1} - t_p) v_p,    1 >= v_0 >= y_1 >= v_1 >= y_2 >= ... >= v_{P-1} >= 0,

with `y_p` either 0 or 1: a piece begins when the one before is full. So every piecewise linear
function of the column with kinks at the knots is linear in `v`. A category has a variable for each
level, 0 or 1, with the sum 1; so has a choice among other values. Where a cell may be empty, it is
a choice between `t_0` and what is inserted for it, and the pieces begin only with the former.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from greedynet.exact.moments import MomentColumn
from greedynet.exact.region import Region
from greedynet.exact.region_columns import ChoiceColumn, NumberColumn
from greedynet.model.network import Network
from greedynet.support.types import Float64

# Conditions, whose largest coefficient is 1, may be exceeded by this much.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Space:
    """Rows as variables."""

    base: Float64  # the row at which all variables are 0; the features of a choice are 0 there
    features: NDArray[np.intp]  # what each variable moves; of a choice, its first feature
    ends: Float64  # values of the feature at which a variable is 0 and 1; not of a choice
    chains: tuple[slice, ...]  # variables of each column of numbers, in their order
    groups: tuple[slice, ...]  # variables of each choice
    choices: tuple[ChoiceColumn, ...]  # what they choose from
    whole: tuple[slice, ...]  # those of the chains whose columns are whole numbers
    # A variable that is 0 where a cell is empty, and the chain of the column, which is 0 then.
    presences: tuple[tuple[int, slice], ...] = ()
    # Further ones, `conditions . v <= most`, `(n_conditions, n_variables)`.
    conditions: Float64 = field(default_factory=lambda: np.zeros((0, 0)))
    most: Float64 = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def of(region: Region, networks: Sequence[Network]) -> "Space":
        """Return the space of a region, with knots and boxes of the networks as ends of pieces."""
        base = np.zeros(region.n_features)
        features: list[int] = []
        ends: list[tuple[float, float]] = []
        chains, groups, choices, whole, presences = [], [], [], [], []
        for column in region.columns:
            assert not isinstance(column, MomentColumn), "see `branching.largest`"
            choice = column.presence if isinstance(column, NumberColumn) else column
            if choice is not None and len(choice.rows) == 1:
                base[list(choice.features)] = choice.rows[0]
            elif choice is not None:
                groups.append(slice(len(features), len(features) + len(choice.rows)))
                choices.append(choice)
                features += [choice.features[0]] * len(choice.rows)
                ends += [(0.0, 1.0)] * len(choice.rows)
            if isinstance(column, NumberColumn):
                base[column.feature] = column.low
                stops = _stops(column, networks)
                if len(stops) > 1:
                    chains.append(slice(len(features), len(features) + len(stops) - 1))
                    whole += chains[-1:] if column.whole else []
                    presences += [] if choice is None else [(groups[-1].start, chains[-1])]
                features += [column.feature] * (len(stops) - 1)
                ends += pairwise(stops)
        places = np.array(features, dtype=np.intp)
        pairs = np.array(ends, dtype=np.float64).reshape(-1, 2)
        kept = (tuple(chains), tuple(groups), tuple(choices), tuple(whole), tuple(presences))
        return Space(base, places, pairs, *kept)._limited(region)

    def _limited(self, region: Region) -> "Space":
        """Return the space with the conditions of empty cells and of the region's constraints."""
        conditions = np.zeros((len(self.presences) + len(region.constraints), self.n_variables))
        most = np.zeros(len(conditions))
        for row, (place, chain) in zip(conditions, self.presences, strict=False):
            row[[chain.start, place]] = 1.0, -1.0
        before, after = self.single_moves()
        for i, (factors, limit) in enumerate(region.constraints, len(self.presences)):
            sums = (after - before) @ factors
            size = float(np.abs(sums).max(initial=0.0)) or 1.0
            conditions[i], most[i] = sums / size, (limit - factors @ self.base) / size
        return replace(self, conditions=conditions, most=most)

    @property
    def n_variables(self) -> int:
        return len(self.features)

    @property
    def widths(self) -> Float64:
        """By how much each variable moves its feature."""
        return np.asarray(self.ends[:, 1] - self.ends[:, 0])

    def chain_of(self, feature: int) -> slice:
        return next(chain for chain in self.chains if self.features[chain.start] == feature)

    def rows(self, v: Float64) -> Float64:
        """Return rows of features, `(n_rows, n_features)`, of variables `(n_rows, n_variables)`."""
        rows = np.tile(self.base, (len(v), 1))
        for group, column in zip(self.groups, self.choices, strict=True):
            rows[:, list(column.features)] = v[:, group] @ column.rows
        for chain in self.chains:
            feature, (low, high) = self.features[chain.start], self.ends[chain][[0, -1], [0, 1]]
            # Full and empty pieces end at the knots themselves, not at a sum of widths.
            inside = _first_partial(v[:, chain])
            at = self.ends[chain][inside]
            part = np.take_along_axis(v[:, chain], inside[:, None], axis=1)[:, 0]
            value = np.where(part >= 1, at[:, 1], at[:, 0] + part * (at[:, 1] - at[:, 0]))
            value = np.clip(np.round(value) if chain in self.whole else value, low, high)
            rows[:, feature] = np.where(self._is_there(v, chain), value, rows[:, feature])
        return rows

    def _is_there(self, v: Float64, chain: slice) -> NDArray[np.bool_]:
        """Return in which rows, or whether in a single one, a column of numbers is not empty."""
        place = next((place for place, of in self.presences if of == chain), None)
        return np.asarray(True if place is None else v[..., place] > 0.5)

    def with_gaps(self, v: Float64) -> Float64:
        """Return variables with 0 for the pieces of columns that are empty."""
        for place, chain in self.presences:
            v[..., chain] *= v[..., place, None] > 0.5
        return v

    def free(self, v: Float64) -> NDArray[np.bool_]:
        """Return the variables that may move while all columns stay on their pieces."""
        free = np.zeros(len(v), dtype=np.bool_)
        for chain in self.chains:
            if chain not in self.whole and self._is_there(v, chain):
                free[chain.start + _first_partial(v[None, chain])[0]] = True
        return free

    def single_moves(self) -> tuple[Float64, Float64]:
        """Return rows at which single variables are 0, and 1, with all other columns as in `base`.

        `(n_variables, n_features)` each.
        """
        before = np.tile(self.base, (self.n_variables, 1))
        after = before.copy()
        for chain in self.chains:
            at = np.arange(chain.start, chain.stop)
            before[at, self.features[chain]] = self.ends[chain, 0]
            after[at, self.features[chain]] = self.ends[chain, 1]
        for group, column in zip(self.groups, self.choices, strict=True):
            after[group, list(column.features)] = column.rows
        return before, after

    def tidy(self, v: Float64) -> Float64:
        """Return variables of a solver, `(n_variables,)`, with the conditions met exactly."""
        tidy = np.clip(v, 0.0, 1.0)
        for group in self.groups:
            chosen = int(np.argmax(tidy[group]))
            tidy[group] = 0.0
            tidy[group.start + chosen] = 1.0
        for chain in self.chains:
            x = self.ends[chain.start, 0] + tidy[chain] @ self.widths[chain]
            tidy[chain] = self._filled(chain, np.round(x) if chain in self.whole else x)
        return self.with_gaps(tidy)

    def drawn(self, n_rows: int) -> Float64:
        """Return variables of rows, one half of them corners, the others anywhere.

        They need not meet the constraints.
        """
        rng = np.random.default_rng(0)
        drawn = np.zeros((n_rows, self.n_variables))
        corner = rng.random((n_rows, 1)) < 0.5
        for chain in self.chains:
            low, high = self.ends[chain][[0, -1], [0, 1]]
            share = rng.random(n_rows)
            share = np.where(corner[:, 0], np.round(share), share)
            x = low + share * (high - low)
            x = np.round(x) if chain in self.whole else x
            drawn[:, chain] = self._filled(chain, x[:, None])
        for group in self.groups:
            chosen = rng.integers(group.start, group.stop, n_rows)
            drawn[np.arange(n_rows), chosen] = 1.0
        return self.with_gaps(drawn)

    def meets(self, v: Float64) -> NDArray[np.bool_]:
        """Return which variables, `(n_rows, n_variables)`, meet all conditions."""
        return np.asarray((v @ self.conditions.T <= self.most + _ROUNDING).all(axis=1))

    def _filled(self, chain: slice, x: Float64 | float) -> Float64:
        """Return the pieces of a column at some values."""
        return np.asarray(np.clip((x - self.ends[chain, 0]) / self.widths[chain], 0.0, 1.0))


def _stops(column: NumberColumn, networks: Sequence[Network]) -> list[float]:
    """Return the ends of a column, and what is between them of the knots and of the box.

    A clipped column is one more piecewise linear function of it, with kinks at the edges of the
    box. A single value has no pieces.
    """
    if column.low == column.high:
        return [column.low]
    knots: set[float] = set()
    for network in networks:
        if network.box is not None:
            knots |= set(network.box[:, column.feature].tolist())
        features, at = network.hinges()
        knots |= set(at[features == column.feature].tolist())
    inside = sorted(knot for knot in knots if column.low < knot < column.high)
    return [column.low, *inside, column.high]


def _first_partial(v: Float64) -> NDArray[np.intp]:
    """Return for each row the first piece that is not full, or the last one."""
    partial = v < 1.0
    return np.where(partial.any(axis=1), partial.argmax(axis=1), v.shape[1] - 1)
