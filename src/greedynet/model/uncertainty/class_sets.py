"""`ClassSets`: which classes a new row may have, learned from held-out rows.

The score of a row is `1 - p`, where `p` is the probability of its class. With the quantile `q` of
level `c (n + 1) / n` of the scores of `n` held-out rows, the set of all classes with `1 - p <= q`
contains the class of a new row with a probability of at least `c`: split conformal prediction. The
most likely class is always in the set, which can only increase the coverage.

Networks of folds made the `p` of held-out rows, and another network those of new rows. Where `p`
hardly depends on the row, as for shares of the classes, a small difference between them decides
whether a class is in all sets or in none. So `q` is at least the same quantile of the scores that
the network which was kept gives its training rows: sets that do not cover these cover no others.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.logistic import probabilities
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.model.uncertainty.calibration import (
    CalibrationData,
    Scores,
    known_rows,
    n_alike,
    quantiles,
    row_weights,
)
from greedynet.support.errors import FewHeldOutRowsWarning
from greedynet.support.types import Float64

# Probabilities that differ by less are the same: classes of equal shares are in a set together.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ClassSets:
    """Scores of the classes of held-out rows."""

    scores: Scores
    n_rows: int  # number of different rows that were held out
    by_width: tuple[Scores, ...] = ()  # of the networks of every width of the path

    @staticmethod
    def of(evidence: CalibrationData, path: SelectionPath) -> "ClassSets | None":
        """Return the scores that new rows may have; None if no row was held out."""
        held_out, rows = evidence.held_out, evidence.rows
        if held_out is None:
            return None

        def scores(logits: Float64, network: Network) -> Scores:
            held = _scores(logits, held_out.Y[: len(logits)])
            n = n_alike(held, held_out) if len(held) == len(held_out.Y) else float(len(held))
            found = Scores.of(held, held_out.weights[: len(held)], n)
            trained = _scores(network.predict(rows.X).reshape(rows.Y.shape), rows.Y)
            levels = np.arange(1, len(found.quantiles) + 1) / len(found.quantiles)
            least = quantiles(trained, row_weights(rows), levels)
            return replace(found, quantiles=np.maximum(found.quantiles, least))

        networks = [path.network_at(n_nodes) for n_nodes in path.n_nodes.tolist()]
        by_width = tuple(map(scores, evidence.by_width, networks))
        return ClassSets(scores(held_out.predictions, path.kept), held_out.n_rows, by_width)

    def at_width(self, position: int) -> "ClassSets":
        """Return the scores of the network of a width of the path."""
        return ClassSets(self.by_width[position], self.n_rows, self.by_width[: position + 1])

    def sets(self, p: Float64, coverage: float) -> NDArray[np.bool_]:
        """Return which classes are in the sets, given their probabilities."""
        chosen = 1.0 - p <= self.scores.bound(coverage) + _ROUNDING
        chosen[np.arange(len(p)), p.argmax(axis=1)] = True
        return np.asarray(chosen)

    def warn_if_few(self, coverage: float) -> None:
        """Warn if there are too few held-out rows for a coverage."""
        if self.scores.suffices(coverage):
            return
        warnings.warn(
            f"`coverage`={coverage} is more than "
            f"{known_rows(self.n_rows, self.scores.n_rows)} can tell: the sets "
            "contain every class that is as likely as the least likely class of these rows, and "
            "may cover less. Fit more rows, or write a smaller coverage.",
            FewHeldOutRowsWarning,
            stacklevel=3,
        )


def _scores(logits: Float64, Y: Float64) -> Float64:
    """Return `1 - p` of the classes of rows."""
    of_class = Y if Y.shape[1] > 1 else np.hstack([1 - Y, Y])
    return np.asarray(1.0 - (probabilities(logits) * of_class).sum(axis=1))
