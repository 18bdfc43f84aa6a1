"""The continuous search: every threshold along many directions, then a local refinement.

No dictionary is sampled. In one dimension the scan alone finds the exact optimum.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, ReLU, degree_of
from greedynet.linalg.factor import Factor
from greedynet.rows.rows import Rows
from greedynet.search.base import TIE, Proposal, to_few_digits
from greedynet.search.polish import N_STEPS, Target, polish
from greedynet.search.scans import Group, ReluGroup, make_group
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

_T = TypeVar("_T")

N_POLISHED = 2

# Directions are scanned in groups of this many rows x directions, the unit of work of a thread.
_GROUP_ELEMENTS = 2**16


class ContinuousSearch:
    """Finds the neuron that lowers the error most, over all thresholds of a pool of directions.

    The best few are refined locally (`polish`), and the direction of every accepted neuron is added
    to the pool: in many dimensions, directions similar to the chosen ones matter most.

    A neuron must be active on `min_active` rows and, unless it is active on all, inactive on as
    many. `mirrored` says that the span contains the affine functions and the activation is
    piecewise linear, so that `u` and `-u` are equivalent. After a scan, `n_refined` neurons are
    refined. With a `weakness` below 1, by the weak greedy algorithm, one of these is taken later
    without another scan, as long as its score is at least this fraction of the best one then.
    """

    def __init__(
        self,
        rows: Rows,
        directions: Float64,
        min_active: int,
        *,
        mirrored: bool = True,
        activation: Activation | None = None,
        pool: Pool | None = None,
        n_refined: int = N_POLISHED,
        weakness: float = 1.0,
    ) -> None:
        self.rows = rows
        self.activation = activation or ReLU()
        self.min_active = min_active
        self.mirrored = mirrored
        self._pool = pool or Pool()
        self._X = np.ascontiguousarray(rows.X, dtype=np.float64)
        self._X1 = np.column_stack([self._X, np.ones(len(rows))])
        scale = rows.row_scale
        self._row_scale = None if scale is None else scale[:, None]
        weights = np.empty(0) if rows.weights is None else rows.weights
        self._make = make_group(self.activation, self._X, weights, mirrored=mirrored)
        self._groups: list[Group] = []
        self._n_refined, self._weakness = n_refined, weakness
        self._best: Float64 | None = None
        # Refined neurons that were not taken, and the least score with which they may be.
        self._waiting, self._least = np.empty((0, self._X1.shape[1])), np.inf
        # Neurons accepted since the last scan, whose directions are still to be added.
        self._accepted: list[Float64] = []
        # The columns that were taken off, with room for more.
        self._columns: NDArray[np.floating] = np.empty((len(rows), 0))
        self._seen = 0
        self._ended = False
        self._add(directions)

    def propose(self, factor: Factor) -> Proposal | None:
        """Return the best neuron; None if all lie in the span."""
        if self._ended:
            return None
        target = self._target(factor)
        if self._took_waiting(target):
            return self._proposal(target)
        self._update(factor)
        scores, W = self._scan(factor)
        # Of neurons that are equally good, the first is taken, irrespective of rounding.
        top = np.argsort(-to_few_digits(scores), kind="stable")[: self._n_refined]
        top = top[scores[top] > 0]
        if len(top) == 0:
            return None
        W, scored = polish(W[top], target, 0 if self._scan_is_exact else N_STEPS)
        best = int(np.argmax(to_few_digits(scored)))
        if not scored[best] > 0:
            return None
        self._best = W[best]
        if self._weakness < 1.0:
            self._waiting, self._least = np.delete(W, best, 0), self._weakness * float(scored[best])
        return self._proposal(target)

    def _took_waiting(self, target: Target) -> bool:
        """Take the best neuron that was refined after the last scan, if it is still good."""
        if not len(self._waiting):
            return False
        scored, _ = target.scores(self._waiting)
        best = int(np.argmax(to_few_digits(scored)))
        if not scored[best] >= self._least:
            return False
        self._best, self._waiting = self._waiting[best], np.delete(self._waiting, best, 0)
        return True

    def accept(self, factor: Factor) -> None:
        """Have the direction of the neuron added to the pool before the next scan."""
        if self._best is not None:
            self._accepted.append(self._best)

    def reject(self) -> None:
        """End the search: the components outside the span are rounding errors."""
        self._ended = True

    @property
    def _scan_is_exact(self) -> bool:
        """Whether nothing is left to refine: in one dimension, the scan of a ReLU covers all."""
        return self._X.shape[1] == 1 and isinstance(self._groups[0], ReluGroup)

    @property
    def directions(self) -> Float64:
        """The pool, with learned directions last."""
        return np.concatenate([group.directions for group in self._groups])

    def _add(self, directions: Float64) -> None:
        size = max(1, _GROUP_ELEMENTS // max(1, len(self._X)))

        def made(start: int) -> Group:
            group = self._make(directions[start : start + size])
            group.take_off(self._columns, self._seen)
            return group

        starts = range(0, len(directions), size)
        groups = self._pool.map(made, starts) if len(starts) > 1 else [made(0)]
        if self._groups and len(self._groups[-1].directions) + len(directions) <= size:
            self._groups[-1] = self._groups[-1].joined(groups[0])
        else:
            self._groups += groups

    def _update(self, factor: Factor) -> None:
        """Take new columns off all groups, and add the directions of accepted neurons."""
        new = self._weighted(factor.Q[:, self._seen :])
        new = np.ascontiguousarray(new, dtype=self._groups[0].precision)
        if new.shape[1]:
            self._map(lambda group: group.take_off(new, new.shape[1]))
            self._note(new)
        accepted, self._accepted = self._accepted, []
        if accepted and self._X.shape[1] > 1:
            found = np.array(accepted)[:, :-1]
            self._add(found / np.linalg.norm(found, axis=1, keepdims=True))

    def _note(self, new: NDArray[np.floating]) -> None:
        """Keep columns that were taken off, row by row: rows are read in many orders."""
        seen = self._seen + new.shape[1]
        if seen > self._columns.shape[1]:
            columns = np.empty((len(new), 2 * seen), dtype=new.dtype)
            columns[:, : self._seen] = self._columns[:, : self._seen]
            self._columns = columns
        self._columns[:, self._seen : seen] = new
        self._seen = seen

    def _weighted(self, columns: Float64) -> Float64:
        """Return columns times the square roots of the weights, for the scan."""
        return columns if self._row_scale is None else columns * self._row_scale

    def _scan(self, factor: Factor) -> tuple[Float64, Float64]:
        residual = np.ascontiguousarray(self._weighted(factor.residual).T)
        limit = factor.dependent**2

        found = self._map(lambda group: group.scan(residual, self.min_active, limit))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _map(self, function: Callable[[Group], _T]) -> list[_T]:
        # For a single group, a thread would cost more than the work.
        if len(self._groups) == 1:
            return [function(self._groups[0])]
        return self._pool.map(function, self._groups)

    def _target(self, factor: Factor) -> Target:
        return Target(
            self._X1,
            self._row_scale,
            factor,
            self.min_active,
            all_active=not self.mirrored,
            activation=self.activation,
            pool=self._pool,
        )

    def _proposal(self, target: Target) -> Proposal | None:
        assert self._best is not None
        W = np.array([self._best, -self._best])
        columns = target.columns(W)
        norms = np.linalg.norm(columns, axis=0)
        # With an affine term, the mirror image is equivalent: take the one of smaller norm.
        i = int(norms[1] < (1 - TIE) * norms[0]) if self.mirrored else 0
        degree, norm = degree_of(self.activation), float(norms[i])
        if norm == 0.0:
            return None  # active on rows of negligible weight only
        length = 1.0 if degree is None else float(np.linalg.norm(W[i]))
        return Proposal(
            point=W[i] / length,
            norm=norm / length ** (degree or 0),
            column=columns[:, i] / norm,
            index=-1,
        )
