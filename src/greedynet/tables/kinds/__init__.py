"""Kinds of columns: what a column holds, and the features that it becomes.

One object per kind, all with the interface of `base.Kind`: `Numbers`, `Truths`, `Categories`,
`Coded`, `Dates` and `Durations`. It is decided once, in training, from all cells, stored in the
model file by `state`, and then encodes the cells of every table, whatever file or frame they come
from. A new kind is a module here, and a line in `KINDS`.

May import `support`, and of `tables` only `readers`.
"""

from collections.abc import Mapping
from typing import Any

from greedynet.tables.kinds.base import Kind, Part
from greedynet.tables.kinds.categories import Categories, Truths
from greedynet.tables.kinds.coded import Coded
from greedynet.tables.kinds.dates import Dates
from greedynet.tables.kinds.durations import Durations
from greedynet.tables.kinds.numbers import Numbers

__all__ = [
    "KINDS",
    "Categories",
    "Coded",
    "Dates",
    "Durations",
    "Kind",
    "Numbers",
    "Part",
    "Truths",
    "from_state",
]

KINDS: dict[str, Any] = {
    "number": Numbers,
    "truth": Truths,
    "category": Categories,
    "coded": Coded,
    "date": Dates,
    "duration": Durations,
}


def from_state(state: Mapping[str, Any]) -> Kind:
    """Return a kind from its `state`, plain values of a model file."""
    rest = dict(state)
    name = rest.pop("type")
    if name not in KINDS:
        raise ValueError(f"`type` of a column must be one of {list(KINDS)}, got {name!r:.40}.")
    kind: Kind = KINDS[name].from_state(rest)
    return kind
