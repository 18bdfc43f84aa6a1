"""Checks of arrays: scikit-learn's, named after the argument and typed."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_array

Float64 = NDArray[np.float64]


def check_matrix(values: ArrayLike, name: str, dtype: DTypeLike = np.float64) -> Float64:
    """Return a finite two-dimensional array, or say what is wrong with the argument `name`."""
    # In one memory order, or products would differ in the last bits between a frame and its array.
    return np.asarray(check_array(values, dtype=dtype, order="C", input_name=name))


def check_columns(values: ArrayLike, name: str) -> Float64:
    """Return finite values as columns: `(n,)` becomes `(n, 1)`, `(n, t)` stays."""
    array = np.asarray(check_array(values, dtype=np.float64, ensure_2d=False, input_name=name))
    return array.reshape(len(array), -1)


def check_same_length(**arrays: NDArray[np.floating]) -> None:
    """Demand that all arrays have the same number of rows."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        names = " and ".join(f"`{name}`" for name in lengths)
        counts = " and ".join(str(length) for length in lengths.values())
        raise ValueError(f"{names} must have the same number of rows, got {counts}.")
