"""What held-out rows say of new ones: `CalibrationData`, `Scores` of errors, and `ClassSets`.

The data are what a fit leaves behind for the intervals, while it lasts; they are not saved. Of the
scores of held-out rows, at most 1,001 quantiles are kept: if a new row and `n` held-out rows are
exchangeable, the score of the new one is at most the `ceil(p (n + 1))`-th smallest of theirs with a
probability of at least `p`: the quantile of level `p (n + 1) / n`, which exists if
`n >= p / (1 - p)`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.logistic import class_indicators, probabilities
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.errors import FewHeldOutRowsWarning
from greedynet.support.magnitudes import INFINITE
from greedynet.support.types import Float64

LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """Predictions of rows that the networks which made them had not seen."""

    X: NDArray[np.floating]  # (n, d): in original units
    Y: Float64  # (n, n_outputs): for a classifier, indicators of the classes and logits
    predictions: Float64
    weights: Float64  # (n,): relative to the largest, and positive
    n_rows: int  # number of different rows among them: folds may hold out a row several times
    # Share of all rows that the networks had not seen; 0 if the network that was kept made the
    # predictions.
    share: float = 0.0
    # (n, n_outputs): for a classifier, logits of a logistic regression, if there was one.
    line: Float64 | None = None
    # (n,): rows of the same number belong together, see `Rows`.
    groups: NDArray[np.intp] | None = None

    @staticmethod
    def of(rows: Rows, predictions: Float64) -> "HeldOutPredictions":
        """Return the predictions of held-out rows by the network that was kept."""
        found, weights = predictions.reshape(rows.Y.shape), row_weights(rows)
        return HeldOutPredictions(rows.X, rows.Y, found, weights, len(rows), groups=rows.groups)

    @staticmethod
    def of_folds(folds: Sequence[Split], predictions: Float64) -> "HeldOutPredictions":
        """Return the predictions of the held-out rows of folds, one after the other."""
        # Folds that go forward use all rows only at the end.
        held = [held for _, held in folds]
        n_all = max(len(train) + len(held) for train, held in folds)
        X, Y = np.concatenate([rows.X for rows in held]), np.concatenate([rows.Y for rows in held])
        weights = np.concatenate([row_weights(rows) for rows in held])
        n_rows, share = min(len(Y), n_all), len(held[0]) / n_all
        groups = [rows.groups for rows in held if rows.groups is not None]
        together = np.concatenate(groups) if groups else None
        return HeldOutPredictions(
            X, Y, predictions.reshape(Y.shape), weights, n_rows, share, groups=together
        )

    def __post_init__(self) -> None:
        # Weights may be so different that some are zero beside others, or all of held-out rows are.
        largest = float(self.weights.max()) or 1.0
        weights = np.maximum(self.weights / largest, LEAST_WEIGHT)
        object.__setattr__(self, "weights", weights)
        # Far from all other rows, predictions may be infinite.
        finite = np.nan_to_num(self.predictions, nan=INFINITE, posinf=INFINITE, neginf=-INFINITE)
        object.__setattr__(self, "predictions", finite)

    def stretched(self, factor: float) -> "HeldOutPredictions":
        """Return the same rows with errors that are larger by a factor."""
        with np.errstate(over="ignore"):  # infinite ones become finite
            stretched = self.Y - factor * (self.Y - self.predictions)
        return replace(self, predictions=stretched)


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """Rows that a fit has seen, and predictions of rows that its networks have not."""

    rows: Rows  # training rows in original units; a sample of them if there are many
    # By networks like the one that was kept; None if no row was held out.
    held_out: HeldOutPredictions | None = None
    by_width: tuple[Float64, ...] = ()  # predictions of the same rows for every width of the path
    expected_error: float | None = None  # on new rows, in the units of the output
    splits: tuple[Split, ...] = ()  # the folds: training and held-out rows

    def with_later(self, later: Rows | None, network: Network) -> "CalibrationData":
        """Return the data with rows that were set aside because they come later.

        They are further ahead than the held-out rows of folds, as new rows will be: they are one
        group, which counts as much as all others together.

        The `network` is the one that was kept.
        """
        if later is None:
            return self
        n = len(later)
        after = HeldOutPredictions.of(
            replace(later, groups=np.zeros(n, dtype=np.intp)), network.predict(later.X)
        )
        return replace(
            self, held_out=after if self.held_out is None else _both(self.held_out, after)
        )


def _both(held_out: HeldOutPredictions, later: HeldOutPredictions) -> HeldOutPredictions:
    """Return rows together with later ones that count as much as these."""
    groups = np.arange(len(held_out.Y)) if held_out.groups is None else held_out.groups
    return HeldOutPredictions(
        np.concatenate([held_out.X, later.X]),
        np.concatenate([held_out.Y, later.Y]),
        np.concatenate([held_out.predictions, later.predictions]),
        np.concatenate([u.weights / u.weights.sum() for u in (held_out, later)]),
        held_out.n_rows + later.n_rows,
        held_out.share,
        groups=np.concatenate([groups, np.full(len(later.Y), groups.max() + 1)]),
    )


def row_weights(rows: Rows) -> Float64:
    """Return the weights of rows, ones if all are equal."""
    return np.ones(len(rows)) if rows.weights is None else rows.weights


# Standard errors by which the variation between groups may be larger than it seems.
_ABOVE = 2.0
# Below, the variation between so few groups may be anything.
_LEAST = 1e-3


def n_alike(scores: Float64, held_out: HeldOutPredictions) -> float:
    """Return the number of different, independent rows of equal weight that say as much.

    `n = (sum w)^2 / sum w^2`, times the share of the rows that are different. Rows in groups say as
    much as

        1 / ((1 - r) / n + r / k),    k = (sum W)^2 / sum W^2,

    with the weights `W` of the groups, where `r` is the correlation of scores within groups: as
    much as one row for each group if their scores are the same, and as `n` rows if these have
    nothing to do with each other.

    """
    w = held_out.weights
    n = float(w.sum() ** 2 / (w @ w)) * held_out.n_rows / len(w)
    if held_out.groups is None:
        return n
    group = np.unique(held_out.groups, return_inverse=True)[1]
    W = np.bincount(group, w)
    r, k = _correlation(scores, w, group), float(W.sum() ** 2 / (W @ W))
    return 1.0 / ((1.0 - r) / max(n, k) + r / k)


def known_rows(n_rows: int, n_independent: float) -> str:
    """Return held-out rows in words, and what they are worth if they are not independent."""
    found = f"{n_rows} held-out rows"
    if n_independent > 0.9 * n_rows:
        return found
    return f"{found}, which are worth {n_independent:.2g} independent ones"


def _correlation(scores: Float64, weights: Float64, group: NDArray[np.intp]) -> float:
    """Return the correlation of the ranks of scores within groups, rather too large.

    From the mean squares between and within groups of an analysis of variance,

        (B - V) / (B + (m - 1) V),

    where `m` is the size of a group. `B` of `k` groups has a distribution of chi squared, so that
    it is divided by a small quantile of this, `(1 - c - 2 sqrt(c))^3` with `c = 2 / (9 (k - 1))` by
    Wilson and Hilferty: a few groups show little of their variation. Ranks, as single scores may be
    large.
    """
    sizes, total = np.bincount(group, weights), weights.sum()
    k, n = len(sizes), len(scores)
    if k == 1 or k == n:
        return 1.0
    place = np.unique(scores, return_inverse=True)[1]
    at = np.bincount(place, weights)
    ranks = ((np.cumsum(at) - at / 2) / total)[place]
    means = np.bincount(group, weights * ranks) / sizes
    # In rows of mean weight.
    to_rows = n / total
    between = to_rows * float(sizes @ (means - 0.5) ** 2) / (k - 1)
    within = to_rows * float(weights @ (ranks - means[group]) ** 2) / (n - k)
    size = (n - to_rows * float(sizes @ sizes) / total) / (k - 1)
    c = 2.0 / (9.0 * (k - 1))
    between /= max(1.0 - c - _ABOVE * np.sqrt(c), _LEAST) ** 3
    spread = between + (size - 1.0) * within
    return float(np.clip((between - within) / spread, 0.0, 1.0)) if spread > 0 else 1.0


MOST = 1_001


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of held-out rows."""

    # (k,): Increasing; the `i`-th, from 1, is the smallest score that is at least as large as a
    # share `i / k` of all. If there are at most 1,001 of equal weight, these are the scores
    # themselves.
    quantiles: Float64
    n_rows: float  # number of different rows of equal weight that say as much

    @staticmethod
    def of(scores: Float64, weights: Float64, n_rows: float) -> "Scores":
        k = min(len(scores), MOST)
        return Scores(quantiles(scores, weights, np.arange(1, k + 1) / k), float(n_rows))

    def bound(self, probability: float) -> float:
        """Return what a new score does not exceed with a probability; the largest if too few."""
        level = min(1.0, self._level(probability))
        # Without rounding errors: 0.9 times 10 rows are 9 rows.
        rank = int(np.ceil(level * len(self.quantiles) - 1e-9))
        return float(self.quantiles[max(rank, 1) - 1])

    def suffices(self, probability: float) -> bool:
        return self._level(probability) <= 1.0 + 1e-12

    def _level(self, probability: float) -> float:
        return probability * (self.n_rows + 1) / self.n_rows


def gain(of_held: Float64, of_trained: Float64, share: float) -> Float64:
    """Return the factor by which errors are smaller with all rows than with those of a fold.

    `sqrt((1 - h) C + h T)`, relative to `sqrt(C)`, with squares of mean absolute scores, on which
    single rows have less influence.

    `of_held` and `of_trained` are the roots of `C` and `T`, mean scores of held-out rows and of
    training rows; `share` is the `h`.
    """
    with np.errstate(over="ignore"):
        ratio = np.minimum(1.0, of_trained / np.maximum(of_held, np.finfo(np.float64).tiny))
    return np.sqrt(1.0 - share * (1.0 - ratio**2))


def quantiles(values: Float64, weights: Float64, levels: Float64) -> Float64:
    """Return the smallest values that are at least as large as shares of the total weight."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    # A share that is reached up to rounding is reached.
    at = np.searchsorted(shares, levels - 1e-12)
    return np.asarray(values[order][np.minimum(at, len(values) - 1)])


# Probabilities that differ by less are the same: classes of equal shares are in a set together.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ClassSets:
    """Scores of the classes of held-out rows, and which classes new rows may have.

    The score of a row is `1 - p`, where `p` is the probability of its class. With the quantile `q`
    of level `c (n + 1) / n` of the scores of `n` held-out rows, the set of all classes with
    `1 - p <= q` contains the class of a new row with a probability of at least `c`: split conformal
    prediction. The most likely class is always in the set, which can only increase the coverage.

    Networks of folds made the `p` of held-out rows, and another network those of new rows. Where
    `p` hardly depends on the row, as for shares of the classes, a small difference between them
    decides whether a class is in all sets or in none. So `q` is at least the same quantile of the
    scores that the network which was kept gives its training rows: sets that do not cover these
    cover no others.
    """

    scores: Scores
    n_rows: int  # number of different rows that were held out
    by_width: tuple[Scores, ...] = ()  # of the networks of every width of the path

    @staticmethod
    def of(calibration: CalibrationData, path: SelectionPath) -> "ClassSets | None":
        """Return the scores that new rows may have; None if no row was held out."""
        held_out, rows = calibration.held_out, calibration.rows
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
        by_width = tuple(map(scores, calibration.by_width, networks))
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
            f"`coverage`={coverage} needs more than "
            f"{known_rows(self.n_rows, self.scores.n_rows)}: the sets "
            "contain every class that is as likely as the least likely class of these rows, and "
            "may cover less. Fit more rows, or write a smaller coverage.",
            FewHeldOutRowsWarning,
            stacklevel=3,
        )


def _scores(logits: Float64, Y: Float64) -> Float64:
    """Return `1 - p` of the classes of rows."""
    return np.asarray(1.0 - (probabilities(logits) * class_indicators(Y)).sum(axis=1))
