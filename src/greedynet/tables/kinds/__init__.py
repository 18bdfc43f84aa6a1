"""Kinds of columns: what a column holds, and the features that it becomes.

Each is a module with a subclass of `base.Kind`. The kind of a column is decided once, in training,
from all cells, stored in the model file by `state`, and then encodes the cells of every table,
whatever file or frame they come from. A new kind is a module here, and a line in `KINDS`.

May import `support`, and of `tables` only `readers`.
"""

from collections.abc import Mapping
from typing import Any

from greedynet.tables.kinds.base import EffectPart, Kind, Promises, Reading, Spelling, Wording
from greedynet.tables.kinds.categories import Categories, Truths
from greedynet.tables.kinds.coded import Coded
from greedynet.tables.kinds.dates import Dates
from greedynet.tables.kinds.durations import Durations
from greedynet.tables.kinds.numbers import Numbers

__all__ = [
    "FOUND",
    "KINDS",
    "Categories",
    "Coded",
    "Dates",
    "Durations",
    "EffectPart",
    "Kind",
    "Numbers",
    "Promises",
    "Reading",
    "Spelling",
    "Truths",
    "Wording",
    "from_state",
]

# Those that are found by their readings of texts, in this order; categories are what is left.
FOUND: tuple[Kind, ...] = (
    Numbers(),
    Dates(),
    Durations(),
)
_OTHERS: tuple[Kind, ...] = (Truths(), Categories(), Coded())
KINDS: dict[str, type[Kind]] = {kind.name: type(kind) for kind in (*FOUND, *_OTHERS)}


def from_state(state: Mapping[str, Any]) -> Kind:
    """Return a kind from its `state`, plain values of a model file."""
    rest = dict(state)
    name = rest.pop("type")
    if name not in KINDS:
        raise ValueError(f"`type` of a column must be one of {list(KINDS)}, got {name!r:.40}.")
    return KINDS[name].from_state(rest)
