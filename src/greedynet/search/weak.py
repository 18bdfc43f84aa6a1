"""The weak greedy algorithm: an atom within a factor `t` of the best, from part of the dictionary.

Section 2.1 of the paper names it as the way out where the dictionary is large. Nearby points of the
sphere give nearby atoms, so the atoms are sorted into groups, each with a leader. If `delta` is the
largest distance of a member from its leader `g`, then for every member `h` of the group

    || <r, h> ||            <=  || <r, g> || + || r || delta            (rule "oga")
    || <r, h> || / || Ph ||  <=  (|| <r, g> || + || r || delta) / (|| Pg || - delta)   (rule "ols")

with `P = I - QQ'`. Groups are looked at in the order of these bounds, and the search ends as soon
as the best atom seen reaches `t` times every bound that is left: the guarantee of the weak
algorithm, exact for `t = 1`, at the price of the leaders and of the groups that could not be
excluded.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from greedynet.dictionary import Dictionary
from greedynet.factor import Factor
from greedynet.search.base import Candidate, Rule, candidate, scores

Float64 = NDArray[np.float64]

GROUP_SIZE = 32


class WeakSearch:
    """An atom whose score is at least `weakness` times the best.

    Parameters
    ----------
    dictionary : Dictionary
        The atoms.
    rule : {"ols", "oga"}, default="ols"
        Which score; see `DictionarySearch`.
    weakness : float, default=0.7
        The `t` of the weak algorithm, in (0, 1].

    Attributes
    ----------
    n_seen : int
        Atoms looked at so far, leaders included, over all steps.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        rule: Rule = "ols",
        weakness: float = 0.7,
    ) -> None:
        self.dictionary = dictionary
        self.rule = rule
        self.weakness = weakness
        self.n_seen = 0
        self._groups = groups_of(dictionary.points)
        leaders = np.array([_leader(dictionary.points, group) for group in self._groups])
        self._leaders = np.ascontiguousarray(dictionary.columns(leaders).T)
        self._radii = np.array([self._radius(i) for i in range(len(leaders))])
        self._leaders_outside = np.ones(len(leaders))
        self._leaders_size = 0
        self._outside = np.ones(len(dictionary))
        self._size = np.zeros(len(leaders), dtype=np.intp)
        self._best = -1

    def propose(self, factor: Factor) -> Candidate | None:
        """Return an atom whose score is at least `weakness` times the best."""
        bounds = self._bounds(factor)
        best = 0.0
        for i in np.argsort(-bounds, kind="stable"):
            if best > 0 and best >= self.weakness * bounds[i]:
                break
            score = self._look(i, factor)
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

    def _radius(self, i: int) -> float:
        """Largest distance of a group's atoms from their leader: `|| h - g ||^2 = 2 - 2 <h, g>`."""
        products = self.dictionary.atoms(self._groups[i]) @ self._leaders[i]
        # Rounding of unit vectors enters under the root: allow for it.
        return float(np.sqrt(max(0.0, 2.0 - 2.0 * products.min()) + 1e-12))

    def _bounds(self, factor: Factor) -> Float64:
        """Upper bounds of the scores (not squared) within each group."""
        products = self._leaders @ factor.Q[:, self._leaders_size :]
        self._leaders_outside -= np.einsum("ij,ij->i", products, products)
        self._leaders_size = factor.size
        self.n_seen += len(self._leaders)
        most = np.linalg.norm(self._leaders @ factor.residual, axis=1)
        most += factor.residual_norm * self._radii
        if self.rule == "oga":
            return np.asarray(most)
        least = np.sqrt(np.maximum(self._leaders_outside, 0.0)) - self._radii
        return np.divide(most, least, out=np.full_like(most, np.inf), where=least > 0)

    def _look(self, i: int, factor: Factor) -> Float64:
        """Squared scores of a group's atoms, its outside norms brought up to date."""
        group = self._groups[i]
        atoms = self.dictionary.atoms(group)
        products = atoms @ factor.Q[:, self._size[i] :]
        self._outside[group] -= np.einsum("ij,ij->i", products, products)
        self._size[i] = factor.size
        self.n_seen += len(atoms)
        return scores(atoms @ factor.residual, self._outside[group], self.rule)


def grouped(points: Float64) -> NDArray[np.intp]:
    """Order in which nearby points stand together: the leaves of a tree of them, one by one."""
    return np.asarray(KDTree(points, leafsize=GROUP_SIZE).indices, dtype=np.intp)


def groups_of(points: Float64) -> list[slice]:
    """Runs of neighbouring points; good ones if the points stand in the order of `grouped`."""
    starts = range(0, len(points), GROUP_SIZE)
    return [slice(start, min(start + GROUP_SIZE, len(points))) for start in starts]


def _leader(points: Float64, group: slice) -> int:
    """The point of a group nearest to the group's mean."""
    members = points[group]
    return group.start + int(np.argmax(members @ members.mean(axis=0)))
