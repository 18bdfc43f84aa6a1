"""Rows of a table with their targets: those of a fit, of scores, and of reports."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.readers import release_pages
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, Input, Missing, filled_means, read_blocks
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Categories, Dates, Kind, Numbers
from greedynet.tables.memory import empty_matrix, filled, limit_of, matrix_bytes, taken
from greedynet.tables.readers import Column, Table, TableError
from greedynet.tables.readers.base import looked_up, parse_numbers
from greedynet.tables.roles import NO_ROLES, Roles, times_of

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """The column to predict.

    Attributes
    ----------
    kind : Kind
        What it holds unless it has classes: numbers or durations.
    classes : ndarray or None
        The classes; None for numbers.
    gaps : tuple of str
        Texts such as "n/a" that are empty cells.
    """

    name: str
    kind: Kind = Numbers()
    classes: NDArray[Any] | None = None
    gaps: tuple[str, ...] = ()

    @property
    def column(self) -> Input:
        """How its cells are read; the texts of classes stay as they are."""
        if self.classes is None or self.classes.dtype.kind in "iuf":
            return Input(self.name, self.kind, na=self.gaps)
        return Input(self.name, Categories(tuple(map(str, self.classes.tolist()))))

    def read(
        self, cells: Column, column: Input, findings: Findings, start: int
    ) -> tuple[NDArray[Any], Mask]:
        """Return the target of a block, and a mask of the rows that have one; record problems.

        `column` is the one above, perhaps with other marks of numbers.
        """
        if self.classes is None:
            y = np.zeros((len(cells), 1))
            column.encode(cells, y, findings, start)
            return y[:, 0], ~np.isnan(y[:, 0])
        if self.classes.dtype.kind in "iuf":
            labels, text = parse_numbers(cells)
            empty, known = np.isnan(labels) & ~text, np.isin(labels, self.classes)
        else:
            place = {str(label): i for i, label in enumerate(self.classes.tolist())}
            at = looked_up(cells, lambda text: place.get(text, -1 if text else -2))
            labels, empty, known = self.classes[np.maximum(at, 0)], at == -2, at >= 0
        findings.note("empty", self.name, empty, cells, start)
        findings.note("class", self.name, ~known & ~empty, cells, start)
        return labels, ~empty


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Inputs, NaN for empty cells, and targets; groups, weights and times of the rows, if known."""

    X: Float64
    y: NDArray[Any]
    n_left_out: int
    groups: NDArray[Any] | None = None
    weights: Float64 | None = None
    times: Float64 | None = None

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, mask: Mask) -> "LabelledRows":
        """Return some of the rows."""
        beside = {"groups": self.groups, "weights": self.weights, "times": self.times}
        some: dict[str, Any] = {
            name: values[mask] for name, values in beside.items() if values is not None
        }
        return replace(self, X=taken(self.X, mask), y=self.y[mask], **some)

    def with_features(self, kept: Mask) -> "LabelledRows":
        """Return the rows with some of the inputs."""
        return self if kept.all() else replace(self, X=taken(self.X, None, kept))

    def filled(self, means: Float64) -> "LabelledRows":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=filled(self.X, means))


def read_rows(
    columns: Columns,
    target: TargetColumn,
    table: Table,
    missing: Missing,
    roles: Roles = NO_ROLES,
    *,
    on_disk: bool = False,
) -> LabelledRows:
    """Read the rows that have a target and a weight; drop those with empty cells if asked to."""
    beside = {name for name in (target.name, roles.weights) if name is not None}
    findings = Findings(table.label, missing, columns.learned_gaps | beside)
    column = target.column.written(table.marks)
    n_rows = n_kept = 0
    # Rows are written where they stay, if none before them is left out.
    matrix = empty_matrix(table.n_rows, columns.n_features, on_disk=on_disk)
    classes = target.classes
    y = np.zeros(len(matrix), np.float64 if classes is None else classes.dtype)
    parts: dict[str, list[NDArray[Any]]] = {role: [] for role in roles.record()}
    for rows in read_blocks(columns, table, findings, also=roles.names, target=column, out=matrix):
        found, keep = roles.read(rows.cells, findings, n_rows)
        labels, has_target = target.read(rows.cells[target.name], column, findings, n_rows)
        keep &= has_target
        if missing == "drop":
            keep &= rows.full
        place = slice(n_kept, n_kept + int(keep.sum()))
        if n_kept < n_rows or not keep.all():
            matrix[place] = rows.X[keep]
        y[place] = labels[keep]
        for role, values in found.items():
            parts[role].append(values[keep])
        release_pages(matrix)
        n_rows += len(rows.X)
        n_kept = place.stop
    findings.check()
    if not n_rows:
        raise TableError(f"{table.label} has no rows below the header.")
    known: dict[str, Any] = {role: np.concatenate(values) for role, values in parts.items()}
    if roles.weights is not None:
        roles.check_some_weight(known["weights"], table.label)
    if roles.time is not None:
        order = _date_order(columns, roles)
        known["times"] = times_of(known.pop("time"), roles.time, table.label, order)
    return LabelledRows(matrix[:n_kept], y[:n_kept], n_rows - n_kept, **known)


def _date_order(columns: Columns, roles: Roles) -> str | None:
    """Return the order of day and month in times: as of the input, if they are one; or as told."""
    kinds = (column.kind for column in columns.inputs if column.name == roles.time)
    return next((kind.order for kind in kinds if isinstance(kind, Dates)), roles.dates)


def read_filled(
    columns: Columns, target: TargetColumn, table: Table, missing: Missing, roles: Roles
) -> LabelledRows:
    """Read rows as `read_rows` does, with means in empty cells; many rows are kept in a file."""
    means = filled_means(columns, missing)
    is_large = matrix_bytes(table.n_rows, columns.n_features) > limit_of(None)
    rows = read_rows(columns, target, table, missing, roles, on_disk=is_large)
    if not len(rows):
        raise TableError(f"{table.label} has no rows to compare with.")
    return rows if means is None else rows.filled(means)
