"""Weights of rows and classes: reading them, and means in which rows count by them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.cells import label_text
from greedynet.tables.columns import Input
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Numbers
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
    numbers = np.zeros((len(cells), 1))
    Input(name, Numbers()).encode(cells, numbers, findings, start)
    weights = numbers[:, 0]
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


def weights_by_class(
    given: Mapping[Any, float], classes: NDArray[Any], target: str
) -> dict[Any, float]:
    """Return weights by class, where classes may be given by their texts.

    Parameters
    ----------
    given : mapping
        Weights by class, or by the text of a class.
    classes : ndarray of shape (n_classes,)
    target : str
        The column of the classes, for errors.
    """
    labels = classes.tolist()
    by_text = {label_text(label): label for label in labels}
    unknown = [key for key in given if key not in labels and str(key) not in by_text]
    if unknown:
        raise TableError(
            f"`class_weight` must name classes of {target!r}, {', '.join(by_text)}, got "
            f"{str(unknown[0])!r}: classes that are not named have the weight 1."
        )
    return {key if key in labels else by_text[str(key)]: float(w) for key, w in given.items()}
