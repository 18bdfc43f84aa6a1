"""Numbers and columns in words, for the terminal."""

from collections.abc import Mapping
from typing import Any

from greedynet.support.phrases import plural, score_name
from greedynet.tables.columns import Columns

__all__ = ["features", "plural", "score_name", "scores"]


def scores(values: Mapping[str, Any]) -> str:
    """Return errors in one line."""
    shown = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{score_name(name)} {value:.4g}" for name, value in shown.items())


def features(columns: Columns) -> str:
    """Say how many columns there are and what becomes of them."""
    n_text = sum(column.levels is not None for column in columns.inputs)
    text = f" ({n_text} of text)" if n_text else ""
    n_columns, n_features = len(columns.inputs), len(columns.features)
    return f"{plural(n_columns, 'column')}{text} as {plural(n_features, 'feature')}"
