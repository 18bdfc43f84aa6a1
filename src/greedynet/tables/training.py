"""Rows of a table to learn from: inputs, targets and groups as arrays."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import cell_texts, encoded
from greedynet.tables.encoding import Missing
from greedynet.tables.findings import Findings
from greedynet.tables.readers import Table, TableError
from greedynet.tables.score import read_target


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Inputs, NaN for empty cells, and targets.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    y : ndarray of shape (n_rows,)
        Targets.
    n_left_out : int
        Number of rows of the table that were dropped.
    groups : ndarray of shape (n_rows,) or None
        The group of each row.
    """

    X: Float64
    y: NDArray[Any]
    n_left_out: int
    groups: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, mask: NDArray[np.bool_]) -> "TrainingRows":
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[mask]
        return replace(self, X=self.X[mask], y=self.y[mask], groups=groups)

    def with_features(self, kept: NDArray[np.bool_]) -> "TrainingRows":
        """Return the rows with some of the inputs."""
        return self if kept.all() else replace(self, X=self.X[:, kept])

    def filled(self, means: Float64) -> "TrainingRows":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=np.where(np.isnan(self.X), means, self.X))


def read_rows(
    table: Table,
    types: ColumnTypes,
    missing: Missing,
    n_expected: int | None = None,
    by: str | None = None,
) -> TrainingRows:
    """Read the rows that have a target, and drop those with empty cells if asked to.

    Parameters
    ----------
    table : Table
    types : ColumnTypes
        What its columns hold.
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells: drop the row, raise an error (None), or leave them to be filled.
    n_expected : int or None
        Number of rows, if known: they are then read into one matrix.
    by : str or None
        Column of groups, to be read too.
    """
    target, labels = types.target, types.classes
    findings = Findings(table.label, empty_is_fine=missing is not None)
    whole = None if n_expected is None else types.inputs.zeros(n_expected)
    parts_X, parts_y, parts_g, n_rows = [], [], [], 0
    also = [target] if by is None else [target, by]
    for X, block in encoded(types.inputs, table, findings, also, whole):
        y, keep = read_target(block[target], target, labels, findings, n_rows)
        n_rows += len(X)
        if missing == "drop":
            keep = keep & ~np.isnan(X).any(axis=1)
        parts_X.append(X if keep.all() else X[keep])
        parts_y.append(y if keep.all() else y[keep])
        if by is not None:
            parts_g.append(cell_texts(block[by])[keep])
    findings.check()
    if not parts_X:
        raise TableError(f"{table.label} has no rows below the header.")
    y = np.concatenate(parts_y)
    if labels is not None:
        y = y.astype(labels.dtype)
    groups = None if by is None else np.concatenate(parts_g)
    if whole is not None and len(whole) == n_rows == len(y):
        return TrainingRows(whole, y, 0, groups)
    return TrainingRows(np.concatenate(parts_X), y, n_rows - len(y), groups)
