"""`Evidence`: what a fit leaves behind for the intervals, while it lasts; nothing here is saved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.magnitudes import INFINITE
from greedynet.support.types import Float64

LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Unseen:
    """Predictions of rows that the networks which made them had not seen."""

    X: NDArray[np.floating]  # (n, d): in original units
    Y: Float64  # (n, n_outputs): for a classifier, indicators of the classes and logits
    predictions: Float64
    weights: Float64  # (n,): relative to the largest, and positive
    n_rows: int  # number of different rows among them: folds may hold out a row several times
    # share of all rows that the networks had not seen; 0 if the network that was kept made the
    # predictions.
    share: float = 0.0
    # (n, n_outputs): for a classifier, logits of a logistic regression, if there was one.
    line: Float64 | None = None
    # (n,): rows of the same number belong together, see `Rows`.
    groups: NDArray[np.intp] | None = None

    @staticmethod
    def of(rows: Rows, predictions: Float64) -> "Unseen":
        """Return the predictions of held-out rows by the network that was kept."""
        found, weights = predictions.reshape(rows.Y.shape), row_weights(rows)
        return Unseen(rows.X, rows.Y, found, weights, len(rows), groups=rows.groups)

    @staticmethod
    def of_folds(folds: Sequence[Split], predictions: Float64) -> "Unseen":
        """Return the predictions of the held-out rows of folds, one after the other."""
        # Folds that go forward use all rows only at the end.
        held = [held for _, held in folds]
        n_all = max(len(train) + len(held) for train, held in folds)
        X, Y = np.concatenate([rows.X for rows in held]), np.concatenate([rows.Y for rows in held])
        weights = np.concatenate([row_weights(rows) for rows in held])
        n_rows, share = min(len(Y), n_all), len(held[0]) / n_all
        groups = [rows.groups for rows in held if rows.groups is not None]
        together = np.concatenate(groups) if groups else None
        return Unseen(X, Y, predictions.reshape(Y.shape), weights, n_rows, share, groups=together)

    def __post_init__(self) -> None:
        # Weights may be so different that some are zero beside others, or all of held-out rows are.
        largest = float(self.weights.max()) or 1.0
        weights = np.maximum(self.weights / largest, LEAST_WEIGHT)
        object.__setattr__(self, "weights", weights)
        # Of rows that are far from all others.
        finite = np.nan_to_num(self.predictions, nan=INFINITE, posinf=INFINITE, neginf=-INFINITE)
        object.__setattr__(self, "predictions", finite)

    def stretched(self, factor: float) -> "Unseen":
        """Return the same rows with errors that are larger by a factor."""
        with np.errstate(over="ignore"):  # infinite ones become finite
            stretched = self.Y - factor * (self.Y - self.predictions)
        return replace(self, predictions=stretched)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows that a fit has seen, and predictions of rows that its networks have not."""

    rows: Rows  # training rows in original units; a sample of them if there are many
    # by networks like the one that was kept; None if no row was held out.
    unseen: Unseen | None = None
    by_width: tuple[Float64, ...] = ()  # predictions of the same rows for every width of the path
    error: float | None = None  # the error to expect on new rows, in the units of the output
    splits: tuple[Split, ...] = ()  # the folds: training and held-out rows

    def with_later(self, later: Rows | None, network: Network) -> "Evidence":
        """Return the evidence with rows that were set aside because they come later.

        They are further ahead than the held-out rows of folds, as new rows will be: they are one
        group, which counts as much as all others together.

        The `network` is the one that was kept.
        """
        if later is None:
            return self
        n = len(later)
        after = Unseen.of(
            replace(later, groups=np.zeros(n, dtype=np.intp)), network.predict(later.X)
        )
        return replace(self, unseen=after if self.unseen is None else _both(self.unseen, after))


def _both(unseen: Unseen, later: Unseen) -> Unseen:
    """Return rows together with later ones that count as much as these."""
    groups = np.arange(len(unseen.Y)) if unseen.groups is None else unseen.groups
    return Unseen(
        np.concatenate([unseen.X, later.X]),
        np.concatenate([unseen.Y, later.Y]),
        np.concatenate([unseen.predictions, later.predictions]),
        np.concatenate([u.weights / u.weights.sum() for u in (unseen, later)]),
        unseen.n_rows + later.n_rows,
        unseen.share,
        groups=np.concatenate([groups, np.full(len(later.Y), groups.max() + 1)]),
    )


def row_weights(rows: Rows) -> Float64:
    """Return the weights of rows, ones if all are equal."""
    return np.ones(len(rows)) if rows.weights is None else rows.weights
