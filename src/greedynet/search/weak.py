"""The weak greedy algorithm: an atom within a factor `t` of the best, from part of the dictionary.

Section 2.1 of the paper names it as the way out where the dictionary is large. An atom `g` that was
looked at some steps ago is known by `c = <r, g>` and `p = || P g ||^2`, `P = I - QQ'`, of then. The
orthonormal columns that came since have taken `alpha^2` from `p` and changed `c` by at most
`alpha Z`, where `Z` is the norm of what they took from the residual. Its score now is at most

    || c || + alpha Z                              (rule "oga")
    (|| c || + alpha Z) / sqrt(p - alpha^2)        (rule "ols")

and `alpha` is bounded by `sqrt(p)`, and by what a nearby atom lost: atoms are sorted into groups,
each with a leader that is kept up to date, and `alpha <= alpha_leader + || g - leader ||`.

Groups are looked at in the order of these bounds. The search ends as soon as the best atom seen
reaches `t` times every bound that is left: the guarantee of the weak algorithm.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.linalg.factor import Factor
from greedynet.search.atoms import Dictionary
from greedynet.search.base import Candidate, Rule, candidate, scores
from greedynet.support.types import Float64

# A group is looked at by one product of about this many elements, or the loop over groups would
# cost more than the products.
GROUP_ELEMENTS = 2**16
MIN_GROUP = 16
# Arrays that change as neurons are taken.
_REMEMBERED = ("_correlations", "_outside", "_known", "_residual_norms", "_leader_losses")


class WeakSearch:
    """An atom whose score is at least `weakness` times the best.

    Parameters
    ----------
    dictionary : Dictionary
        The atoms, in the order of `grouped`.
    rule : {"ols", "oga"}, default="ols"
        Which score; see `DictionarySearch`.
    weakness : float, default=0.7
        The `t` of the weak algorithm, in (0, 1].
    alpha : float, default=0.0
        Ridge on the outer weights; it enters the score of "ols".

    Attributes
    ----------
    n_seen : int
        Atoms looked at so far, leaders included, over all steps.
    """

    def __init__(
        self, dictionary: Dictionary, rule: Rule = "ols", weakness: float = 0.7, alpha: float = 0.0
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
        # For each group: columns of the factor known at its last look, what they left of the
        # residual, and what the leader has lost to the columns since.
        self._known = np.zeros(len(self._groups), dtype=np.intp)
        self._residual_norms = np.full(len(self._groups), np.inf)
        self._leader_losses = np.zeros(len(self._groups))
        self._leaders_known = 0
        self._best = -1

    def propose(self, factor: Factor) -> Candidate | None:
        """Return an atom whose score is at least `weakness` times the best."""
        if len(self.dictionary) == 0:
            return None
        bounds = self._bounds(factor)
        best = 0.0
        for i in np.argsort(-bounds, kind="stable"):
            if best > 0 and best >= self.weakness * bounds[i]:
                break
            score = self._look(i, factor)
            self.n_seen += len(score)
            top = int(np.argmax(score))
            if score[top] > best**2:
                best = float(np.sqrt(score[top]))
                self._best = self._groups[i].start + top
        return candidate(self.dictionary, self._best) if best > 0 else None

    def accept(self, factor: Factor) -> None:
        """Forget the atom just used."""
        self._outside[self._best] = 0.0

    def reject(self) -> None:
        """Forget the atom just proposed."""
        self._outside[self._best] = 0.0

    def memory(self) -> tuple[int, list[NDArray[Any]], tuple[int, int]]:
        """Return the atom just proposed, and what is known of atoms and groups."""
        arrays = [getattr(self, name).copy() for name in _REMEMBERED]
        return self._best, arrays, (self._leaders_known, self.n_seen)

    def recall(self, factor: Factor, found: int, *rest: Any) -> Candidate:
        """Propose an atom that an earlier run found."""
        self._best = found
        if rest:
            arrays, (self._leaders_known, self.n_seen) = rest
            for name, array in zip(_REMEMBERED, arrays, strict=True):
                # A copy: it changes, and what is remembered must not.
                setattr(self, name, array.copy())
        return candidate(self.dictionary, found)

    def _measure(self) -> Float64:
        """Distance of every atom from its leader: `|| h - g ||^2 = 2 - 2 <h, g>`."""
        products = np.empty(len(self.dictionary))
        for group, leader in zip(self._groups, self._leaders, strict=True):
            products[group] = self.dictionary.atoms(group) @ leader
        # Rounding of unit vectors enters under the root: allow for it.
        return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * products) + 1e-12)

    def _bounds(self, factor: Factor) -> Float64:
        """Upper bounds of the scores (not squared) in each group."""
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

    def _look(self, i: int, factor: Factor) -> Float64:
        """Squared scores of a group's atoms, brought up to date."""
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
    """Atoms in a group."""
    return max(MIN_GROUP, GROUP_ELEMENTS // max(1, n_rows))


def grouped(points: Float64, n_rows: int) -> NDArray[np.intp]:
    """Order in which runs of `group_size(n_rows)` points are near each other.

    The widest coordinate is halved again and again, on borders of groups, until a group is left.
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
    """The point of a group nearest to the group's mean."""
    members = points[group]
    return group.start + int(np.argmax(members @ members.mean(axis=0)))
