"""Scores of widths, smaller is better: a `Judge` scores every width of a growth.

The error on held-out rows, generalised cross-validation, Akaike's criterion, or scores that are
already known. The width with the smallest score is kept.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.losses import Loss, Squared
from greedynet.losses.logistic import log_loss
from greedynet.model.bounds import OutputBounds
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# What is predicted where numbers are too large, divided by weights of rows or not.
_FAR = 1e150


class Judge(Protocol):
    """Scores the widths of a growth."""

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the score after a step.

        Parameters
        ----------
        factor : Factor
            The factor, including the new column, if any.
        column : ndarray or None
            The normalised column of the new neuron on the rows of the judge; None without neurons.
        weights : ndarray of shape (k, n_outputs)
            Outer weights of all columns.
        square : float
            Squared error on the training rows; for another loss, the square of its `size`.
        """
        ...


class Validation:
    """Relative error on held-out rows; columns are divided by their norms on the *training* rows.

    Parameters
    ----------
    affine : ndarray of shape (n_rows, n_affine)
        The affine columns on the validation rows, without weights.
    Y : ndarray of shape (n_rows, n_outputs)
        Scaled outputs.
    row_scale : ndarray of shape (n_rows,) or None
        Square roots of the sample weights.
    loss : Loss
        The measure of the error.
    bounds : OutputBounds or None
        Of the scaled outputs, within which predictions are taken.
    """

    def __init__(
        self,
        affine: Float64,
        Y: Float64,
        row_scale: Float64 | None = None,
        loss: Loss | None = None,
        bounds: OutputBounds | None = None,
    ) -> None:
        self._loss, self._bounds = loss or Squared(), bounds
        self._row_scale = np.ones(len(Y)) if row_scale is None else row_scale
        self._Y = Y * self._row_scale[:, None]
        self._size = self._measure(self._Y) or 1.0
        self._used = affine.shape[1]
        self._columns = np.empty((len(Y), max(64, 2 * self._used)), order="F")
        self._columns[:, : self._used] = affine * self._row_scale[:, None]

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return `|| Y - F c || / || Y ||` on the validation rows."""
        if column is not None:
            self._append(column * self._row_scale)
        return self._measure(self._Y - self._predicted(weights)) / self._size

    def _predicted(self, weights: Float64) -> Float64:
        """Return predictions within the bounds, times the square roots of the sample weights.

        Rows so far away that they overflow are as bad as can be.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self._columns[:, : self._used] @ weights
        sums = np.nan_to_num(sums, nan=_FAR, posinf=_FAR, neginf=-_FAR)
        if self._bounds is None:
            return sums
        scale = self._row_scale[:, None]
        return self._bounds.apply(sums / scale) * scale

    def _measure(self, weighted: Float64) -> float:
        if self._loss == Squared():
            return safe_norm(weighted)
        return self._loss.size(weighted / self._row_scale[:, None], self._row_scale**2)

    def _append(self, column: Float64) -> None:
        if self._used == self._columns.shape[1]:
            room = np.empty((len(column), 2 * self._used), order="F")
            room[:, : self._used] = self._columns
            self._columns = room
        self._columns[:, self._used] = column
        self._used += 1


def neuron_cost(n_features: int) -> float:
    """Return the degrees of freedom of a neuron in GCV.

    One for its outer weight, one for the search over thresholds, and half of one for each further
    dimension of the search over directions, at most four in total. MARS, which searches one feature
    at a time, counts 2.5; the more directions there are to choose from, the better noise can be
    fitted.
    """
    return min(4.0, 2.0 + 0.5 * (n_features - 1))


class GCV:
    """Generalised cross-validation, without held-out rows.

        GCV(k) = (SSE_k / n) / (1 - C(k) / n)^2,    C(k) = affine columns + cost * neurons

    Parameters
    ----------
    n_rows : float
        Number of distinct rows, or their effective sample size.
    n_affine : int
        Number of affine columns.
    cost : float
        Degrees of freedom of a neuron; see `neuron_cost`.
    """

    def __init__(self, n_rows: float, n_affine: int, cost: float) -> None:
        self._n_rows, self._n_affine, self._cost = n_rows, n_affine, cost

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return GCV; infinite if there are at least as many degrees of freedom as rows."""
        spent = self._n_affine + self._cost * (factor.size - self._n_affine)
        # The first width always has a finite score: one width must be kept.
        free = 1.0 - min(spent, self._n_rows - 1 if column is None else spent) / self._n_rows
        return square / self._n_rows / free**2 if free > 0 else np.inf


class Given:
    """Scores that are already known, such as the mean over folds."""

    def __init__(self, scores: Float64) -> None:
        self._scores = iter(scores)

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the next of the given scores."""
        return float(next(self._scores))


class HeldOutLogLoss(Validation):
    """Mean log-loss of held-out rows."""

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the mean log-loss of the validation rows."""
        if column is not None:
            self._append(column * self._row_scale)
        scale = self._row_scale[:, None]
        return log_loss(self._predicted(weights) / scale, self._Y / scale, self._row_scale**2)


@dataclass(frozen=True)
class Akaike:
    """Log-loss plus the degrees of freedom per row: `loss + C(k) / n`.

    The degrees of freedom of a neuron are its outer weights and, as in generalised cross-validation
    of a regression, those of the search.
    """

    n_rows: float
    n_affine: int
    n_outputs: int
    searched: float

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the criterion."""
        k = factor.size - self.n_affine
        spent = factor.size * self.n_outputs + k * self.searched
        return float(np.sqrt(square)) + spent / self.n_rows
