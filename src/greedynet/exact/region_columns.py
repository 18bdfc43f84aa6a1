"""Columns of a region with a number between two ends, or with one of some values."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.support.types import Float64

# The value of an empty cell.
GAP = float("nan")


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
        """Return the column with one of its values."""
        return replace(self, labels=self.labels[place : place + 1], rows=self.rows[[place]])

    def value(self, x: Float64) -> Any:
        """Return the value of the column in a row of features."""
        return self.labels[int(np.abs(self.rows - x[list(self.features)]).sum(axis=1).argmin())]


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers from `low` to `high`; of whole numbers only, if `whole`.

    `presence` says whether there is a number: its first value is the features at `low`, its second
    one those of an empty cell. None if there always is one. A duration is a number of hours.
    """

    name: str
    feature: int
    low: float
    high: float
    whole: bool = False
    presence: ChoiceColumn | None = None
    is_duration: bool = False

    @property
    def changes(self) -> bool:
        """Whether there are two numbers."""
        return self.low < self.high

    def value(self, x: Float64) -> Any:
        """Return the value of the column in a row of features; durations as `1.5 h`."""
        of_gap = self.presence
        if of_gap is not None and np.array_equal(x[list(of_gap.features)], of_gap.rows[1]):
            return GAP
        found = float(x[self.feature])
        return f"{found:.10f}".rstrip("0").rstrip(".") + " h" if self.is_duration else found
