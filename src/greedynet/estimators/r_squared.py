"""The coefficient of determination, also for outputs whose squares overflow or vanish."""

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from greedynet.support.types import Float64


def r_squared(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return `R^2`, the mean over the outputs.

    It does not depend on the units, so outputs are divided by a power of two, which is exact.
    """
    true, found = (_in_columns(values) for values in (y, predicted))
    scale = 2.0 ** np.frexp(np.abs(true).max(axis=0, initial=0.0))[1].astype(np.float64)
    with np.errstate(over="ignore"):
        return float(r2_score(true / scale, found / scale, sample_weight=sample_weight))


def _in_columns(values: Any) -> Float64:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(len(array), -1)
