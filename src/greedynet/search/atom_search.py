"""The search of a dictionary: the best atom (GSN 3)."""

import numpy as np

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
        atom = self._best
        return Proposal(
            point=self.dictionary.points[atom],
            norm=float(self.dictionary.norms[atom]),
            column=self.dictionary.columns(np.array([atom]))[:, 0],
            index=int(self.dictionary.labels[atom]),
        )

    def accept(self, factor: Factor) -> None:
        self._outside[self._best] = 0.0

    def reject(self) -> None:
        self._outside[self._best] = 0.0

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
