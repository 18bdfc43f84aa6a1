"""Searches of a dictionary: the best atom (GSN 3), or by the weak greedy algorithm a good one."""

import numpy as np
from numpy.typing import NDArray

from greedynet.linalg.factor import Factor
from greedynet.search.base import Proposal
from greedynet.search.dictionary import Atoms, Rule
from greedynet.support.types import Float64

# Relative decrease of the residual after which updated correlations would be inaccurate.
REFRESH_FALL = 1e-3
REFRESH_STEPS = 64


def scores(
    correlations: Float64, outside: Float64, rule: Rule, factor: Factor, alpha: float = 0.0
) -> Float64:
    """Return the squared score of every atom, with the norm over several outputs.

        OGA:  || <r, g> ||^2          OLS:  || <r, g> ||^2 / (|| (I - QQ') g ||^2 + alpha)

    The second is the decrease of the penalised squared error.

    `correlations` are the `<r, g_j>` for each output, and `outside` the `|| (I - QQ') g_j ||^2`.
    Atoms that the factor would reject as dependent get no score.
    """
    squares = np.einsum("ij,ij->i", correlations, correlations)
    free = outside > factor.dependent**2
    if rule == "ols":
        np.divide(squares, outside + alpha, out=squares, where=free)
    squares[~free] = -1.0
    return squares


class _AtomSearch:
    """A search that excludes the atom it proposed, whether it was taken or not."""

    dictionary: Atoms
    _outside: Float64
    _best: int

    def accept(self, factor: Factor) -> None:
        self._outside[self._best] = 0.0

    def reject(self) -> None:
        self._outside[self._best] = 0.0

    def _proposal(self) -> Proposal:
        atom = self._best
        return Proposal(
            point=self.dictionary.points[atom],
            norm=float(self.dictionary.norms[atom]),
            column=self.dictionary.columns(np.array([atom]))[:, 0],
            index=int(self.dictionary.labels[atom]),
        )


class DictionarySearch(_AtomSearch):
    """Finds the best atom by OGA or OLS, updated by one product with the dictionary per step.

    With `c = D' r` and `p_j = || (I - QQ') g_j ||^2`, a new orthonormal column `q` with
    projections `z = q' y` changes them to

        a = D' q,    c <- c - a z',    p <- p - a^2.

    Rounding errors in `c` accumulate relative to the target while the residual shrinks, so `c` is
    recomputed when the residual has decreased a thousandfold, and every 64 steps.

    The rule "oga" takes the largest inner product with the residual (Section 2.1 of the paper), of
    atoms that are normalised in the l_p norm of the `power`; "ols" takes the largest one after
    projection and renormalisation, the atom that lowers the error most, given the ridge `alpha` on
    the outer weights.
    """

    def __init__(
        self,
        dictionary: Atoms,
        rule: Rule = "ols",
        alpha: float = 0.0,
        power: float = 2.0,
    ) -> None:
        self.dictionary = dictionary
        self.rule = rule
        self.alpha = alpha
        self._correlations: Float64 | None = None
        self._outside = np.ones(len(dictionary))
        self._seen = 0
        self._since_refresh = 0
        self._fresh_norm = 0.0
        self._best = -1
        banach = rule == "oga" and power != 2.0
        self._lengths = dictionary.lengths(power) if banach else None

    def propose(self, factor: Factor) -> Proposal | None:
        """Return the atom with the best score, the first in case of ties."""
        if len(self.dictionary) == 0:
            return None
        score = scores(self._update(factor), self._outside, self.rule, factor, self.alpha)
        if self._lengths is not None:
            score /= self._lengths**2
        self._best = int(np.argmax(score))
        if not score[self._best] > 0:
            return None
        return self._proposal()

    def _update(self, factor: Factor) -> Float64:
        """Update outside norms and correlations; return the correlations."""
        new = factor.size - self._seen
        if new:
            products = self.dictionary.correlate(factor.Q[:, self._seen :])
            self._outside -= np.einsum("ij,ij->i", products, products)
            if self._correlations is not None:
                self._correlations -= products @ factor.z[self._seen :]
            self._seen = factor.size
            self._since_refresh += new
        norm = factor.residual_norm
        stale = self._since_refresh >= REFRESH_STEPS or norm < REFRESH_FALL * self._fresh_norm
        if self._correlations is None or stale or not factor.follows_projection:
            self._correlations = self.dictionary.correlate(factor.residual)
            self._since_refresh, self._fresh_norm = 0, norm
        return self._correlations


# A group is evaluated by one product of about this many elements; with smaller groups, the loop
# over them would cost more than the products.
GROUP_ELEMENTS = 2**16
MIN_GROUP = 16


class WeakSearch(_AtomSearch):
    """Finds an atom whose score is at least `weakness`, the `t` below, times the best.

    Section 2.1 of the paper suggests this algorithm for large dictionaries. For an atom `g` that
    was evaluated some steps ago, `c = <r, g>` and `p = || P g ||^2`, `P = I - QQ'`, of that step
    are known. The orthonormal columns added since have reduced `p` by `alpha^2` and changed `c` by
    at most `alpha Z`, where `Z` is the norm of the change of the residual. Its current score is at
    most

        || c || + alpha Z                              (rule "oga")
        (|| c || + alpha Z) / sqrt(p - alpha^2)        (rule "ols")

    and `alpha` is bounded by `sqrt(p)`, and through a nearby atom: atoms are divided into groups,
    each with a leader that is updated in every step, and `alpha <= alpha_leader + || g - leader
    ||`.

    Groups are evaluated in the order of these bounds. The search ends as soon as the best score
    found is at least `t` times every remaining bound: the guarantee of the weak algorithm.

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
        return self._proposal() if best > 0 else None

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
