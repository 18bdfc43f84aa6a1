"""Rows of a table to learn from as arrays, with and without indicators of empty cells."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.readers import release_pages
from greedynet.rows.level_means import coding_folds
from greedynet.rows.missing import ENOUGH_ROWS, informative
from greedynet.rows.rows import Rows, unit_vectors
from greedynet.support.types import Float64
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import Missing, encoded
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Coded, Dates
from greedynet.tables.memory import empty_matrix, filled, is_on_disk, taken
from greedynet.tables.readers import Block, Table, TableError
from greedynet.tables.readers.base import as_text
from greedynet.tables.roles import (
    NO_ROLES,
    Roles,
    check_some_weight,
    forward_folds,
    read_weights,
    times_of,
)
from greedynet.tables.scores import read_target


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Inputs, NaN for empty cells, and targets; groups, weights and times of the rows, if known."""

    X: Float64
    y: NDArray[Any]
    n_left_out: int
    groups: NDArray[Any] | None = None
    weights: Float64 | None = None
    times: Float64 | None = None

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, mask: NDArray[np.bool_]) -> "TrainingRows":
        """Return some of the rows."""
        beside = {"groups": self.groups, "weights": self.weights, "times": self.times}
        some: dict[str, Any] = {
            name: values[mask] for name, values in beside.items() if values is not None
        }
        return replace(self, X=taken(self.X, mask), y=self.y[mask], **some)

    def with_features(self, kept: NDArray[np.bool_]) -> "TrainingRows":
        """Return the rows with some of the inputs."""
        return self if kept.all() else replace(self, X=taken(self.X, None, kept))

    def filled(self, means: Float64) -> "TrainingRows":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=filled(self.X, means))


def read_rows(
    table: Table,
    types: ColumnTypes,
    missing: Missing,
    roles: Roles = NO_ROLES,
    *,
    on_disk: bool = False,
) -> TrainingRows:
    """Read the rows that have a target and a weight; drop those with empty cells if asked to."""
    findings = Findings(table.label, empty_is_fine=missing is not None)
    labels, target, beside = types.classes, types.target_input, _Beside(roles)
    n_rows = n_kept = 0
    # Rows are written where they stay, if none before them is left out.
    matrix = empty_matrix(table.n_rows, types.inputs.n_features, on_disk=on_disk)
    outputs = np.zeros(len(matrix), np.float64 if labels is None else labels.dtype)
    how: dict[str, Any] = {"also": roles.names, "target": target, "out": matrix}
    for X, block, _ in encoded(types.inputs, table, findings, **how):
        y, keep = read_target(block[target.name], target, labels, findings, n_rows)
        keep &= beside.weighted(block, findings, n_rows)
        if missing == "drop":
            keep = keep & ~np.isnan(X).any(axis=1)
        beside.add(block, keep)
        place = slice(n_kept, n_kept + int(keep.sum()))
        if n_kept < n_rows or not keep.all():
            matrix[place] = X[keep]
        outputs[place] = y[keep]
        release_pages(matrix)
        n_rows += len(X)
        n_kept = place.stop
    findings.check()
    if not n_rows:
        raise TableError(f"{table.label} has no rows below the header.")
    known = beside.arrays(table.label, _date_order(types, roles))
    return TrainingRows(matrix[:n_kept], outputs[:n_kept], n_rows - n_kept, **known)


class _Beside:
    """Groups, weights and times of the rows that are kept, block by block."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self._weights: Float64 = np.zeros(0)
        self._parts: dict[str, list[NDArray[Any]]] = {role: [] for role in roles.record()}

    def weighted(self, block: Block, findings: Findings, start: int) -> NDArray[np.bool_]:
        """Read the weights of a block, and return which rows have one."""
        name = self.roles.weights
        if name is None:
            return np.ones(len(next(iter(block.values()))), dtype=bool)
        self._weights, found = read_weights(block[name], name, findings, start)
        return found

    def add(self, block: Block, keep: NDArray[np.bool_]) -> None:
        """Add the rows of a block that are kept."""
        if self.roles.groups is not None:
            self._parts["groups"].append(as_text(block[self.roles.groups])[keep])
        if self.roles.weights is not None:
            self._parts["weights"].append(self._weights[keep])
        if self.roles.time is not None:
            self._parts["time"].append(as_text(block[self.roles.time])[keep])

    def arrays(self, label: str, order: str | None) -> dict[str, Any]:
        """Return all of them, by the names of the attributes of `TrainingRows`."""
        found: dict[str, Any] = {role: np.concatenate(parts) for role, parts in self._parts.items()}
        if "weights" in found and len(found["weights"]):
            check_some_weight(found["weights"], self.roles.weights, label)
        if "time" in found:
            found["times"] = times_of(found.pop("time"), str(self.roles.time), label, order)
        return found


def _date_order(types: ColumnTypes, roles: Roles) -> str | None:
    """Return the order of day and month in times: as of the input, if they are one; or as told."""
    kinds = (column.kind for column in types.inputs.inputs if column.name == roles.time)
    return next((kind.order for kind in kinds if isinstance(kind, Dates)), roles.dates)


@dataclass(frozen=True, eq=False)
class Aside:
    """Rows set aside, how to find them again in the table, and whether they come later."""

    rows: TrainingRows
    record: dict[str, Any]
    later: bool = False


def with_units(
    types: ColumnTypes, data: TrainingRows, aside: Aside | None
) -> tuple[ColumnTypes, TrainingRows, Aside | None] | None:
    """Return rows with a feature for each of many levels, before codes are learned; None if never.

    Levels must be few enough, and rows in memory.
    """
    units = types.one_hot(len(data))
    if units.inputs == types.inputs or is_on_disk(data.X):
        return None

    def expanded(rows: TrainingRows) -> TrainingRows:
        parts = [
            old.kind.unit_columns(part) if isinstance(old.kind, Coded) and old != new else part
            for (old, part), new in zip(
                types.inputs.split(rows.X), units.inputs.inputs, strict=True
            )
        ]
        return replace(rows, X=np.hstack(parts))

    aside = None if aside is None else replace(aside, rows=expanded(aside.rows))
    return units, expanded(data), aside


@dataclass(frozen=True, eq=False)
class FitRows:
    """Everything that has a column for each feature: types, and rows without empty cells.

    `aside` are rows that are set aside, and `held` the validation rows.
    """

    types: ColumnTypes
    data: TrainingRows
    aside: Aside | None = None
    held: TrainingRows | None = None

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which features indicate empty cells."""
        return np.array(self.types.inputs.are_indicators, dtype=np.bool_)

    def with_informative_gaps(self) -> "FitRows":
        """Return the rows without indicators that say nothing of the target."""
        of_gaps, data = self.indicators, self.data
        if not of_gaps.any():
            return self
        classes = self.types.classes
        if is_on_disk(data.X):
            spread = np.zeros(len(data), dtype=np.bool_)
            spread[np.linspace(0, len(data) - 1, ENOUGH_ROWS).astype(np.intp)] = True
            data = replace(data.taken(spread), X=np.array(data.X[spread]))
        Y = data.y[:, None] if classes is None else unit_vectors(data.y, classes)
        kept = ~of_gaps
        kept[of_gaps] = informative(Rows(data.X[:, ~of_gaps], Y, data.weights), data.X[:, of_gaps])
        return self._with_features(kept)

    @staticmethod
    def learned(
        types: ColumnTypes,
        data: TrainingRows,
        aside: Aside | None,
        validation: Callable[[ColumnTypes], TrainingRows | None],
        seed: int,
    ) -> "FitRows":
        """Learn codes of levels, means, and which empty cells say something, from the rows."""
        if types.has_codes:
            later = () if data.times is None else forward_folds(data.times)
            folds = coding_folds(len(data), seed, data.groups, later)
            types = types.with_codes(data.X, data.y, folds, data.weights)
        if aside is not None:
            types.recode(aside.rows.X)
        types = types.learned(data.X, data.y)
        means = types.inputs.means
        aside = None if aside is None else replace(aside, rows=aside.rows.filled(means))
        rows = FitRows(types, data.filled(means), aside, validation(types))
        return rows.with_informative_gaps()

    def without_indicators(self) -> "FitRows":
        """Return the rows with the mean in empty cells, and nothing else."""
        return self._with_features(~self.indicators)

    def _with_features(self, kept: NDArray[np.bool_]) -> "FitRows":
        aside, held = self.aside, self.held
        return FitRows(
            replace(self.types, inputs=self.types.inputs.with_features(kept)),
            self.data.with_features(kept),
            None if aside is None else replace(aside, rows=aside.rows.with_features(kept)),
            None if held is None else held.with_features(kept),
        )
