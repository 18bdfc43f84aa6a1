"""`Region`: the rows a question is about, column by column.

A number lies between two ends, or its cell is empty; a date or a time of day is one of the moments
between two; any other column has one of some values: a category one of its levels, true or false
one of the two.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.exact.moments import MomentColumn
from greedynet.exact.region_columns import GAP, ChoiceColumn, NumberColumn
from greedynet.support.types import Float64

# Coefficients by column, and the most that the sum may be.
Constraint = tuple[Mapping[Any, float], float]
# Of the size of the terms: sums that exceed a constraint by less meet it.
_ROUNDING = 1e-12
# Moments of a sample, and of a search with all other columns fixed.
_SAMPLED, _TRIED = 16, 4_096


Column = NumberColumn | ChoiceColumn | MomentColumn


@dataclass(frozen=True)
class Region:
    """The rows a question is about.

    `columns` are in the order of the features. A constraint is the coefficients of the features,
    `(n_features,)`, and the most that the sum may be. If it `is_enclosure`, other rows belong to
    it, too.
    """

    columns: tuple[Column, ...]
    n_features: int
    constraints: tuple[tuple[Float64, float], ...] = ()
    is_enclosure: bool = False

    def column(self, given: Any) -> Column:
        """Return a column by its name or its position."""
        return self.columns[position_of(given, tuple(c.name for c in self.columns))]

    @property
    def has_gaps(self) -> bool:
        """Whether some cell may be empty."""
        if any(isinstance(column, MomentColumn) and column.n_gaps for column in self.columns):
            return True
        choices = (c.presence if isinstance(c, NumberColumn) else c for c in self.columns)
        return any(isinstance(c, ChoiceColumn) and GAP in c.labels for c in choices)

    def changing(self, given: Any) -> Column:
        """Return a column of numbers, or of true and false, that varies; raise an error else."""
        column = self.column(given)
        if isinstance(column, NumberColumn) and column.changes:
            return replace(column, presence=None)
        if column.changes:
            return column
        if isinstance(column, NumberColumn):
            raise ValueError(
                f"`column` must vary, got {column.name!r}, which is {column.low:g} everywhere in "
                "the region: give it two ends in `where`."
            )
        raise ValueError(
            f"`column` must hold numbers, or true and false, got {column.name!r}, which "
            + (_holds(column) if isinstance(column, MomentColumn) else _one_of(column.labels))
        )

    def replaced(self, column: Column) -> "Region":
        """Return the region with other values of a column."""
        same = tuple(column if c.name == column.name else c for c in self.columns)
        return replace(self, columns=same)

    def limited(self, constraint: Constraint) -> "Region":
        """Return the rows that meet a linear constraint, too."""
        factors, least, size = np.zeros(self.n_features), 0.0, 0.0
        for given, factor in _sum_of(constraint).items():
            column = self.column(given)
            first = column.feature if isinstance(column, NumberColumn) else column.features[0]
            factors[first] += factor
            terms = [factor * value for value in _numbers_of(column)]
            least, size = least + min(terms), size + max(map(abs, terms))
        if least > constraint[1] + _ROUNDING * size:
            raise ValueError(
                f"`constraints` must leave rows, got {constraint!r}: in the region, the sum is at "
                f"least {least:g}."
            )
        return replace(self, constraints=(*self.constraints, (factors, float(constraint[1]))))

    # Moments

    @property
    def moments(self) -> list[MomentColumn]:
        """The columns of many moments."""
        return [column for column in self.columns if isinstance(column, MomentColumn)]

    @property
    def exact(self) -> "Region | None":
        """The same region with choices among all moments, if they are few."""
        choices = [column.exact for column in self.moments]
        found = self
        for choice in choices:
            if choice is None:
                return None
            found = found.replaced(choice)
        return found

    @property
    def enclosed(self) -> "Region":
        """A region in which all rows of this one are, without moments."""
        columns: list[Column] = []
        constraints = list(self.constraints)
        for column in self.columns:
            if not isinstance(column, MomentColumn):
                columns.append(column)
                continue
            parts, cuts = column.enclosed()
            columns += parts
            for sums, most in cuts:
                factors = np.zeros(self.n_features)
                factors[list(sums)] = list(sums.values())
                constraints.append((factors, most))
        return Region(tuple(columns), self.n_features, tuple(constraints), is_enclosure=True)

    @property
    def halves(self) -> "list[Region]":
        """Two parts of the region, in one of which each moment is."""
        return [self.replaced(part) for part in max(self.moments, key=len).halves()]

    @property
    def sampled(self) -> "Region":
        """The region with a few of its moments."""
        found = self
        for column in self.moments:
            found = found.replaced(column.choice(_SAMPLED))
        return found

    def at_moments(
        self, x: Float64, values: Callable[[Float64], Float64]
    ) -> "tuple[Region, Float64, Float64]":
        """Return the region with single moments, those of the largest values with the rest of `x`.

        Also `x` with them, and the values of the last column that was tried.
        """
        found, x, tried = self, x.copy(), np.zeros(1)
        for column in self.moments:
            moments = column.spread(_TRIED)
            rows = np.tile(x, (len(moments), 1))
            rows[:, list(column.features)] = column.rows(moments)
            tried = values(rows)
            best = int(np.argmax(tried))
            x = rows[best]
            found = found.replaced(column.only(int(moments[best])))
        return found, x, tried

    def row(self, x: Float64) -> dict[str, Any]:
        """Return a row of features as columns by name: numbers, levels, booleans, or NaN."""
        return {column.name: column.value(x) for column in self.columns}


def position_of(given: Any, names: tuple[str, ...], parameter: str = "A question") -> int:
    """Return the position of a column that is given by its name or its position."""
    if isinstance(given, str):
        if given in names:
            return names.index(given)
        listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"{parameter} names no column {given!r}: the columns are {listed}.")
    if isinstance(given, int | np.integer) and -len(names) <= given < len(names):
        return int(given) % len(names)
    raise ValueError(
        f"{parameter} must name a column, or give a position from 0 to {len(names) - 1}, got "
        f"{given!r}."
    )


def _holds(column: MomentColumn) -> str:
    return f"holds {column.kind.wanted}."


def _one_of(labels: tuple[Any, ...]) -> str:
    return f"is one of {list(labels)[:8]}."


def _sum_of(constraint: Any) -> Mapping[Any, float]:
    """Return the coefficients of a constraint by column; raise an error for anything else."""
    is_pair = isinstance(constraint, tuple | list) and len(constraint) == 2
    if not is_pair or not isinstance(constraint[0], Mapping) or not constraint[0]:
        raise ValueError(
            "`constraints` must be a list of pairs of coefficients by column and the most that the "
            f"sum may be, such as ({{'x0': 1.0, 'x1': 2.0}}, 5.0), got {constraint!r}."
        )
    sums, most = constraint
    for value in (*sums.values(), most):
        if not isinstance(value, int | float | np.number) or not np.isfinite(value):
            raise ValueError(
                f"`constraints` must hold finite numbers, got {value!r} in {constraint!r}."
            )
    return sums


def _numbers_of(column: Column) -> tuple[float, ...]:
    """Return the extreme numbers of a column; raise an error where it is none."""
    if isinstance(column, NumberColumn) and column.presence is None:
        return column.low, column.high
    if isinstance(column, ChoiceColumn) and set(column.labels) <= {False, True}:
        return column.labels
    raise ValueError(
        f"`constraints` must name columns that hold a number in every row of the region, got "
        f"{column.name!r}: use `where` for the values of this column."
    )
