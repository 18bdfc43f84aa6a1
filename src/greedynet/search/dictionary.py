"""The search of the paper: the best atom of a fixed dictionary, one product per step (GSN 3)."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from greedynet.linalg.factor import Factor
from greedynet.search.atoms import MEMORY_BUDGET, Atoms
from greedynet.search.base import RULES, Proposal, Rule, proposal, scores
from greedynet.search.ridgelet import THRESHOLD, check_dimension
from greedynet.support.checks import check_float, check_matrix
from greedynet.support.types import Float64

# Relative decrease of the residual after which updated correlations would be inaccurate.
REFRESH_FALL = 1e-3
REFRESH_STEPS = 64


class Dictionary(BaseEstimator):
    """The search of the paper, as `search=` of the estimators: the best of many sampled neurons.

    Points `(a, b)` on the unit sphere of `d + 1` dimensions are the neurons `sigma(a . x + b)`.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features + 1) or None, default=None
        Points on the sphere, bias last, for inputs in their original units. None to sample them for
        inputs scaled to [-1, 1].
    n_points : int or None, default=None
        Number of points to sample; None for the paper's 10,000 per feature, but at most 50,000 and,
        beyond 2,000, no more than fit into `memory_budget`.
    rule : {"ols", "oga"}, default="ols"
        How neurons are ranked. "oga" is the orthogonal greedy algorithm (orthogonal matching
        pursuit): the largest inner product with the residual. "ols" is orthogonal least squares:
        the neuron that lowers the error most. It costs the same and gives better networks.
    weakness : float, default=1.0
        Below 1, the weak greedy algorithm: a neuron whose score is at least this fraction of the
        best is accepted as soon as it is found, without searching the whole dictionary.
    reduction : float, "ridgelet" or None, default=None
        Omit points whose collapsed ridgelet transform is below this fraction of its maximum, for
        one or two features. "ridgelet" is the paper's 0.001.
    min_active : int or None, default=None
        Minimum number of training rows on which a neuron must be active and, unless it is active on
        all rows, inactive, which prevents wild behaviour between the data. None for 1 if `points`
        are given, for the number of features if the network is corrected, and otherwise for 1 % of
        the rows and at least 3.
    memory_budget : int, default=4294967296
        Maximum size of the dictionary in bytes; the part beyond it is recomputed in every step.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.search import Dictionary
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = GreedyNetRegressor(12, search=Dictionary(n_points=2000)).fit(x, np.sin(5 * x[:, 0]))
    >>> model.n_nodes_
    12
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "points": ["array-like", None],
        "n_points": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions(set(RULES))],
        "weakness": [Interval(Real, 0, 1, closed="right")],
        "reduction": [Interval(Real, 0, 1, closed="left"), StrOptions({"ridgelet"}), None],
        "min_active": [Interval(Integral, 1, None, closed="left"), None],
        "memory_budget": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        points: ArrayLike | None = None,
        *,
        n_points: int | None = None,
        rule: Rule = "ols",
        weakness: float = 1.0,
        reduction: float | Literal["ridgelet"] | None = None,
        min_active: int | None = None,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        self.points = points
        self.n_points = n_points
        self.rule = rule
        self.weakness = weakness
        self.reduction = reduction
        self.min_active = min_active
        self.memory_budget = memory_budget

    @property
    def threshold(self) -> float | None:
        """The fraction of the largest transform below which points are omitted; None for none."""
        return THRESHOLD if self.reduction == "ridgelet" else self.reduction

    def check(self, n_features: int) -> None:
        """Raise an error for parameters that are wrong, by themselves or for so many inputs."""
        for name, value in self.get_params().items():
            check_float(value, name)
        self._validate_params()
        if self.reduction is not None:
            check_dimension(n_features)
        if self.points is not None:
            n_columns = check_matrix(self.points, "points").shape[1]
            if n_columns != n_features + 1:
                raise ValueError(
                    f"`points` must have {n_features + 1} columns, {n_features} weights and the "
                    f"bias last, got {n_columns}."
                )


class DictionarySearch:
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
        return proposal(self.dictionary, self._best)

    def accept(self, factor: Factor) -> None:
        """Exclude the atom just used; the rest is updated by the next proposal."""
        self._outside[self._best] = 0.0

    def reject(self) -> None:
        """Exclude the atom just proposed."""
        self._outside[self._best] = 0.0

    def memory(self) -> tuple[int, Float64 | None, Float64, tuple[int, int, float]]:
        """Return the atom just proposed, and the state of all atoms."""
        known = None if self._correlations is None else self._correlations.copy()
        counts = (self._seen, self._since_refresh, self._fresh_norm)
        return self._best, known, self._outside.copy(), counts

    def recall(self, factor: Factor, found: int, *rest: Any) -> Proposal:
        """Propose an atom found in an earlier run."""
        self._best = found
        if rest:
            known, outside, counts = rest
            # Copies: these arrays are modified, the recorded ones must not be.
            self._correlations = None if known is None else known.copy()
            self._outside = outside.copy()
            self._seen, self._since_refresh, self._fresh_norm = counts
        return proposal(self.dictionary, found)

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
