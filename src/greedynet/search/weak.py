"""The weak greedy algorithm: an atom within a factor `t` of the best, by a partial search.

Section 2.1 of the paper suggests it for large dictionaries. For an atom `g` that was evaluated some
steps ago, `c = <r, g>` and `p = || P g ||^2`, `P = I - QQ'`, of that step are known. The
orthonormal columns added since have reduced `p` by `alpha^2` and changed `c` by at most `alpha Z`,
where `Z` is the norm of the change of the residual. Its current score is at most

    || c || + alpha Z                              (rule "oga")
    (|| c || + alpha Z) / sqrt(p - alpha^2)        (rule "ols")

and `alpha` is bounded by `sqrt(p)`, and through a nearby atom: atoms are divided into groups, each
with a leader that is updated in every step, and `alpha <= alpha_leader + || g - leader ||`.

Groups are evaluated in the order of these bounds. The search ends as soon as the best score found
is at least `t` times every remaining bound: the guarantee of the weak algorithm.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.linalg.factor import Factor
from greedynet.search.atoms import Atoms
from greedynet.search.base import Proposal, Rule, proposal, scores
from greedynet.support.types import Float64

# A group is evaluated by one product of about this many elements; with smaller groups, the loop
# over them would cost more than the products.
GROUP_ELEMENTS = 2**16
MIN_GROUP = 16
# Arrays that change as neurons are accepted.
_REMEMBERED = ("_correlations", "_outside", "_known", "_residual_norms", "_leader_losses")


class WeakSearch:
    """Finds an atom whose score is at least `weakness` times the best.

    The atoms are in the order of `grouped`; `n_seen` of them, including leaders, were evaluated so
    far, over all steps.
    """

    def __init__(
        self, dictionary: Atoms, rule: Rule = "ols", weakness: float = 0.7, alpha: float = 0.0
    ) -> None:
        self.dictionary = dictionary
        self.rule = rule
        self.weakness = weakness
        self.alpha = alpha
        self.n_seen = 0
        size, n = group_size(dictionary.n_rows), len(dictionary)
        self._groups = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        self._group_of = np.repeat(np.arange(len(self._groups)), size)[:n]
        leaders = np.array([_leader(dictionary.points, g) for g in self._groups], dtype=np.intp)
        self._leaders = np.ascontiguousarray(dictionary.columns(leaders).T)
        self._distances = self._measure()
        self._correlations = np.zeros(n)
        self._outside = np.ones(n)
        # For each group: the number of columns and the norm of the residual at its last evaluation,
        # and the decrease of the leader's squared norm outside the span since then.
        self._known = np.zeros(len(self._groups), dtype=np.intp)
        self._residual_norms = np.full(len(self._groups), np.inf)
        self._leader_losses = np.zeros(len(self._groups))
        self._leaders_known = 0
        self._best = -1

    def propose(self, factor: Factor) -> Proposal | None:
        """Return an atom whose score is at least `weakness` times the best."""
        if len(self.dictionary) == 0:
            return None
        bounds = self._bounds(factor)
        best = 0.0
        for i in np.argsort(-bounds, kind="stable"):
            if best > 0 and best >= self.weakness * bounds[i]:
                break
            score = self._evaluated(i, factor)
            self.n_seen += len(score)
            top = int(np.argmax(score))
            if score[top] > best**2:
                best = float(np.sqrt(score[top]))
                self._best = self._groups[i].start + top
        return proposal(self.dictionary, self._best) if best > 0 else None

    def accept(self, factor: Factor) -> None:
        """Exclude the atom just used."""
        self._outside[self._best] = 0.0

    def reject(self) -> None:
        """Exclude the atom just proposed."""
        self._outside[self._best] = 0.0

    def memory(self) -> tuple[int, list[NDArray[Any]], tuple[int, int]]:
        """Return the atom just proposed, and the state of atoms and groups."""
        arrays = [getattr(self, name).copy() for name in _REMEMBERED]
        return self._best, arrays, (self._leaders_known, self.n_seen)

    def recall(self, factor: Factor, found: int, *rest: Any) -> Proposal:
        """Propose an atom found in an earlier run."""
        self._best = found
        if rest:
            arrays, (self._leaders_known, self.n_seen) = rest
            for name, array in zip(_REMEMBERED, arrays, strict=True):
                # A copy: this array is modified, the recorded one must not be.
                setattr(self, name, array.copy())
        return proposal(self.dictionary, found)

    def _measure(self) -> Float64:
        """Distance of every atom from its leader: `|| h - g ||^2 = 2 - 2 <h, g>`."""
        products = np.empty(len(self.dictionary))
        for group, leader in zip(self._groups, self._leaders, strict=True):
            products[group] = self.dictionary.atoms(group) @ leader
        # Allow for the rounding of unit vectors, which enters under the root.
        return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * products) + 1e-12)

    def _bounds(self, factor: Factor) -> Float64:
        """Return upper bounds of the scores (not squared) in each group."""
        lost = self._leaders @ factor.Q[:, self._leaders_known :]
        self._leader_losses += np.einsum("ij,ij->i", lost, lost)
        self._leaders_known = factor.size
        self.n_seen += len(self._leaders)
        norm = factor.residual_norm
        with np.errstate(invalid="ignore"):
            taken = np.sqrt(np.maximum(self._residual_norms**2 - norm**2, 0.0))
        group = self._group_of
        outside = np.maximum(self._outside, 0.0)
        alpha = np.minimum(np.sqrt(outside), np.sqrt(self._leader_losses)[group] + self._distances)
        alpha[taken[group] == 0] = 0.0
        bounds = self._correlations + alpha * taken[group]
        if self.rule == "ols":
            left = np.sqrt(np.maximum(outside - alpha**2, 0.0))
            bounds = np.divide(bounds, left, out=np.full_like(bounds, norm), where=left > 0)
        # No score exceeds the residual's norm; used atoms have none.
        bounds = np.where(self._outside > 0, np.minimum(bounds, norm), 0.0)
        starts = [g.start for g in self._groups]
        return np.where(np.isinf(self._residual_norms), norm, np.maximum.reduceat(bounds, starts))

    def _evaluated(self, i: int, factor: Factor) -> Float64:
        """Return the updated squared scores of the atoms of a group."""
        group = self._groups[i]
        atoms = self.dictionary.atoms(group)
        products = atoms @ factor.Q[:, self._known[i] :]
        self._outside[group] -= np.einsum("ij,ij->i", products, products)
        correlations = atoms @ factor.residual
        self._correlations[group] = np.linalg.norm(correlations, axis=1)
        self._known[i] = factor.size
        self._residual_norms[i] = factor.residual_norm
        self._leader_losses[i] = 0.0
        return scores(correlations, self._outside[group], self.rule, factor, self.alpha)


def group_size(n_rows: int) -> int:
    """Number of atoms in a group."""
    return max(MIN_GROUP, GROUP_ELEMENTS // max(1, n_rows))


def grouped(points: Float64, n_rows: int) -> NDArray[np.intp]:
    """Return an order in which each run of `group_size(n_rows)` points is close together.

    The points are halved recursively along the widest coordinate, at group boundaries.
    """
    size = group_size(n_rows)

    def halve(members: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        if len(members) <= size:
            return [members]
        widest = int(np.argmax(np.ptp(points[members], axis=0)))
        members = members[np.argsort(points[members, widest], kind="stable")]
        n_groups = -(-len(members) // size)
        middle = size * (n_groups // 2)
        return halve(members[:middle]) + halve(members[middle:])

    return np.concatenate(halve(np.arange(len(points))))


def _leader(points: Float64, group: slice) -> int:
    """Return the point of a group that is nearest to its mean."""
    members = points[group]
    return group.start + int(np.argmax(members @ members.mean(axis=0)))
