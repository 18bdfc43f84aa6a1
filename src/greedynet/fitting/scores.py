"""Scores of widths, smaller is better: a `Judge` gives every width of a growth one.

The error on held-out rows, generalised cross-validation, Akaike's criterion, or scores that are
known already. The width kept is the one with the smallest.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.losses import Loss, Squared
from greedynet.losses.logistic import log_loss
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64


class Judge(Protocol):
    """Gives a width its score."""

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the score after a step.

        Parameters
        ----------
        factor : Factor
            With the new column, if any.
        column : ndarray or None
            The new neuron's normalised column on the judge's own rows; None before the first.
        weights : ndarray of shape (k, n_outputs)
            Outer weights of all columns.
        square : float
            Squared error on the training rows; with another loss, the square of its measure.
        """
        ...


class Validation:
    """Relative error on held-out rows; atoms keep the norms of the *training* rows.

    Parameters
    ----------
    affine : ndarray of shape (n_rows, n_affine)
        The affine columns on the validation rows, without weights.
    Y : ndarray of shape (n_rows, n_outputs)
        Scaled outputs.
    row_scale : ndarray of shape (n_rows,) or None
        Square roots of the sample weights.
    loss : Loss
        What measures the error.
    """

    def __init__(
        self,
        affine: Float64,
        Y: Float64,
        row_scale: Float64 | None = None,
        loss: Loss | None = None,
    ) -> None:
        self._loss = loss or Squared()
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
        residuals = self._Y - self._columns[:, : self._used] @ weights
        return self._measure(residuals) / self._size

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
    """Degrees of freedom that GCV counts for a neuron.

    One for its outer weight, one for having been searched along its direction, and half of one for
    each further dimension it was searched in, four at most. MARS, which searches one feature at a
    time, counts 2.5; the more directions there are to choose from, the better noise can be fitted.
    """
    return min(4.0, 2.0 + 0.5 * (n_features - 1))


class GCV:
    """Generalised cross-validation: no rows are held out.

        GCV(k) = (SSE_k / n) / (1 - C(k) / n)^2,    C(k) = affine columns + cost * neurons

    Parameters
    ----------
    n_rows : float
        Number of distinct rows, or their effective sample size.
    n_affine : int
        Number of affine columns.
    cost : float
        Degrees of freedom a neuron costs; see `neuron_cost`.
    """

    def __init__(self, n_rows: float, n_affine: int, cost: float) -> None:
        self._n_rows, self._n_affine, self._cost = n_rows, n_affine, cost

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return GCV; infinite where the degrees of freedom are as many as the rows."""
        spent = self._n_affine + self._cost * (factor.size - self._n_affine)
        # The first width has a finite score whatever it spends: something must be kept.
        free = 1.0 - min(spent, self._n_rows - 1 if column is None else spent) / self._n_rows
        return square / self._n_rows / free**2 if free > 0 else np.inf


class Given:
    """Scores known beforehand, such as the mean over folds."""

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
        logits = self._columns[:, : self._used] @ weights / scale
        return log_loss(logits, self._Y / scale, self._row_scale**2)


@dataclass(frozen=True)
class Akaike:
    """Log-loss plus the degrees of freedom spent on it: `loss + C(k) / n`.

    A neuron costs its outer weights and, as in generalised cross-validation of a regression, what
    was searched.
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
