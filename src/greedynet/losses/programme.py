"""Linear programmes, by HiGHS."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from greedynet.support.types import Float64

OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
INFEASIBLE = 2


def solve_programme(programme: Mapping[str, Any]) -> OptimizeResult | None:
    """Solve; None if nothing is feasible.

    The dual simplex first: measured on our programmes it is the faster one, and ends in a vertex.
    """
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(**programme, method=method, options=OPTIONS)  # type: ignore[call-overload]
        if result.status == 0:
            return result
        if result.status == INFEASIBLE:
            return None
    raise RuntimeError(
        f"The linear programme of the loss was not solved: {result.message} Write "
        'loss="huber" or a power such as loss=1.1 or loss=10.0 for a smooth loss close to it.'
    )


def unit_columns(columns: Float64) -> tuple[Float64, Float64]:
    """Return the columns with entries of size one, as HiGHS likes them, and their former sizes."""
    sizes = np.linalg.norm(columns, axis=0) / np.sqrt(len(columns))
    sizes[sizes == 0] = 1.0
    return columns / sizes, sizes


def shortest(matrix: Float64, right: Float64) -> Float64:
    """Return the shortest least-squares solution: a correction that is no larger than it must."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])
