"""`ClassSets`: which classes a new row may have, learned from held-out rows.

The score of a row is `1 - p`, where `p` is the probability of its class. With the quantile `q` of
level `c (n + 1) / n` of the scores of `n` held-out rows, the set of all classes with `1 - p <= q`
contains the class of a new row with a probability of at least `c`: split conformal prediction. The
most likely class is always in the set, which can only increase the coverage.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.model.uncertainty.intervals import n_alike
from greedynet.model.uncertainty.scores import Scores
from greedynet.support.errors import FewHeldOutRowsWarning
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class ClassSets:
    """Scores of the classes of held-out rows.

    Attributes
    ----------
    scores : Scores
    n_rows : int
        Number of different rows that were held out.
    """

    scores: Scores
    n_rows: int

    @staticmethod
    def of(unseen: Unseen | None) -> "ClassSets | None":
        """Return the scores of held-out rows, given their classes and logits; None without."""
        if unseen is None:
            return None
        p = probabilities(unseen.predictions)
        of_class = unseen.Y if unseen.Y.shape[1] > 1 else np.hstack([1 - unseen.Y, unseen.Y])
        scores = 1.0 - (p * of_class).sum(axis=1)
        return ClassSets(Scores.of(scores, unseen.weights, n_alike(unseen)), unseen.n_rows)

    def sets(self, p: Float64, coverage: float) -> NDArray[np.bool_]:
        """Return which classes are in the sets, given their probabilities."""
        chosen = 1.0 - p <= self.scores.bound(coverage)
        chosen[np.arange(len(p)), p.argmax(axis=1)] = True
        return np.asarray(chosen)

    def warn_if_few(self, coverage: float) -> None:
        """Warn if there are too few held-out rows for a coverage."""
        if self.scores.suffices(coverage):
            return
        warnings.warn(
            f"`coverage`={coverage} is more than {self.n_rows} held-out rows can tell: the sets "
            "contain every class that is as likely as the least likely class of these rows, and "
            "may cover less. Fit more rows, or write a smaller coverage.",
            FewHeldOutRowsWarning,
            stacklevel=3,
        )
