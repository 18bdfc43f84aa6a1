"""Answers to exact questions: values, the rows where they are, and what was proven."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.model.uncertainty.outside import FAR, Outside
from greedynet.support.phrases import number
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Optimum:
    """The smallest or the largest prediction in a region.

    Attributes
    ----------
    value : float
        The prediction at `point`, as `predict` gives it.
    point : ndarray of shape (n_features,)
        The row where it is, as the network takes it.
    row : dict
        The same by the names of the columns: numbers, levels, booleans, and NaN for empty cells.
    bound : float
        No prediction in the region is beyond it, up to the tolerance of the solver, 1e-6 of the
        value and of the spread of the predictions.
    proven : bool
        Whether value and bound agree up to this tolerance. If not, time ran out: the optimum is
        between the two.
    seconds : float
        Time it took.
    outside : Outside or None
        How far the row is from the training data; None if the model knows nothing of them.
    """

    value: float
    point: Float64
    row: dict[str, Any]
    bound: float
    proven: bool
    seconds: float
    outside: Outside | None

    @property
    def gap(self) -> float:
        """Distance between value and bound."""
        return abs(self.bound - self.value)

    def __str__(self) -> str:
        return f"{self._value()} at {row_text(self.row)}{likeness_note(self.outside)}"

    def _value(self) -> str:
        doubt = (
            ""
            if self.proven
            else f" (not proven: time ran out at the bound {number(self.bound, 6)})"
        )
        return f"{number(self.value, 6)}{doubt}"


@dataclass(frozen=True, eq=False)
class Extremes:
    """The smallest and the largest prediction in a region."""

    lowest: Optimum
    highest: Optimum

    @property
    def proven(self) -> bool:
        """Whether both are proven."""
        return self.lowest.proven and self.highest.proven

    @property
    def seconds(self) -> float:
        """Time it took."""
        return self.lowest.seconds + self.highest.seconds

    def __str__(self) -> str:
        return f"from {self.lowest}\nto   {self.highest}"


@dataclass(frozen=True, eq=False)
class Difference(Optimum):
    """The largest absolute difference between two models in a region.

    Attributes
    ----------
    predictions : tuple of float
        Those of the two models at `point`.
    value, point, row, bound, proven, seconds, outside
        As in `Optimum`; the rows seen are those of the first model.
    """

    predictions: tuple[float, float]

    def _value(self) -> str:
        a, b = self.predictions
        return f"{super()._value()}: {number(a, 6)} and {number(b, 6)}"


@dataclass(frozen=True, eq=False)
class Monotone:
    """Whether predictions rise, or fall, with a column.

    Attributes
    ----------
    column : str
    increasing : bool
        Which of the two was asked.
    holds : bool or None
        True if it is proven for all rows of the region, False if `pair` contradicts it, None if
        time ran out before either.
    bound : float or None
        No slope along the column is steeper in the wrong direction, up to the tolerance of the
        solver; None with a counterexample.
    pair : tuple of two rows, or None
        A counterexample: two rows, `(n_features,)`, that differ in this column alone, the one with
        the smaller value first.
    predictions : tuple of float, or None
        Those of the pair.
    rows : tuple of dict, or None
        The pair by the names of the columns.
    seconds : float
        Time it took.
    outside : Outside or None
        How far the pair is from the training data, if there is one.
    """

    column: str
    increasing: bool
    holds: bool | None
    bound: float | None
    pair: tuple[Float64, Float64] | None
    predictions: tuple[float, float] | None
    rows: tuple[dict[str, Any], dict[str, Any]] | None
    seconds: float
    outside: Outside | None

    @property
    def violation(self) -> float:
        """By how much the predictions of the pair contradict it; 0 without a pair."""
        return 0.0 if self.predictions is None else abs(self.predictions[1] - self.predictions[0])

    def __bool__(self) -> bool:
        return self.holds is True

    def __str__(self) -> str:
        never, wrong = ("fall", "falls") if self.increasing else ("rise", "rises")
        if self.holds is None:
            assert self.bound is not None
            return (
                f"not decided in the time allowed: no rows were found between which predictions "
                f"{never} as {self.column} grows, and no slope in that direction is steeper than "
                f"{number(self.bound, 4)}"
            )
        if self.holds or self.rows is None or self.predictions is None:
            return f"yes, proven: predictions never {never} as {self.column} grows"
        (first, second), (a, b) = self.rows, self.predictions
        rest = {name: value for name, value in first.items() if name != self.column}
        return (
            f"no: the prediction {wrong} from {number(a, 6)} to {number(b, 6)} as {self.column} "
            f"goes from {cell_text(first[self.column], 6)} to {cell_text(second[self.column], 6)}"
            + (f", at {row_text(rest)}" if rest else "")
            + likeness_note(self.outside)
        )


@dataclass(frozen=True, eq=False)
class Change:
    """The steepest slopes of the predictions along a column.

    Attributes
    ----------
    column : str
    steepest_fall, steepest_rise : float
        The smallest and the largest slope that were found in the region, in units of the
        prediction for each unit of the column; for booleans, the change from false to true.
    bounds : tuple of float
        No slope is smaller than the first or larger than the second.
    rows : tuple of two dicts
        Where they are.
    proven : bool
        Whether slopes and bounds agree.
    seconds : float
    outside : Outside or None
        How far the rows are from the training data.
    """

    column: str
    steepest_fall: float
    steepest_rise: float
    bounds: tuple[float, float]
    rows: tuple[dict[str, Any], dict[str, Any]]
    proven: bool
    seconds: float
    outside: Outside | None

    @property
    def largest(self) -> float:
        """The largest absolute slope."""
        return max(abs(self.steepest_fall), abs(self.steepest_rise))

    def __str__(self) -> str:
        low, high = self.bounds
        doubt = (
            "" if self.proven else f" (not proven: bounds {number(low, 4)} and {number(high, 4)})"
        )
        slopes = f"{number(self.steepest_fall, 4)} to {number(self.steepest_rise, 4)}"
        return f"{self.column}: {slopes}{doubt}{likeness_note(self.outside)}"


def row_text(row: dict[str, Any]) -> str:
    """Return a row in words, `age = 30, kind = A`."""
    return ", ".join(f"{name} = {cell_text(value, 4)}" for name, value in row.items())


def cell_text(value: Any, digits: int | None = None) -> str:
    """Return a value of a column in words; without a number of digits, eight and no separators."""
    if isinstance(value, str | bool):
        return str(value)
    if np.isnan(value):
        return "(empty)"
    return f"{value:.8g}" if digits is None else number(value, digits)


def likeness(outside: Outside) -> str:
    """Return how far rows are from the data: of several, the one that is farthest."""
    if not outside.rows.any():
        return "like rows seen"
    farthest = int(np.where(outside.rows, outside.distance, -1.0).argmax())
    beyond = np.array(outside.names)[outside.columns[farthest]].tolist()
    said = [f"beyond the range of {', '.join(beyond)}"] if beyond else []
    if outside.distance[farthest] > FAR:
        distance = number(float(outside.distance[farthest]), 2)
        said.append(f"distance {distance} (rows seen are within {FAR:g} of each other)")
    return f"unlike any row seen: {', '.join(said)}"


def likeness_note(outside: Outside | None) -> str:
    """Return the same after a semicolon; nothing if nothing is known."""
    return "" if outside is None else f"; {likeness(outside)}"
