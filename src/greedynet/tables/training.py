"""Rows of a table to learn from: inputs, targets and groups as arrays."""

from collections.abc import Iterator
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

    def filled(self, means: Float64) -> "TrainingRows":
        """Return the rows with empty cells replaced by the means."""
        return replace(self, X=np.where(np.isnan(self.X), means, self.X))


def training_blocks(
    table: Table,
    types: ColumnTypes,
    missing: Missing,
    by: str | None = None,
    whole: Float64 | None = None,
) -> Iterator[TrainingRows]:
    """Yield the rows that have a target, without those with empty cells if asked to.

    The parameters are those of `read_rows`; `whole`, if given, holds zeros for all rows of the
    table, which are written to.
    """
    target, labels = types.target, types.classes
    findings = Findings(table.label, empty_is_fine=missing is not None)
    n_rows, also = 0, [target] if by is None else [target, by]
    for X, block in encoded(types.inputs, table, findings, also, whole):
        y, keep = read_target(block[target], target, labels, findings, n_rows)
        n_rows += len(X)
        if missing == "drop":
            keep = keep & ~np.isnan(X).any(axis=1)
        groups = None if by is None else cell_texts(block[by])
        rows = TrainingRows(X, y, int(np.sum(~keep)), groups)
        rows = rows if keep.all() else rows.taken(keep)
        yield rows if labels is None else replace(rows, y=rows.y.astype(labels.dtype))
    findings.check()


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
    missing : {"drop", "mean"} or None
        How to treat empty cells: drop the row, leave them to be filled, or raise an error.
    n_expected : int or None
        Number of rows, if known: they are then read into one matrix.
    by : str or None
        Column of groups, to be read too.
    """
    whole = None if n_expected is None else types.inputs.zeros(n_expected)
    parts = list(training_blocks(table, types, missing, by, whole))
    if not parts:
        raise TableError(f"{table.label} has no rows below the header.")
    y = np.concatenate([part.y for part in parts])
    groups = None if by is None else np.concatenate([_groups(part) for part in parts])
    n_left_out = sum(part.n_left_out for part in parts)
    if whole is not None and len(whole) == len(y) and not n_left_out:
        return TrainingRows(whole, y, 0, groups)
    return TrainingRows(np.concatenate([part.X for part in parts]), y, n_left_out, groups)


def _groups(part: TrainingRows) -> NDArray[Any]:
    assert part.groups is not None
    return part.groups
