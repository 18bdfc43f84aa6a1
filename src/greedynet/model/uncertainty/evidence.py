"""`Evidence`: what a fit leaves behind for the intervals, while it lasts; nothing here is saved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.model.ladder import Ladder
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.types import Float64

LEAST_WEIGHT = 1e-12
# In place of infinite predictions.
_FAR = 1e300


@dataclass(frozen=True, eq=False)
class Unseen:
    """Predictions of rows that the networks which made them had not seen.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        In original units.
    Y, predictions : ndarray of shape (n, n_outputs)
        For a classifier, indicators of the classes and logits.
    weights : ndarray of shape (n,)
        Relative to the largest, and positive.
    n_rows : int
        Number of different rows among them: folds may hold out a row several times.
    share : float
        Share of all rows that the networks had not seen; 0 if the network that was kept made the
        predictions.
    line : ndarray of shape (n, n_outputs) or None
        For a classifier, logits of a logistic regression, if there was one.
    """

    X: NDArray[np.floating]
    Y: Float64
    predictions: Float64
    weights: Float64
    n_rows: int
    share: float = 0.0
    line: Float64 | None = None

    @staticmethod
    def of(rows: Rows, predictions: Float64) -> "Unseen":
        """Return the predictions of held-out rows by the network that was kept."""
        return Unseen(
            rows.X, rows.Y, predictions.reshape(rows.Y.shape), row_weights(rows), len(rows)
        )

    @staticmethod
    def of_folds(folds: Sequence[Split], predictions: Float64) -> "Unseen":
        """Return the predictions of the held-out rows of folds, one after the other."""
        held, n_all = [held for _, held in folds], sum(len(part) for part in folds[0])
        X, Y = np.concatenate([rows.X for rows in held]), np.concatenate([rows.Y for rows in held])
        weights = np.concatenate([row_weights(rows) for rows in held])
        n_rows, share = min(len(Y), n_all), len(held[0]) / n_all
        return Unseen(X, Y, predictions.reshape(Y.shape), weights, n_rows, share)

    def __post_init__(self) -> None:
        # Weights may be so different that some are zero beside others, or all of held-out rows are.
        largest = float(self.weights.max()) or 1.0
        weights = np.maximum(self.weights / largest, LEAST_WEIGHT)
        object.__setattr__(self, "weights", weights)
        # Of rows that are far from all others.
        finite = np.nan_to_num(self.predictions, nan=_FAR, posinf=_FAR, neginf=-_FAR)
        object.__setattr__(self, "predictions", finite)

    def stretched(self, factor: float) -> "Unseen":
        """Return the same rows with errors that are larger by a factor."""
        with np.errstate(over="ignore"):  # infinite ones become finite
            stretched = self.Y - factor * (self.Y - self.predictions)
        return replace(self, predictions=stretched)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows that a fit has seen, and predictions of rows that its networks have not.

    Attributes
    ----------
    rows : Rows
        Training rows in original units; a sample of them if there are many.
    unseen : Unseen or None
        None if no row was held out, or if the network is not the one that was judged.
    ladder : Ladder or None
        Candidates of a classifier, if some were compared.
    """

    rows: Rows
    unseen: Unseen | None = None
    ladder: Ladder | None = None


def row_weights(rows: Rows) -> Float64:
    """Return the weights of rows, ones if all are equal."""
    return np.ones(len(rows)) if rows.weights is None else rows.weights
