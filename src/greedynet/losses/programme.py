"""Linear programmes, solved by HiGHS."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from greedynet.support.types import Float64

OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
INFEASIBLE = 2


def solve_programme(programme: Mapping[str, Any]) -> OptimizeResult | None:
    """Solve a linear programme; None if it is infeasible.

    The dual simplex method comes first: it is faster for these programmes, and ends at a vertex.
    """
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(**programme, method=method, options=OPTIONS)  # type: ignore[call-overload]
        if result.status == 0:
            return result
        if result.status == INFEASIBLE:
            return None
    raise RuntimeError(
        f"The linear programme of the loss could not be solved: {result.message} Write "
        'loss="huber" or a power such as loss=1.1 or loss=10.0 for a similar smooth loss.'
    )


def unit_columns(columns: Float64) -> tuple[Float64, Float64]:
    """Return the columns scaled to unit root mean square, as HiGHS prefers, and their scales."""
    sizes = np.linalg.norm(columns, axis=0) / np.sqrt(len(columns))
    sizes[sizes == 0] = 1.0
    return columns / sizes, sizes


def shortest(matrix: Float64, right: Float64) -> Float64:
    """Return the least-squares solution of minimum norm."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])
