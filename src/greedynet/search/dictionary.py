"""The search of the paper: the best atom of a fixed dictionary, one product per step (GSN 3)."""

from typing import Any

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.search.atoms import Dictionary
from greedynet.search.base import Candidate, Rule, candidate, scores
from greedynet.support.types import Float64

# Relative decrease of the residual after which updated correlations would be inaccurate.
REFRESH_FALL = 1e-3
REFRESH_STEPS = 64


class DictionarySearch:
    """Finds the best atom by OGA or OLS, updated by one product with the dictionary per step.

    With `c = D' r` and `p_j = || (I - QQ') g_j ||^2`, a new orthonormal column `q` with
    projections `z = q' y` changes them to

        a = D' q,    c <- c - a z',    p <- p - a^2.

    Rounding errors in `c` accumulate relative to the target while the residual shrinks, so `c` is
    recomputed when the residual has decreased a thousandfold, and every 64 steps.

    Parameters
    ----------
    dictionary : Dictionary
        The atoms.
    rule : {"ols", "oga"}, default="ols"
        "oga" takes the largest inner product with the residual (Section 2.1 of the paper); "ols"
        takes the largest one after projection and renormalisation, the atom that lowers the error
        most.
    alpha : float, default=0.0
        Ridge on the outer weights; it enters the score of "ols".
    power : float, default=2.0
        The `p` of the l_p norm in which atoms are normalised for the rule "oga".
    """

    def __init__(
        self,
        dictionary: Dictionary,
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

    def propose(self, factor: Factor) -> Candidate | None:
        """Return the atom with the best score, the first in case of ties."""
        if len(self.dictionary) == 0:
            return None
        score = scores(self._update(factor), self._outside, self.rule, factor, self.alpha)
        if self._lengths is not None:
            score /= self._lengths**2
        self._best = int(np.argmax(score))
        if not score[self._best] > 0:
            return None
        return candidate(self.dictionary, self._best)

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

    def recall(self, factor: Factor, found: int, *rest: Any) -> Candidate:
        """Propose an atom found in an earlier run."""
        self._best = found
        if rest:
            known, outside, counts = rest
            # Copies: these arrays are modified, the recorded ones must not be.
            self._correlations = None if known is None else known.copy()
            self._outside = outside.copy()
            self._seen, self._since_refresh, self._fresh_norm = counts
        return candidate(self.dictionary, found)

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
