"""Tables -> inputs of a fitted estimator: columns by name, empty cells, unknown categories."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.columns import Columns, encoded
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.readers import Block, Table, TableError, is_in_parts

_Ways = Literal["learn", "drop", "mean"]
Missing = _Ways | None
Unknown = Literal["error", "zero"]


def check_choices(missing: Any, unknown: Any = "error") -> None:
    """Raise an error for other values of `missing` and `unknown` than there are."""
    for name, value, known in (
        ("missing", missing, (*get_args(_Ways), None)),
        ("unknown", unknown, get_args(Unknown)),
    ):
        if value not in known:
            raise ValueError(f"`{name}` must be one of {known}, got {value!r}.")


def is_table(given: Any) -> bool:
    """Whether something is a table, or names one; a matrix is not."""
    known = isinstance(given, str | os.PathLike | Mapping) or is_in_parts(given)
    return known or hasattr(given, "columns") or hasattr(given, "blocks")


def encode(
    columns: Columns, table: Table, *, missing: Missing = None, unknown: Unknown = "error"
) -> tuple[Float64, NDArray[np.bool_]]:
    """Return all rows of a table, zeros where a row is not complete, and which rows are.

    The parameters are those of `encode_blocks`.
    """
    rows, masks = [columns.zeros(0)], [np.zeros(0, dtype=np.bool_)]
    for X, full, _ in encode_blocks(columns, table, missing=missing, unknown=unknown):
        X[~full] = 0.0
        rows.append(X)
        masks.append(full)
    return np.concatenate(rows), np.concatenate(masks)


def blanked(
    values: NDArray[Any], full: NDArray[np.bool_] | None, blank: Any = np.nan
) -> NDArray[Any]:
    """Return values with a blank in the rows that are not complete; None for rows that all are.

    A blank None makes an array of objects.
    """
    if full is None or full.all():
        return values
    found = values.astype(object) if blank is None else values.copy()
    found[~full] = blank
    return found


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
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells: as learned, which is an error in columns without empty cells in
        training; leave the row incomplete; as learned, and elsewhere insert the mean of the
        training data; or raise an error.
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
    fill = missing in ("learn", "mean")
    means = columns.means
    if missing == "mean" and len(means) != len(columns.features):
        raise TableError(
            "The model does not know the means of its training data, because it was not fitted "
            "on a table: fill in the empty cells."
        )
    findings = Findings(
        table.label,
        empty_is_fine=missing in ("drop", "mean"),
        learned_gaps=columns.learned_gaps if missing == "learn" else None,
        unknown_is_fine=unknown == "zero",
    )
    for X, block in encoded(columns, table, findings, also):
        empty = np.isnan(X)
        if fill and empty.any():
            X, empty = np.where(empty, means, X), np.zeros_like(empty)
        yield X, np.asarray(~empty.any(axis=1)), block
