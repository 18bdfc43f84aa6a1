"""Tables -> inputs of a fitted estimator: columns by name, empty cells, unknown categories."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, encoded
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.readers import Block, Table, TableError, is_in_parts

Missing = Literal["drop", "mean"] | None
Unknown = Literal["error", "zero"]


def is_table(given: Any) -> bool:
    """Whether something is a table, or names one; a matrix is not."""
    known = isinstance(given, str | os.PathLike | Mapping) or is_in_parts(given)
    return known or hasattr(given, "columns") or hasattr(given, "blocks")


def encode(columns: Columns, table: Table, *, fill: bool) -> Float64:
    """Return all rows of a table, `(n_rows, n_features)`.

    Parameters
    ----------
    columns : Columns
        The encoding.
    table : Table
        The rows.
    fill : bool
        Whether to insert the means of the training data into empty cells, which raise an error
        otherwise.
    """
    blocks = encode_blocks(columns, table, missing="mean" if fill else None)
    rows = [X for X, _, _ in blocks]
    return np.concatenate(rows) if rows else np.zeros((0, len(columns.features)))


def encode_blocks(
    columns: Columns,
    table: Table,
    *,
    missing: Missing = None,
    unknown: Unknown = "error",
    also: Sequence[str] = (),
) -> Iterator[tuple[Float64, NDArray[np.bool_], Block]]:
    """Yield the rows of a table in order, several thousand at a time.

    Parameters
    ----------
    columns : Columns
        The encoding.
    table : Table
        The rows.
    missing : {"drop", "mean"} or None
        How to treat empty cells: leave the row incomplete, insert the mean of the training data, or
        raise an error.
    unknown : {"error", "zero"}
        How to treat levels of a category that the training data did not contain.
    also : sequence of str
        Further columns to include in the blocks.

    Yields
    ------
    X : ndarray of shape (n_rows, n_features)
        Inputs of the estimator, NaN for empty cells.
    full : ndarray of bool, of shape (n_rows,)
        Which rows are complete.
    block : dict
        Columns by name.
    """
    check_present(table, (*columns.names, *also), "column")
    fill = missing == "mean"
    means = columns.means
    if fill and len(means) != len(columns.features):
        raise TableError(
            "The model does not know the means of its training data, because it was not fitted "
            "on a table: fill in the empty cells."
        )
    findings = Findings(
        table.label,
        empty_is_fine=missing is not None,
        unknown_is_fine=unknown == "zero",
    )
    for X, block in encoded(columns, table, findings, also):
        empty = np.isnan(X)
        if fill:
            X, empty = np.where(empty, means, X), np.zeros_like(empty)
        yield X, np.asarray(~empty.any(axis=1)), block
