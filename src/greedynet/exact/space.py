"""`Space`: the rows of a region as variables between 0 and 1 and linear conditions on them.

A column of numbers with the ends and knots `t_0 < ... < t_P` is

    x = t_0 + sum_p (t_{p+1} - t_p) v_p,    1 >= v_0 >= y_1 >= v_1 >= y_2 >= ... >= v_{P-1} >= 0,

with `y_p` either 0 or 1: a piece begins when the one before is full. So every piecewise linear
function of the column with kinks at the knots is linear in `v`. A category has a variable for each
level, 0 or 1, with the sum 1; so has a choice among other values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from greedynet.exact.region import ChoiceColumn, NumberColumn, Region
from greedynet.model.network import Network
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Space:
    """Rows as variables.

    Attributes
    ----------
    base : ndarray of shape (n_features,)
        The row at which all variables are 0; the features of a choice are 0 there.
    features : ndarray of shape (n_variables,)
        Feature that each variable moves; the first one of a choice.
    ends : ndarray of shape (n_variables, 2)
        Values of the feature at which the variable is 0 and 1; not of a choice.
    chains : tuple of slice
        Variables of each column of numbers, in their order.
    groups : tuple of slice
        Variables of each choice.
    choices : tuple of ChoiceColumn
        What they choose from.
    whole : tuple of slice
        Those of the chains whose columns are whole numbers.
    """

    base: Float64
    features: NDArray[np.intp]
    ends: Float64
    chains: tuple[slice, ...]
    groups: tuple[slice, ...]
    choices: tuple[ChoiceColumn, ...]
    whole: tuple[slice, ...]

    @staticmethod
    def of(region: Region, networks: Sequence[Network]) -> "Space":
        """Return the space of a region, with knots and boxes of the networks as ends of pieces."""
        base = np.zeros(region.n_features)
        features: list[int] = []
        ends: list[tuple[float, float]] = []
        chains, groups, choices, whole = [], [], [], []
        for column in region.columns:
            start = len(features)
            if isinstance(column, NumberColumn):
                base[column.feature] = column.low
                stops = _stops(column, networks)
                features += [column.feature] * (len(stops) - 1)
                ends += pairwise(stops)
                if len(stops) > 1:
                    chains.append(slice(start, len(features)))
                    whole += chains[-1:] if column.whole else []
            elif len(column.rows) == 1:
                base[list(column.features)] = column.rows[0]
            else:
                features += [column.features[0]] * len(column.rows)
                ends += [(0.0, 1.0)] * len(column.rows)
                groups.append(slice(start, len(features)))
                choices.append(column)
        places = np.array(features, dtype=np.intp)
        pairs = np.array(ends, dtype=np.float64).reshape(-1, 2)
        kept = tuple(chains), tuple(groups), tuple(choices), tuple(whole)
        return Space(base, places, pairs, *kept)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.features)

    @property
    def widths(self) -> Float64:
        """By how much each variable moves its feature."""
        return np.asarray(self.ends[:, 1] - self.ends[:, 0])

    def chain_of(self, feature: int) -> slice:
        """Return the variables of a column of numbers."""
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
            rows[:, feature] = np.clip(value, low, high)
        for chain in self.whole:
            feature = self.features[chain.start]
            rows[:, feature] = np.round(rows[:, feature])
        return rows

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
        return tidy

    def drawn(self, n_rows: int) -> Float64:
        """Return variables of rows, one half of them corners, the others anywhere."""
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
        return drawn

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
