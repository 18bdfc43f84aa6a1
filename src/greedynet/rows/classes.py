"""Classes as numbers: unit vectors, or one column of 0 and 1 for two classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64


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
