"""`Region`: the rows a question is about, column by column.

A number lies between two ends, or its cell is empty; any other column has one of some values: a
category one of its levels, true or false one of the two, and a column that becomes several features
that depend on each other, such as a date, one of the values given. By default the region is the box
of the training data without empty cells; `where` narrows it, or goes beyond it where it says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.model.any_network import Network, is_network
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.tables.any_model import as_fitted
from greedynet.tables.columns import Columns, Input
from greedynet.tables.encoding import encode
from greedynet.tables.kinds import Truths
from greedynet.tables.model import TableModel
from greedynet.tables.readers import open_table

Where = Mapping[Any, Any]
# Coefficients by column, and the most that the sum may be.
Constraint = tuple[Mapping[Any, float], float]
# The value of an empty cell.
GAP = float("nan")


@dataclass(frozen=True, eq=False)
class ChoiceColumn:
    """A column with one of some values, such as a level of a category.

    Attributes
    ----------
    name : str
    features : tuple of int
        Those that the column becomes, and the indicators of its empty cells.
    labels : tuple
        The values: levels, true and false, NaN for an empty cell.
    rows : ndarray of shape (n_values, n_features_of_the_column)
        The features of each value; one 1 for a level of a category.
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
        """Return the value of the column in a row of features."""
        of_gap = self.presence
        if of_gap is not None and np.array_equal(x[list(of_gap.features)], of_gap.rows[1]):
            return GAP
        return float(x[self.feature])


Column = NumberColumn | ChoiceColumn


@dataclass(frozen=True)
class Region:
    """The rows a question is about.

    Attributes
    ----------
    columns : tuple of NumberColumn or ChoiceColumn
        In the order of the features.
    n_features : int
    coefficients : ndarray of shape (n_constraints, n_features) or None
    most : ndarray of shape (n_constraints,) or None
        What the sums of features times coefficients may be at most; None without constraints.
    """

    columns: tuple[Column, ...]
    n_features: int
    coefficients: Float64 | None = None
    most: Float64 | None = None

    def column(self, given: Any) -> Column:
        """Return a column by its name or its position."""
        return self.columns[_position(given, tuple(c.name for c in self.columns))]

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
        """Return the region with other values of a column."""
        same = tuple(column if c.name == column.name else c for c in self.columns)
        return replace(self, columns=same)

    def limited(self, constraints: Sequence[Constraint]) -> "Region":
        """Return the rows that meet linear constraints, too."""
        coefficients = np.zeros((len(constraints), self.n_features))
        for place, constraint in enumerate(constraints):
            least = 0.0
            for given, factor in _sum_of(constraint).items():
                column = self.column(given)
                values = _numbers_of(column)
                first = column.feature if isinstance(column, NumberColumn) else column.features[0]
                coefficients[place, first] += factor
                least += min(factor * value for value in values)
            if least > constraint[1]:
                raise ValueError(
                    f"`constraints` must leave rows, got {constraint!r}: in the region, the sum is "
                    f"at least {least:g}."
                )
        most = np.array([float(most) for _, most in constraints])
        return replace(self, coefficients=coefficients, most=most)

    def row(self, x: Float64) -> dict[str, Any]:
        """Return a row of features as columns by name: numbers, levels, booleans, or NaN."""
        return {column.name: column.value(x) for column in self.columns}


def region_of(
    columns: Columns,
    where: Where | None,
    integer: Sequence[Any] = (),
    box: Float64 | None = None,
    constraints: Sequence[Constraint] = (),
) -> Region:
    """Return the region of a question about a model.

    Parameters
    ----------
    columns : Columns
        Those of the model.
    where : mapping or None
        By the name or the position of a column: a pair `(low, high)`, in which None stands for the
        end of the data; a number; a level, or several in a list; a date, or several; NaN for an
        empty cell, also in a list with others.
    integer : sequence of str or int
        Columns of whole numbers.
    box : ndarray of shape (2, n_features) or None
        The smallest and the largest features of the data.
    constraints : sequence of pairs
        Coefficients by column, and the most that the sum may be.
    """
    indicators = [column for column in columns.inputs if column.gaps_of is not None]
    names = (*columns.names, *(column.name for column in indicators))
    wanted = {names[_position(key, names)]: said for key, said in (where or {}).items()}
    whole = {names[_position(key, names)] for key in integer}
    starts = np.cumsum([0, *(column.n_features for column in columns.inputs)]).tolist()
    start_of = dict(zip(columns.labels, starts, strict=False))
    found: list[Column] = []
    for column in columns.of_table:
        of_gaps = [one.name for one in indicators if one.gaps_of == column.name]
        own = range(start_of[column.name], start_of[column.name] + column.n_features)
        features = (*own, *(start_of[label] for label in of_gaps))
        said_of_gaps = {label: wanted[label] for label in of_gaps if label in wanted}
        asked = _Asked.of(column, wanted.get(column.name), said_of_gaps)
        is_whole = column.name in whole
        found.append(_column(column, features, asked, box, whole=is_whole))
    region = Region(tuple(found), starts[-1])
    return region.limited(constraints) if constraints else region


def network_of(model: Any) -> Network:
    """Return the network of a model; raise an error for anything else."""
    if isinstance(model, TableModel):
        return model.network
    found = model if is_network(model) else getattr(model, "network_", None)
    if not is_network(found):
        raise TypeError(
            "`model` must be a TableModel, a fitted greedynet estimator, a ShallowNetwork or a "
            f"DeepNetwork, got {type(model).__name__}."
        )
    return found


def columns_of(model: Any) -> Columns:
    """Return the columns that a model takes, each a number if it knows nothing of them."""
    network_of(model)
    return as_fitted(model).columns


def box_of(model: Any, X: Any = None) -> Float64 | None:
    """Return the smallest and largest features of rows, or of the training data if known.

    Parameters
    ----------
    model : TableModel, estimator, ShallowNetwork or DeepNetwork
    X : array-like of shape (n_rows, n_features), a table, or None
        The rows; None for the training data.

    Returns
    -------
    box : ndarray of shape (2, n_features) or None
    """
    network = network_of(model)
    if X is None:
        return network.input_range
    if isinstance(model, TableModel):
        X = model.inputs(X)
    elif hasattr(model, "categories_") or hasattr(model, "filling_"):
        X = model.network_inputs(X)
    rows = check_matrix(X, "X")
    if rows.shape[1] != network.n_features or not len(rows):
        raise ValueError(
            f"`X` must have rows of {network.n_features} features, got the shape {rows.shape}."
        )
    return np.array([rows.min(axis=0), rows.max(axis=0)])


def _position(given: Any, names: tuple[str, ...]) -> int:
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


# Constraints


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


# Empty cells


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked about a column: whether it has a value, which one, and whether it is empty."""

    there: bool
    said: Any
    empty: bool

    @staticmethod
    def of(column: Input, said: Any, of_gaps: Mapping[str, Any]) -> "_Asked":
        several = isinstance(said, list | set | np.ndarray)
        cells = list(said) if several else [said]
        values = [cell for cell in cells if not _is_gap(cell)]
        empty = len(values) < len(cells)
        there = bool(values) or not empty
        for label, flag in of_gaps.items():
            there, empty = _truths(label, flag, (0.0, 1.0))
        if empty and not column.gaps:
            raise ValueError(
                f"`where` must give values of {column.name!r}, got {said!r}: the training data had "
                "no empty cells there, so that nothing is known about them."
            )
        if several and empty:
            said = values[0] if len(values) == 1 else values
        return _Asked(there, said, empty)


def _is_gap(cell: Any) -> bool:
    is_nan = isinstance(cell, float | np.floating) and np.isnan(cell)
    return bool(is_nan) or str(cell) in ("<NA>", "NaT")


# Columns


def _column(
    column: Input, features: tuple[int, ...], asked: _Asked, box: Float64 | None, *, whole: bool
) -> Column:
    """Return what a column may be, whose features are followed by indicators of its gaps."""
    first, n = features[0], column.n_features
    ends = None if box is None else (float(box[0, first]), float(box[1, first]))
    is_number = column.is_number and not isinstance(column.kind, Truths)
    if whole and not column.is_number:
        raise ValueError(
            f"`integer` must name columns of numbers, got the category {column.name!r}."
        )
    labels: tuple[Any, ...] = ()
    rows = np.zeros((0, n))
    if asked.there and is_number:
        low, high = _number(column.name, asked.said, ends, whole=whole)
        if not asked.empty:
            return NumberColumn(column.name, first, low, high, whole)
        labels, rows = (low,), np.array([[low]])
    elif asked.there:
        labels, rows = _values(column, asked.said, ends)
    rows = np.pad(rows, ((0, 0), (0, len(features) - n)))
    if asked.empty:
        labels = (*labels, GAP)
        rows = np.vstack([rows, [*column.means, *np.ones(len(features) - n)]])
    choice = ChoiceColumn(column.name, features, labels, rows)
    if asked.there and is_number and low < high:
        return NumberColumn(column.name, first, low, high, whole, presence=choice)
    return choice


def _values(
    column: Input, said: Any, ends: tuple[float, float] | None
) -> tuple[tuple[Any, ...], Float64]:
    """Return the values that are asked about, and their features."""
    if column.levels is not None:
        places = _levels(column.name, column.levels, said)
        return tuple(column.levels[i] for i in places), np.eye(len(column.levels))[places]
    if isinstance(column.kind, Truths):
        kept = _truths(column.name, said, ends or (0.0, 1.0))
        found = [value for value, is_kept in zip((False, True), kept, strict=True) if is_kept]
        return tuple(found), np.array(found, dtype=np.float64)[:, None]
    if said is None or isinstance(said, tuple):
        raise ValueError(
            f"`where` must give values of {column.name!r}, which becomes {column.n_features} "
            f"features that depend on each other, got {said!r}: write one of them, or several in "
            "a list."
        )
    cells = list(said) if isinstance(said, list | set | np.ndarray) else [said]
    rows, _ = encode(Columns((column,)), open_table({column.name: cells}))
    return tuple(map(str, cells)), rows


def _levels(name: str, levels: tuple[str, ...], said: Any) -> list[int]:
    """Return the positions of the levels that are asked about."""
    if said is None:
        return list(range(len(levels)))
    places = set()
    for given in [said] if isinstance(said, str | int | float) else list(said):
        level = str(given).strip()
        if level not in levels and isinstance(given, float) and given.is_integer():
            level = f"{given:g}"  # as tables write it
        if level not in levels:
            listed = ", ".join(levels[:8]) + (", ..." if len(levels) > 8 else "")
            raise ValueError(
                f"`where` must give levels of the category {name!r}, which are {listed}; got "
                f"{level!r}."
            )
        places.add(levels.index(level))
    if not places:
        raise ValueError(f"`where` must leave a level of {name!r}, got none.")
    return sorted(places)


def _truths(name: str, said: Any, ends: tuple[float, float]) -> tuple[bool, bool]:
    """Return whether false and true are asked about."""
    pairs = [_ends(name, one, ends) for one in (said if isinstance(said, list | set) else [said])]
    false, true = (any(low <= value <= high for low, high in pairs) for value in (0, 1))
    if not false and not true:
        raise ValueError(f"`where` must leave True or False for {name!r}, got {said!r}.")
    return false, true


def _number(
    name: str, said: Any, ends: tuple[float, float] | None, *, whole: bool
) -> tuple[float, float]:
    """Return the ends of a column of numbers, whole ones for whole numbers."""
    low, high = _ends(name, said, ends)
    if whole:
        low, high = float(np.ceil(low - 1e-9)), float(np.floor(high + 1e-9))
    if low > high:
        what = "whole number" if whole else "value"
        of_data = "" if ends is None else f"; in the data it goes from {ends[0]:g} to {ends[1]:g}"
        raise ValueError(
            f"`where` must leave a {what} of {name!r}, got {said!r}{of_data}: give both ends to "
            "ask about rows beyond the data."
        )
    return low, high


def _ends(name: str, said: Any, ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return two ends, those of the data where none are said."""
    pair = (None, None) if said is None else said
    if isinstance(pair, int | float | np.number | np.bool_):
        pair = (pair, pair)
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise ValueError(
            f"`where` must give a number or a pair (low, high) for {name!r}, got {said!r}."
        )
    if ends is None and any(end is None for end in pair):
        raise ValueError(
            f"`where` must give both ends of {name!r}, because the network does not know the range "
            "of its data: write them, or pass rows as `X=`."
        )
    filled = [e if end is None else float(end) for end, e in zip(pair, ends or pair, strict=True)]
    if not np.isfinite(filled).all():
        raise ValueError(f"`where` must give finite ends for {name!r}, got {said!r}.")
    return filled[0], filled[1]
