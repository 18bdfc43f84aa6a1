"""Rows of a table to learn from as arrays, with and without indicators of empty cells."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.missing import telling
from greedynet.rows.rows import Rows, unit_vectors
from greedynet.support.types import Float64
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import Missing, encoded
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Dates
from greedynet.tables.readers import Block, Table, TableError
from greedynet.tables.readers.base import as_text, cell_texts
from greedynet.tables.roles import NO_ROLES, Roles, check_some_weight, read_weights, times_of
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
        taken: dict[str, Any] = {
            name: values[mask] for name, values in beside.items() if values is not None
        }
        return replace(self, X=self.X[mask], y=self.y[mask], **taken)

    def with_features(self, kept: NDArray[np.bool_]) -> "TrainingRows":
        """Return the rows with some of the inputs."""
        return self if kept.all() else replace(self, X=self.X[:, kept])

    def filled(self, means: Float64) -> "TrainingRows":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=np.where(np.isnan(self.X), means, self.X))


def training_blocks(
    table: Table,
    types: ColumnTypes,
    missing: Missing,
    beside: "_Beside | None" = None,
    whole: Float64 | None = None,
) -> Iterator[TrainingRows]:
    """Yield inputs and targets of the rows that have a target, without those to be dropped.

    The parameters are those of `read_rows`; `beside` collects what else is known of these rows, and
    `whole`, if given, holds zeros for all rows of the table, which are written to.
    """
    target, labels = types.target, types.classes
    findings, n_rows = Findings(table.label, empty_is_fine=missing is not None), 0
    beside = beside or _Beside(NO_ROLES)
    also = [target, *beside.roles.names]
    for X, block in encoded(types.inputs, table, findings, also, whole):
        y, keep = read_target(block[target], target, labels, findings, n_rows, types.target_kind)
        keep &= beside.weighted(block, findings, n_rows)
        n_rows += len(X)
        if missing == "drop":
            keep = keep & ~np.isnan(X).any(axis=1)
        beside.add(block, keep)
        rows = TrainingRows(X, y, int(np.sum(~keep)))
        rows = rows if keep.all() else rows.taken(keep)
        yield rows if labels is None else replace(rows, y=rows.y.astype(labels.dtype))
    findings.check()


def read_rows(
    table: Table,
    types: ColumnTypes,
    missing: Missing,
    n_expected: int | None = None,
    roles: Roles = NO_ROLES,
) -> TrainingRows:
    """Read the rows that have a target and a weight; drop those with empty cells if asked to.

    If their number `n_expected` is known, they are read into one matrix.
    """
    whole = None if n_expected is None else types.inputs.zeros(n_expected)
    beside = _Beside(roles)
    parts = list(training_blocks(table, types, missing, beside, whole))
    if not parts:
        raise TableError(f"{table.label} has no rows below the header.")
    y, n_left_out = np.concatenate([p.y for p in parts]), sum(p.n_left_out for p in parts)
    known = beside.arrays(table.label, _date_order(types, roles))
    if whole is not None and len(whole) == len(y) and not n_left_out:
        return TrainingRows(whole, y, 0, **known)
    X = np.concatenate([part.X for part in parts])
    return TrainingRows(X, y, n_left_out, **known)


def first_rows(table: Table, types: ColumnTypes, missing: Missing, n_rows: int) -> TrainingRows:
    """Return at least so many of the first rows, if there are so many."""
    parts: list[TrainingRows] = []
    for part in training_blocks(table, types, missing):
        parts.append(part)
        if sum(map(len, parts)) >= n_rows:
            break
    X, y = (np.concatenate(a) for a in zip(*((p.X, p.y) for p in parts), strict=True))
    return TrainingRows(X, y, 0)


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
            self._parts["groups"].append(cell_texts(block[self.roles.groups])[keep])
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

    def with_telling_gaps(self) -> "FitRows":
        """Return the rows without indicators that say nothing of the target."""
        of_gaps, data = self.indicators, self.data
        if not of_gaps.any():
            return self
        classes = self.types.classes
        Y = data.y[:, None] if classes is None else unit_vectors(data.y, classes)
        kept = ~of_gaps
        kept[of_gaps] = telling(Rows(data.X[:, ~of_gaps], Y, data.weights), data.X[:, of_gaps])
        return self._with_features(kept)

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
