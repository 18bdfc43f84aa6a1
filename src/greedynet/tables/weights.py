"""Weights of rows: reading a column of them, and means in which rows count by them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.columns import checked_numbers
from greedynet.tables.findings import Findings
from greedynet.tables.readers import Column, TableError


def read_weights(
    cells: Column, name: str, findings: Findings, start: int
) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the weights of a block, and a mask of the rows that have one; record problems.

    Parameters
    ----------
    cells : Column
    name : str
        The column.
    findings : Findings
        Records problems.
    start : int
        Number of rows before the block.
    """
    weights = checked_numbers(cells, name, findings, start)
    findings.note("negative", name, weights < 0, cells, start)
    return weights, ~np.isnan(weights)


def check_some_weight(weights: Float64, name: str | None, label: str) -> Float64:
    """Return the weights; raise an error if all are zero."""
    if not weights.any():
        raise TableError(
            f"{label}: the weights in column {name!r} are all zero: give positive ones to the rows "
            "that count."
        )
    return weights


def shares_of(weights: Float64 | None) -> Float64 | None:
    """Return weights that sum to 1; None for None."""
    if weights is None:
        return None
    scaled = weights / weights.max()  # their sum cannot overflow
    return np.asarray(scaled / scaled.sum())


def mean_of(values: NDArray[Any], share: Float64 | None) -> float:
    """Return the mean over rows, which count by their shares, if these are given."""
    return float(np.mean(values) if share is None else share @ values)
