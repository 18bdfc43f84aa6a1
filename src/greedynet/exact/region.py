"""`Region`: the rows a question is about, column by column.

A number lies between two ends; a category is one of some levels, and a column that becomes several
features that depend on each other, such as a date, one of the values given. By default the region
is the box of the training data; `where` narrows it, or goes beyond it where it says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.model.network import Network
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input
from greedynet.tables.encoding import encode
from greedynet.tables.kinds import Truths
from greedynet.tables.model import TableModel
from greedynet.tables.readers import open_table

Where = Mapping[Any, Any]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers from `low` to `high`; of whole numbers only, if `whole`."""

    name: str
    feature: int
    low: float
    high: float
    whole: bool = False

    def value(self, x: Float64) -> float:
        """Return the value of the column in a row of features."""
        return float(x[self.feature])


@dataclass(frozen=True, eq=False)
class ChoiceColumn:
    """A column with one of some values, such as a level of a category.

    Attributes
    ----------
    name : str
    features : tuple of int
        Those that the column becomes.
    labels : tuple of str
        The values.
    rows : ndarray of shape (n_values, n_features_of_the_column)
        The features of each value; one 1 for a level of a category.
    """

    name: str
    features: tuple[int, ...]
    labels: tuple[str, ...]
    rows: Float64

    def value(self, x: Float64) -> str:
        """Return the value of the column in a row of features."""
        return self.labels[int(np.abs(self.rows - x[list(self.features)]).sum(axis=1).argmin())]


Column = NumberColumn | ChoiceColumn


@dataclass(frozen=True)
class Region:
    """The rows a question is about.

    Attributes
    ----------
    columns : tuple of NumberColumn or ChoiceColumn
        In the order of the features.
    n_features : int
    """

    columns: tuple[Column, ...]
    n_features: int

    def column(self, given: Any) -> Column:
        """Return a column by its name or its position."""
        return self.columns[_position(given, tuple(c.name for c in self.columns))]

    def number(self, given: Any) -> NumberColumn:
        """Return a column of numbers that vary in the region; raise an error for another one."""
        column = self.column(given)
        if isinstance(column, ChoiceColumn):
            raise ValueError(
                f"`column` must hold numbers, got {column.name!r}, which is one of "
                f"{len(column.labels)} values."
            )
        if column.low == column.high:
            raise ValueError(
                f"`column` must vary, got {column.name!r}, which is {column.low:g} everywhere in "
                "the region: give it two ends in `where`."
            )
        return column

    def replaced(self, column: NumberColumn) -> "Region":
        """Return the region with another range of a column."""
        same = tuple(column if c.name == column.name else c for c in self.columns)
        return replace(self, columns=same)

    def row(self, x: Float64) -> dict[str, Any]:
        """Return a row of features as columns by name, numbers and levels."""
        return {column.name: column.value(x) for column in self.columns}


def region_of(
    model: Any, where: Where | None, integer: Sequence[Any] = (), X: ArrayLike | None = None
) -> Region:
    """Return the region of a question about a model.

    Parameters
    ----------
    model : TableModel, estimator or Network
    where : mapping or None
        By the name or the position of a column: a pair `(low, high)`, in which None stands for the
        end of the data; a number; a level, or several in a list; a date, or several.
    integer : sequence of str or int
        Columns of whole numbers.
    X : array-like of shape (n_rows, n_features), a table, or None
        Rows whose box is taken instead of that of the training data.
    """
    inputs, box = columns_of(model).inputs, _box(model, X)
    names = tuple(column.name for column in inputs)
    wanted = {_position(key, names): said for key, said in (where or {}).items()}
    whole = {_position(key, names) for key in integer}
    columns: list[Column] = []
    start = 0
    for place, column in enumerate(inputs):
        features = tuple(range(start, start + column.n_features))
        start += column.n_features
        said = wanted.get(place)
        if column.levels is None and column.n_features == 1:
            said = 0.0 if said is None and _is_indicator(column) else said
            is_whole = place in whole or isinstance(column.kind, Truths)
            columns.append(_number(column, features[0], said, box, whole=is_whole))
            continue
        _check_numbers(column.name, whole=place in whole)
        choose = _some_values if column.levels is None else _some_levels
        columns.append(ChoiceColumn(column.name, features, *choose(column, said)))
    return Region(tuple(columns), start)


def columns_of(model: Any) -> Columns:
    """Return the columns that a model takes, each a number if it knows nothing of tables."""
    if isinstance(model, TableModel):
        return model.columns
    network = network_of(model)
    names = network.feature_names or tuple(f"x{j}" for j in range(network.n_features))
    filling = getattr(model, "filling_", None)
    n_columns = len(names) if filling is None else len(filling.values)
    # Indicators of gaps come last, in the order of their columns.
    gaps = [] if filling is None else np.flatnonzero(filling.indicated).tolist()
    indicators = [
        Input(name, gaps_of=names[j]) for name, j in zip(names[n_columns:], gaps, strict=True)
    ]
    return Columns((*(Input(name) for name in names[:n_columns]), *indicators))


def network_of(model: Any) -> Network:
    """Return the network of a model; raise an error for anything else."""
    if isinstance(model, TableModel):
        return model.network
    found = model if isinstance(model, Network) else getattr(model, "network_", None)
    if not isinstance(found, Network):
        raise TypeError(
            "`model` must be a TableModel, a fitted greedynet estimator or a Network, got "
            f"{type(model).__name__}."
        )
    return found


def _box(model: Any, X: Any) -> Float64 | None:
    """Return the smallest and largest features of the data, `(2, n_features)`, if known."""
    network = network_of(model)
    if X is None:
        return network.input_range
    rows = check_matrix(model.inputs(X) if isinstance(model, TableModel) else X, "X")
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


def _check_numbers(name: str, *, whole: bool) -> None:
    if whole:
        raise ValueError(f"`integer` must name columns of numbers, got the category {name!r}.")


def _is_indicator(column: Input) -> bool:
    """Whether an input says that a cell of another column is empty: by default it is not."""
    return column.gaps_of is not None


def _some_values(column: Input, said: Any) -> tuple[tuple[str, ...], Float64]:
    """Return the values of a column of dependent features that are asked about, and these."""
    if said is None or isinstance(said, tuple):
        raise ValueError(
            f"`where` must give values of {column.name!r}, which becomes {column.n_features} "
            f"features that depend on each other, got {said!r}: write one of them, or several in "
            "a list."
        )
    cells = list(said) if isinstance(said, list | set | np.ndarray) else [said]
    rows, _ = encode(Columns((column,)), open_table({column.name: cells}))
    return tuple(map(str, cells)), rows


def _some_levels(column: Input, said: Any) -> tuple[tuple[str, ...], Float64]:
    """Return the levels of a category that are asked about, and their features."""
    assert column.levels is not None
    places = list(_allowed(column.name, column.levels, said))
    return tuple(column.levels[i] for i in places), np.eye(len(column.levels))[places]


def _allowed(name: str, levels: tuple[str, ...], said: Any) -> tuple[int, ...]:
    """Return the positions of the levels that are asked about."""
    if said is None:
        return tuple(range(len(levels)))
    wanted = [said] if isinstance(said, str | int | float) else list(said)
    places = []
    for level in map(_level, wanted):
        if level not in levels:
            listed = ", ".join(levels[:8]) + (", ..." if len(levels) > 8 else "")
            raise ValueError(
                f"`where` must give levels of the category {name!r}, which are {listed}; got "
                f"{level!r}."
            )
        places.append(levels.index(level))
    if not places:
        raise ValueError(f"`where` must leave a level of {name!r}, got none.")
    return tuple(sorted(set(places)))


def _level(value: Any) -> str:
    """Return a level as tables write it: 3 for 3.0."""
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value).strip()


def _number(
    column: Input, feature: int, said: Any, box: Float64 | None, *, whole: bool
) -> NumberColumn:
    ends = None if box is None else (float(box[0, feature]), float(box[1, feature]))
    low, high = _ends(column.name, said, ends)
    if whole:
        low, high = float(np.ceil(low - 1e-9)), float(np.floor(high + 1e-9))
    if low > high:
        what = "whole number" if whole else "value"
        of_data = "" if ends is None else f"; in the data it goes from {ends[0]:g} to {ends[1]:g}"
        raise ValueError(
            f"`where` must leave a {what} of {column.name!r}, got {said!r}{of_data}: give both "
            "ends to ask about rows beyond the data."
        )
    return NumberColumn(column.name, feature, low, high, whole)


def _ends(name: str, said: Any, ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return the ends of a column of numbers."""
    pair = (None, None) if said is None else said
    if isinstance(pair, int | float | np.number):
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
