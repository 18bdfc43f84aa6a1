"""Shapes along the columns of a table -> along the features of its network."""

from collections.abc import Mapping
from typing import Any

from greedynet.estimators.shapes import SHAPES
from greedynet.tables.columns import Columns, Input
from greedynet.tables.readers import TableError


def by_feature(columns: Columns, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with shapes for each feature instead of those by the names of columns.

    Parameters
    ----------
    columns : Columns
        Of the table, without its target.
    parameters : dict
        Of an estimator.
    """
    found = dict(parameters)
    for name in SHAPES:
        given = parameters.get(name)
        if given is not None:
            found[name] = _of_features(columns, name, given)
    return found


def _of_features(columns: Columns, name: str, given: Any) -> list[int]:
    """Return the shape of each feature, 0 for those that are not named."""
    if not isinstance(given, Mapping):
        raise TableError(
            f"`{name}` must be a dict of column names for a table, such as {{'age': 1}}, got "
            f"{given!r}."
        )
    inputs = {column.name: column for column in columns.inputs if column.gaps_of is None}
    for key in given:
        _check_number(name, key, inputs)
    return [
        given[column.name] if column.gaps_of is None and column.name in given else 0
        for column in columns.inputs
        for _ in column.features
    ]


def _check_number(name: str, key: Any, inputs: Mapping[str, Input]) -> None:
    """Raise an error for a column that is not there, or that is no number."""
    if key not in inputs:
        raise TableError(f"`{name}` must name columns of the table, {list(inputs)}, got {key!r}.")
    if not inputs[key].is_number:
        raise TableError(
            f"`{name}` must name columns of numbers, got {key!r}, which is "
            f"{inputs[key].describe()}: leave it out."
        )
