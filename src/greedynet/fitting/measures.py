"""Measures: the losses of held-out rows, and the scores and errors that follow from them.

A *score* is what candidates are compared by, smaller is better; an *error* is what users see, in
the units of the outputs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from greedynet.fitting.problem import within_reason
from greedynet.losses import Loss
from greedynet.losses.base import power, row_sizes
from greedynet.losses.logistic import losses_and_residual
from greedynet.rows.rows import Rows
from greedynet.support.magnitudes import LARGEST_LOSS
from greedynet.support.types import Float64

# Mean squared error, relative to the variance, below which rows are reproduced.
ROUNDING = 1e-18


class Measure(ABC):
    """Losses of predictions on the held-out rows of all folds.

    Of these, `n_rows` are different: a row may be held out several times, but counts once in
    standard errors.
    """

    # The power of an error that a score is.
    power = 2.0

    def __init__(self, held_out: Sequence[Rows], n_rows: int) -> None:
        self.Y = np.concatenate([rows.Y for rows in held_out])
        weights = [np.ones(len(r)) if r.weights is None else r.weights for r in held_out]
        self.weights = np.concatenate(weights)
        groups = [r.groups for r in held_out if r.groups is not None]
        self._groups = np.concatenate(groups) if len(groups) == len(held_out) else None
        self.n_rows = n_rows

    @abstractmethod
    def losses(self, predictions: Float64) -> Float64:
        """Return the loss of each row."""

    @abstractmethod
    def score(self, predictions: Float64) -> float:
        """Return by what candidates are compared."""

    @abstractmethod
    def error(self, predictions: Float64) -> float:
        """Return the error in the units of the outputs; at least rounding."""

    def mean(self, losses: Float64) -> float:
        """Return the weighted mean of losses."""
        return float(np.average(losses, weights=self.weights))

    def standard_error(self, losses: Float64) -> float:
        """Return the standard error of the mean of losses; only groups of rows are independent."""
        left = losses - self.mean(losses)
        with np.errstate(over="ignore"):
            if self._groups is not None:
                of_groups = np.bincount(self._groups, self.weights * left)
                return float(np.sqrt(np.sum(of_groups**2)) / self.weights.sum())
            return float(np.sqrt(self.mean(left**2) / self.n_rows))


class Squares(Measure):
    """Squared errors, of outputs of unit variance, so that all count equally."""

    @cached_property
    def unit(self) -> Float64:
        """Powers of two near the largest outputs, by which squares do not overflow."""
        return np.asarray(2.0 ** np.frexp(np.abs(self.Y).max(axis=0, initial=0.0))[1])

    @cached_property
    def _scale(self) -> Float64:
        """Deviations of the outputs."""
        Y = self.Y / self.unit
        center = np.average(Y, axis=0, weights=self.weights)
        scale = np.sqrt(np.average((Y - center) ** 2, axis=0, weights=self.weights))
        found = np.where(scale > 0, scale, 1.0) * self.unit
        # Among the smallest numbers there are, the product may be zero.
        return np.where(found > 0, found, self.unit)

    def scaled_errors(self, predictions: Float64) -> Float64:
        """Return errors for outputs of unit variance; the worst are all the same."""
        with np.errstate(over="ignore", invalid="ignore"):
            left = self.Y / self._scale - predictions / self._scale
        return within_reason(left)

    def losses(self, predictions: Float64) -> Float64:
        """Return the squared error of each row, mean over the scaled outputs."""
        return np.asarray(np.mean(self.scaled_errors(predictions) ** 2, axis=1))

    def score(self, predictions: Float64) -> float:
        """Return the mean squared error, at least rounding."""
        return max(self.mean(self.losses(predictions)), ROUNDING)

    def error(self, predictions: Float64) -> float:
        """Return the root mean squared error: rows that are reproduced do not show others will."""
        unit = float(self.unit.max())
        left = within_reason(self.Y / unit - predictions / unit)
        return float(max(self._mean_size(left), np.finfo(np.float64).eps) * unit)

    def _mean_size(self, residuals: Float64) -> float:
        return float(np.sqrt(self.mean(np.mean(residuals**2, axis=1))))


class OfLoss(Squares):
    """Another loss, `sum_i L(r_i)`, of outputs of unit variance."""

    def __init__(self, held_out: Sequence[Rows], n_rows: int, loss: Loss) -> None:
        super().__init__(held_out, n_rows)
        self._loss, self._power = loss, power(loss)

    def _sizes(self, residuals: Float64) -> Float64:
        """Return what each row contributes to the `p`-th power of the size, or the size itself."""
        if np.isinf(self._power):
            return np.abs(residuals).max(axis=1)
        with np.errstate(over="ignore"):
            return np.fmin(row_sizes(self._loss, residuals), LARGEST_LOSS)

    def _mean_size(self, residuals: Float64) -> float:
        sizes = self._sizes(residuals)
        if np.isinf(self._power):
            return float(sizes.max())
        return float(self.mean(sizes) ** (1 / self._power))

    def losses(self, predictions: Float64) -> Float64:
        """Return what each row contributes to the `p`-th power of the size."""
        return self._sizes(self.scaled_errors(predictions))

    def score(self, predictions: Float64) -> float:
        """Return the squared mean size, so that factors mean the same for all losses."""
        return max(self._mean_size(self.scaled_errors(predictions)) ** 2, ROUNDING)


class LogLosses(Measure):
    """Log-losses of classes, given as unit vectors; predictions are logits."""

    power = 1.0

    def losses(self, predictions: Float64) -> Float64:
        """Return the log-loss of each row."""
        return losses_and_residual(predictions, self.Y)[0]

    def score(self, predictions: Float64) -> float:
        """Return the mean loss with half a row more, of another class than its label says.

        Few rows without an error do not show that there are none (Jeffreys' prior of a share).
        """
        others = (1 - self.Y) / max(1, self.Y.shape[1] - 1)
        wrong = losses_and_residual(predictions, others)[0]
        n = float(self.n_rows)
        return (n * self.mean(self.losses(predictions)) + 0.5 * self.mean(wrong)) / (n + 0.5)

    def error(self, predictions: Float64) -> float:
        """Return the same: log-losses have no units."""
        return self.score(predictions)
