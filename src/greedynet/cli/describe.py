"""Descriptions of numbers, columns and files, for the terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from greedynet.support.phrases import plural, score_name

__all__ = ["either", "plural", "score_name", "scores", "wrote"]


def either(names: Sequence[str]) -> str:
    """Return names as a choice: "one, another or a third"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def scores(values: Mapping[str, Any]) -> str:
    """Return error measures in one line."""
    shown = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{score_name(name)} {value:.4g}" for name, value in shown.items())


def wrote(page: Path) -> str:
    """Return a line that says where the page is."""
    size = plural(round(page.stat().st_size / 1000), "kilobyte")
    return f"wrote {page} ({size}): open it in a browser"
