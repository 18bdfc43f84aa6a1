"""The continuous search: every threshold along many directions, then polish.

No dictionary is sampled. In one dimension the scan alone is the exact optimum.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.data import Rows
from greedynet.factor import Factor
from greedynet.search import scan
from greedynet.search.base import Candidate
from greedynet.search.polish import N_STEPS, Target, polish
from greedynet.threads import Pool

Float64 = NDArray[np.float64]
_T = TypeVar("_T")

N_POLISHED = 2
# Beyond so many inputs the d x d systems of a step cost more than they bring.
MAX_POLISHED_FEATURES = 1_000

# Directions are scanned in groups of this many rows x directions: each a unit of work for a thread.
_GROUP_ELEMENTS = 2**16


class ContinuousSearch:
    """The neuron that lowers the error most, over all thresholds of a pool of directions.

    The best few are polished off the pool, and the direction of every neuron that is taken joins
    it: in many dimensions, chosen directions are the ones that matter.

    Parameters
    ----------
    rows : Rows
        Scaled training rows.
    directions : ndarray of shape (m, d)
        Unit vectors.
    min_active : int
        Rows on which a neuron must be active, and not active unless it is active on all.
    mirrored : bool
        Whether the span holds the affine functions, so that `u` and `-u` are one direction.
    pool : Pool or None
        Threads.
    """

    def __init__(
        self,
        rows: Rows,
        directions: Float64,
        min_active: int,
        *,
        mirrored: bool = True,
        pool: Pool | None = None,
    ) -> None:
        self.rows = rows
        self.min_active = min_active
        self.mirrored = mirrored
        self._pool = pool or Pool()
        self._X = np.ascontiguousarray(rows.X, dtype=np.float64)
        self._X1 = np.column_stack([self._X, np.ones(len(rows))])
        scale = rows.row_scale
        self._row_scale = None if scale is None else scale[:, None]
        self._weights = np.empty(0) if rows.weights is None else rows.weights
        self._groups: list[_Group] = []
        self._best: Float64 | None = None
        self._seen = 0
        self._ended = False
        self._add(directions)

    def propose(self, factor: Factor) -> Candidate | None:
        """Return the best neuron; None if none is outside the span."""
        if self._ended:
            return None
        self._take_off(factor)
        scores, thresholds = self._scan(factor)
        top = np.argsort(-scores, kind="stable")[:N_POLISHED]
        top = top[scores[top] > 0]
        if len(top) == 0:
            return None
        W = np.column_stack([self.directions[top], -thresholds[top]])
        target = Target(
            self._X1, self._row_scale, factor, self.min_active, all_active=not self.mirrored
        )
        # In one dimension the scan has seen every neuron there is.
        polished = 1 < self._X.shape[1] <= MAX_POLISHED_FEATURES
        W, judged = polish(W, target, N_STEPS if polished else 0)
        best = int(np.argmax(judged))
        if not judged[best] > 0:
            return None
        self._best = W[best]
        return self._candidate(target)

    def accept(self, factor: Factor) -> None:
        """Let the direction of the neuron join the pool."""
        if self._best is not None and self._X.shape[1] > 1:
            u = self._best[:-1]
            self._add((u / np.linalg.norm(u))[None, :], factor.Q[:, : self._seen])

    def reject(self) -> None:
        """End the search: what is left outside the span is rounding."""
        self._ended = True

    @property
    def directions(self) -> Float64:
        """The pool, learned directions last."""
        return np.concatenate([group.directions for group in self._groups])

    def _add(self, directions: Float64, Q: Float64 | None = None) -> None:
        if not self.mirrored:
            directions = np.concatenate([directions, -directions])
        size = max(1, _GROUP_ELEMENTS // max(1, len(self._X)))
        starts = range(0, len(directions), size)
        groups = [
            _Group(directions[i : i + size], self._X, self._weights, self._weighted(Q))
            for i in starts
        ]
        if self._groups and len(self._groups[-1].directions) + len(directions) <= size:
            self._groups[-1] = self._groups[-1].joined(groups[0])
        else:
            self._groups += groups

    def _weighted(self, Q: Float64 | None) -> Float64:
        """Columns as the scan takes them: rows, times the square roots of the weights."""
        if Q is None or Q.shape[1] == 0:
            return np.empty((0, len(self._X)))
        return np.ascontiguousarray((Q if self._row_scale is None else Q * self._row_scale).T)

    def _take_off(self, factor: Factor) -> None:
        new = self._weighted(factor.Q[:, self._seen :])
        self._seen = factor.size
        if len(new):
            self._map(lambda group: group.take_off(new))

    def _scan(self, factor: Factor) -> tuple[Float64, Float64]:
        residual = self._weighted(factor.residual)
        limit = factor.dependent**2

        def look(group: "_Group") -> tuple[Float64, Float64]:
            return group.scan(
                self._weights, residual, self.min_active, limit, wide=not self.mirrored
            )

        found = self._map(look)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _map(self, function: "Callable[[_Group], _T]") -> "list[_T]":
        # One group is less work than waking a thread.
        if len(self._groups) == 1:
            return [function(self._groups[0])]
        return self._pool.map(function, self._groups)

    def _candidate(self, target: Target) -> Candidate:
        assert self._best is not None
        W = np.array([self._best, -self._best])
        columns = target.columns(W)
        norms = np.linalg.norm(columns, axis=0)
        # Beside an affine term the mirror image is the same to the span: take the smaller one.
        i = int(norms[1] < norms[0]) if self.mirrored else 0
        length, norm = float(np.linalg.norm(W[i])), float(norms[i])
        return Candidate(
            point=W[i] / length, norm=norm / length, column=columns[:, i] / norm, index=-1
        )


class _Group:
    """Some directions with their sorted projections and what lies outside the span."""

    def __init__(self, directions: Float64, X: Float64, weights: Float64, columns: Float64) -> None:
        self.directions = directions
        projections = directions @ X.T
        order = np.argsort(-projections, axis=1, kind="stable")
        self._values = np.take_along_axis(projections, order, axis=1)
        self._order = order.astype(np.uint32)
        self._outside = np.empty((*self._values.shape, 3))
        scan.measure(self._values, self._order, weights, self._outside)
        self.take_off(columns)

    def joined(self, other: "_Group") -> "_Group":
        """Both as one."""
        both = object.__new__(_Group)
        for name in ("directions", "_values", "_order", "_outside"):
            setattr(both, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        return both

    def take_off(self, columns: Float64) -> None:
        scan.take_off(self._values, self._order, columns, self._outside)

    def scan(
        self, weights: Float64, residual: Float64, min_active: int, dependent: float, *, wide: bool
    ) -> tuple[Float64, Float64]:
        """Best score of each direction and its threshold."""
        scores, thresholds = np.empty(len(self._values)), np.empty(len(self._values))
        reach = (float(np.ptp(self._values)) or 1.0) if wide else 0.0
        scan.best_thresholds(
            self._values,
            self._order,
            weights,
            residual,
            self._outside,
            min_active,
            reach,
            dependent,
            scores,
            thresholds,
        )
        return scores, thresholds
