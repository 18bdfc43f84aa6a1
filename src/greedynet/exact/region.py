"""`Region`: the rows a question is about, column by column.

A number lies between two ends, or its cell is empty; any other column has one of some values: a
category one of its levels, true or false one of the two, and a column that becomes several features
that depend on each other, such as a date, one of the values given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.support.types import Float64

# Coefficients by column, and the most that the sum may be.
Constraint = tuple[Mapping[Any, float], float]
# The value of an empty cell.
GAP = float("nan")
# Of the size of the terms: sums that exceed a constraint by less meet it.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ChoiceColumn:
    """A column with one of some values, such as a level of a category.

    `features` are those that the column becomes, and the indicators of its empty cells; `labels`
    are the values: levels, true and false, NaN for an empty cell. A row of `rows` has the features
    of one value: a single 1 for a level of a category.
    """

    name: str
    features: tuple[int, ...]
    labels: tuple[Any, ...]
    rows: Float64

    @property
    def changes(self) -> bool:
        """Whether there is a change from false to true."""
        return self.labels == (False, True)

    def only(self, place: int) -> "ChoiceColumn":
        return replace(self, labels=self.labels[place : place + 1], rows=self.rows[[place]])

    def value(self, x: Float64) -> Any:
        return self.labels[int(np.abs(self.rows - x[list(self.features)]).sum(axis=1).argmin())]


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers from `low` to `high`; of whole numbers only, if `whole`.

    `presence` says whether there is a number: its first value is the features at `low`, its second
    one those of an empty cell. None if there always is one.
    """

    name: str
    feature: int
    low: float
    high: float
    whole: bool = False
    presence: ChoiceColumn | None = None

    @property
    def changes(self) -> bool:
        """Whether there are two numbers."""
        return self.low < self.high

    def value(self, x: Float64) -> float:
        of_gap = self.presence
        if of_gap is not None and np.array_equal(x[list(of_gap.features)], of_gap.rows[1]):
            return GAP
        return float(x[self.feature])


Column = NumberColumn | ChoiceColumn


@dataclass(frozen=True)
class Region:
    """The rows a question is about.

    `columns` are in the order of the features. A constraint is the coefficients of the features,
    `(n_features,)`, and the most that the sum may be.
    """

    columns: tuple[Column, ...]
    n_features: int
    constraints: tuple[tuple[Float64, float], ...] = ()

    def column(self, given: Any) -> Column:
        return self.columns[position_of(given, tuple(c.name for c in self.columns))]

    @property
    def has_gaps(self) -> bool:
        """Whether some cell may be empty."""
        choices = (c.presence if isinstance(c, NumberColumn) else c for c in self.columns)
        return any(choice is not None and GAP in choice.labels for choice in choices)

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
            f"`column` must hold numbers, or true and false, got {column.name!r}, which is one of "
            f"{list(column.labels)[:8]}."
        )

    def replaced(self, column: Column) -> "Region":
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

    def row(self, x: Float64) -> dict[str, Any]:
        """Return a row of features as columns by name: numbers, levels, booleans, or NaN."""
        return {column.name: column.value(x) for column in self.columns}


def position_of(given: Any, names: tuple[str, ...]) -> int:
    if isinstance(given, str):
        if given in names:
            return names.index(given)
        listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"There is no column {given!r}: the columns are {listed}.")
    if isinstance(given, int | np.integer) and -len(names) <= given < len(names):
        return int(given) % len(names)
    raise ValueError(
        f"A column must be a name or a position from 0 to {len(names) - 1}, got {given!r}."
    )


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
