"""Descriptions of numbers, columns and files, for the terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greedynet.support.phrases import plural, score_name

if TYPE_CHECKING:
    from greedynet.tables.columns import Columns

__all__ = ["either", "features", "plural", "score_name", "scores", "wrote"]


def either(names: Sequence[str]) -> str:
    """Return names as a choice: "one, another or a third"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def scores(values: Mapping[str, Any]) -> str:
    """Return error measures in one line."""
    shown = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{score_name(name)} {value:.4g}" for name, value in shown.items())


def features(columns: "Columns") -> str:
    """Return the number of columns and of the features made from them."""
    n_text = sum(column.levels is not None for column in columns.inputs)
    text = f" ({n_text} of text)" if n_text else ""
    n_columns, n_features = len(columns.inputs), len(columns.features)
    return f"{plural(n_columns, 'column')}{text} as {plural(n_features, 'feature')}"


def wrote(page: Path) -> str:
    """Return a line that says where the page is."""
    size = plural(round(page.stat().st_size / 1000), "kilobyte")
    return f"wrote {page} ({size}): open it in a browser"
