"""Problems of a table, counted over all its blocks, and reported in a line or two."""

import difflib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from greedynet.support.errors import TableWarning
from greedynet.tables.kinds.numbers import advice_for
from greedynet.tables.readers import Column, Table, TableError

Mask = NDArray[np.bool_]

_SHOWN = 4


@dataclass
class Occurrences:
    """Number of occurrences of a problem in a column, the first row, and some of the cells."""

    count: int
    first: int
    wanted: str = "numbers"
    cells: dict[str, None] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.count:,} {'row' if self.count == 1 else 'rows'}, first data row {self.first}"

    @property
    def cells_text(self) -> str:
        """How many cells there are."""
        return f"{self.count:,} {'cell' if self.count == 1 else 'cells'}"


class Findings:
    """Problems in the cells of a table.

    Empty cells are none unless `missing` is None; with "learn", those of other columns than
    `learned_gaps` are warned of.
    """

    def __init__(
        self, label: str, missing: str | None = None, learned_gaps: Collection[str] = ()
    ) -> None:
        self._label = label
        self._learned_gaps = frozenset(learned_gaps) if missing == "learn" else None
        self._fine = {"unknown"} if missing is None else {"unknown", "empty"}
        self._tallies: dict[str, dict[str, Occurrences]] = {}

    def note(
        self,
        what: str,
        name: str,
        where: Mask,
        cells: Column,
        start: int,
        wanted: str = "numbers",
    ) -> None:
        """Record a problem, "empty" or a key of `_COMPLAINTS`, in rows of a block."""
        rows = np.flatnonzero(where)
        if not len(rows):
            return
        first = Occurrences(0, start + int(rows[0]) + 1, wanted)
        tally = self._tallies.setdefault(what, {}).setdefault(name, first)
        tally.count += len(rows)
        if len(tally.cells) <= _SHOWN:
            tally.cells.update(dict.fromkeys(str(cells[row]) for row in rows.tolist()))

    def tallies(self, what: str) -> dict[str, Occurrences]:
        """Return the occurrences of a problem, by column."""
        return self._tallies.get(what, {})

    @property
    def serious(self) -> bool:
        """Whether `check` will raise."""
        return bool(self._tallies.keys() - self._fine)

    def check(self) -> None:
        """Raise an error for the most serious problem."""
        for what in (*_COMPLAINTS, "empty"):
            if what in self._tallies and what not in self._fine:
                raise TableError(f"{self._label}: {_complaint(what, self._tallies[what])}")

    def warn_of_new(self) -> None:
        """Say once which columns have levels or empty cells and had none like them in training."""
        levels = [
            f"{tally.cells_text} of {name!r}, such as {next(iter(tally.cells))!r}"
            for name, tally in self.tallies("unknown").items()
        ]
        gaps = [
            f"{tally.cells_text} of {name!r}"
            for name, tally in self.tallies("empty").items()
            if self._learned_gaps is not None and name not in self._learned_gaps
        ]
        values = "the training data did not contain the values of"
        self._warn(values, levels, "they are predicted like rare values, or like the average")
        self._warn("empty, as none was in training, are", gaps, "they are replaced by the mean")

    def _warn(self, before: str, found: Sequence[str], after: str) -> None:
        if found:
            listed = "; ".join(found[:_SHOWN]) + ("; ..." if len(found) > _SHOWN else "")
            said = f"{self._label}: {before} {listed}: {after}."
            warnings.warn(said, TableWarning, stacklevel=3)


_COMPLAINTS = {
    "class": (
        "column {name!r} holds {cells}, which is not a class of the training data ({tally}): "
        "correct these cells, or include such rows in the training data."
    ),
    "text": (
        "column {name!r} must hold {tally.wanted}, as in training, but holds {cells} ({tally}): "
        "{advice}"
    ),
    "infinite": "column {name!r} holds infinite numbers ({tally}): correct these cells.",
    "negative": (
        "column {name!r} holds negative weights ({tally}): correct these cells; 0 leaves a row out."
    ),
}


def _complaint(what: str, found: dict[str, Occurrences]) -> str:
    if what == "empty":
        return empty_cells({name: (tally.count, tally.first) for name, tally in found.items()})
    name, tally = next(iter(found.items()))
    advice = _advice(tally) if what == "text" else ""
    return _COMPLAINTS[what].format(name=name, tally=tally, cells=_some(tally.cells), advice=advice)


def _advice(tally: Occurrences) -> str:
    if not tally.wanted.startswith("numbers"):
        return "correct these cells."
    return advice_for(list(tally.cells))


def empty_cells(found: dict[str, tuple[int, int]]) -> str:
    """Return a message that lists the columns with empty cells, their numbers and first rows."""
    columns = [
        f"{count:,} in {name!r} (first data row {first})" for name, (count, first) in found.items()
    ]
    more = f" and in {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    return (
        f"empty cells: {', '.join(columns[:_SHOWN])}{more}. Fill them in, or write "
        '`missing="mean"` to insert the mean, or `missing="drop"` to drop the rows.'
    )


def split_names(part: str, table: Table) -> list[str]:
    """Return the names between commas; a column may have a comma in its name."""
    return [part] if part in table.names else [name.strip() for name in part.split(",")]


def check_present(table: Table, wanted: Sequence[str], what: str) -> None:
    """Raise an error unless a table has the `wanted` columns; it suggests similar names."""
    present = set(table.names)
    absent = [name for name in wanted if name not in present]
    if not absent:
        return
    if len(table.names) == 1 and table.is_text:
        mark = " " if " " in table.names[0].strip() else ";"
        raise TableError(
            f"{table.label} has only one column, {table.names[0]!r}, and no {what} {absent[0]!r}: "
            f'if it should have several, set the separator, such as `separator="{mark}"`.'
        )
    close = {name: None for missing in absent for name in _close(missing, table.names)}
    advice = f"did you mean {_some(close)}?" if close else f"it has {_some(table.names, 8)}."
    raise TableError(f"{table.label} has no {what} {_some(absent)}: {advice}")


def _close(name: str, names: Sequence[str]) -> list[str]:
    lower = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    return [lower[other] for other in found]


def _some(names: Sequence[str] | dict[str, None], most: int = _SHOWN) -> str:
    """List the first few names."""
    listed = list(names)
    more = " and more" if len(listed) > most else ""
    return ", ".join(map(repr, listed[:most])) + more
