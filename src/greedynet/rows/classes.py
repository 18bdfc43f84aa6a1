"""Classes and categories as numbers: unit vectors, or one column of 0 and 1 for two classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# Columns with more distinct values are not treated as categories.
MOST_LEVELS = 100


def most_levels(n_rows: int) -> int:
    """Return the largest number of levels of a column of categories."""
    return min(MOST_LEVELS, max(10, n_rows // 2))


def unit_columns(texts: NDArray[Any], levels: NDArray[Any]) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the columns of the levels, `(n_rows, n_levels)`, and which rows have none of them.

    The `levels` are sorted.
    """
    place = np.minimum(np.searchsorted(levels, texts), len(levels) - 1)
    known = levels[place] == texts
    columns = np.zeros((len(texts), len(levels)))
    columns[known, place[known]] = 1.0
    return columns, np.asarray(~known)


def class_numbers(Y: Float64) -> NDArray[np.intp]:
    """Return the class numbers for unit vectors, or for one column of 0 and 1."""
    found = Y[:, 0] > 0.5 if Y.shape[1] == 1 else Y.argmax(axis=1)
    return found.astype(np.intp)


def unit_vectors(labels: NDArray[Any], classes: NDArray[Any]) -> Float64:
    """Return classes as unit vectors; for two classes, one column with 1 for the second."""
    at = np.searchsorted(classes, labels)
    if len(classes) == 2:
        return at[:, None].astype(np.float64)
    return np.asarray(np.eye(len(classes))[at])
