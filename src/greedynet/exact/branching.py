"""The largest value over regions with many moments, by branch and bound.

A region is enclosed by one without moments, whose largest value bounds its own. Where the bound
exceeds the largest value that was found, the region is divided into two, until its moments are few
enough for a choice, which a mixed-integer programme solves exactly.
"""

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from greedynet.exact.programme import TOLERANCE
from greedynet.exact.region import Region
from greedynet.support.types import Float64

# No programme but the last ones has more than this share of the time that is left.
_SHARE, _LEAST_SECONDS = 0.25, 0.5


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest value that was found, where it is, and a bound of all others.

    `region` has a choice for each column that `point`, a row of features, has values of.
    """

    value: float
    bound: float
    tolerance: float
    point: Float64
    region: Region


Solve = Callable[[Region, float], Largest]


Values = Callable[[Float64], Float64]


def largest(region: Region, solve: Solve, values: Values | None, seconds: float) -> Largest:
    """Return the largest value in a region.

    Parameters
    ----------
    solve : function of a region without moments and of seconds
        Returns the largest value in it, or minus infinity and a bound if time ran out before.
    values : function of rows of features, or None
        What is maximised, by which moments are chosen where all other columns are fixed. None for
        the moments that are nearest to those of an enclosing region.
    """
    if not region.moments:
        return solve(region, seconds)
    end = time.perf_counter() + seconds
    order = count()
    best = solve(region.sampled, _SHARE * seconds)
    heap: list[tuple[float, int, Region]] = [(-np.inf, next(order), region)]
    settled = -np.inf  # the largest bound of regions that cannot be divided
    while heap:
        bound = -heap[0][0]
        left = end - time.perf_counter()
        if bound <= max(best.value + best.tolerance, settled) or left <= 0:
            break
        _, _, node = heapq.heappop(heap)
        exact = node.exact
        if exact is None:
            found = solve(node.enclosed, _share_of(left))
            real = _at_moments(node, found, best, solve, values, end)
        else:
            found = real = solve(exact, _share_of(left))
        best = _better(best, real)
        bound = min(bound, found.bound)
        if (exact is not None and found.bound - found.value <= found.tolerance) or len(
            max(node.moments, key=len)
        ) == 1:
            settled = max(settled, bound)
        elif bound > best.value:
            for part in node.halves:
                heapq.heappush(heap, (-bound, next(order), part))
    left_bound = -heap[0][0] if heap else -np.inf
    return replace(best, bound=max(best.value, settled, left_bound))


def _share_of(left: float) -> float:
    return min(left, max(_SHARE * left, _LEAST_SECONDS))


def _at_moments(
    node: Region,
    found: Largest,
    best: Largest,
    solve: Solve,
    values: Values | None,
    end: float,
) -> Largest | None:
    """Return the largest value at the best moments for the rows of an enclosing region."""
    part, x, tried = node.at_moments(found.point, values or near(found.point))
    left = end - time.perf_counter()
    if left <= 0 or (values is not None and values(x[None])[0] <= best.value):
        return None
    real = solve(part, _share_of(left))
    if values is None:
        return real
    spread = TOLERANCE * (abs(real.value) + float(np.ptp(tried)))
    return replace(real, tolerance=max(real.tolerance, spread))


def near(x: Float64) -> Values:
    """Return how near rows are to a row, as a function that is largest there."""
    return lambda rows: -np.abs(rows - x).sum(axis=1)


def _better(a: Largest, b: Largest | None) -> Largest:
    if b is None or b.value <= a.value:
        return a
    return replace(b, tolerance=max(a.tolerance, b.tolerance))
