"""When to stop growing, and which width to keep.

A `Judge` gives every width a score, smaller is better: the error on a validation set, or
generalised cross-validation. `Limits` say when the loop ends; the width kept is the one with the
smallest score.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.losses import Loss, Squared
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# Below this the residual is rounding, whatever the tolerance.
ZERO_RESIDUAL = 1e-13


class StopReason(Enum):
    """Why growing ended; the text says what happened and what to try."""

    N_NODES = "The network has the number of nodes asked for."
    TOLERANCE = (
        "The relative residual on the training data reached `tol`. For a closer fit lower `tol`."
    )
    EXACT = "The training data are reproduced to rounding; more nodes cannot help."
    VALIDATED = (
        "The validation score stopped improving and the width with the best score was kept. To "
        "look further, raise `patience`."
    )
    MAX_NODES = (
        "`max_nodes` was reached and the width with the best score was kept. If that is close to "
        "the maximum, raise `max_nodes`."
    )
    EXHAUSTED = (
        "No candidate lies outside the span of the chosen neurons. For more nodes give more "
        "distinct rows or, with a dictionary, raise `n_points`."
    )
    CALLBACK = "A callback asked to stop; the best width so far was kept."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Limits:
    """When the loop ends.

    Attributes
    ----------
    max_neurons : int
        Neurons at most.
    tol : float
        Relative residual that is good enough.
    patience : int or None
        End after so many neurons without a better score; None for never.
    exact : bool
        Whether `max_neurons` is the number asked for rather than a limit.
    """

    max_neurons: int
    tol: float = 0.0
    patience: int | None = None
    exact: bool = False

    def reached(self, errors: list[float], scores: list[float]) -> StopReason | None:
        """Return the reason to stop after the widths seen so far; None to go on."""
        if errors[-1] <= ZERO_RESIDUAL:
            return StopReason.EXACT
        if errors[-1] <= self.tol:
            return StopReason.TOLERANCE
        if len(errors) > self.max_neurons:
            return StopReason.N_NODES if self.exact else StopReason.MAX_NODES
        if scores and self.patience is not None:
            since_best = len(scores) - 1 - best_width(scores)
            if since_best >= self.patience:
                return StopReason.VALIDATED
        return None

    def kept(self, n_neurons: int) -> StopReason:
        """Return the reason for a finished network that kept so many neurons."""
        full = n_neurons >= self.max_neurons
        if self.exact:
            return StopReason.N_NODES if full else StopReason.EXHAUSTED
        return StopReason.MAX_NODES if full else StopReason.VALIDATED


def best_width(scores: list[float]) -> int:
    """Position of the smallest score, the first of equals: the fewest neurons."""
    return int(np.argmin(scores))


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
    """Relative error on rows kept apart; atoms keep the norms of the *training* rows.

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
        misses = self._Y - self._columns[:, : self._used] @ weights
        return self._measure(misses) / self._size

    def _measure(self, weighted: Float64) -> float:
        if isinstance(self._loss, Squared):
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
    """Generalised cross-validation: no rows are kept apart.

        GCV(k) = (SSE_k / n) / (1 - C(k) / n)^2,    C(k) = affine columns + cost * neurons

    Parameters
    ----------
    n_rows : float
        Number of distinct rows, or how many they are worth.
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
