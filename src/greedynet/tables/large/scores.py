"""Errors on rows that come in blocks: the scores of `tables.score`, from sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators import GreedyNetClassifier
from greedynet.losses import Squared
from greedynet.support.checks import safe_norm
from greedynet.tables.score import loss_of, scores_of
from greedynet.tables.training import TrainingRows


class RunningScores:
    """Scores of a fitted estimator, to which blocks of rows are added.

    Of blocks with `n` and `m` targets, means `a` and `b`, and sums of squared deviations `S` and
    `T`, the deviations of both together are `S + T + (a - b)^2 n m / (n + m)`. Square roots are
    added instead, which do not overflow.

    Parameters
    ----------
    estimator : GreedyNetRegressor or GreedyNetClassifier
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._is_classifier = isinstance(estimator, GreedyNetClassifier)
        loss = loss_of(estimator)
        # A loss that is no sum over rows needs their residuals at once.
        self._residuals: list[NDArray[Any]] | None = None
        if loss is not None and not isinstance(loss, Squared):
            self._residuals = []
        self._loss = loss
        self.n_rows = 0
        self.mean = self.spread = 0.0
        self._norm = 0.0
        self._sums: dict[str, float] = {}

    def add(self, rows: TrainingRows) -> None:
        """Add a block of rows."""
        if not len(rows):
            return
        found, y = self._estimator.predict(rows.X), rows.y
        p = self._estimator.predict_proba(rows.X) if self._is_classifier else None
        for name, value in scores_of(self._estimator, y, found, p).items():
            if name in ("accuracy", "log_loss", "mae"):
                self._sums[name] = self._sums.get(name, 0.0) + len(y) * value
        if p is None:
            self._norm = float(np.hypot(self._norm, safe_norm(y - found)))
            self._add_targets(y)
            if self._residuals is not None:
                self._residuals.append(y - found)
        self.n_rows += len(y)

    def _add_targets(self, y: NDArray[Any]) -> None:
        n, mean = len(y), float(y.mean())
        share = n / (self.n_rows + n)
        apart = abs(mean - self.mean) * (share * self.n_rows) ** 0.5
        self.spread = float(np.hypot(np.hypot(self.spread, safe_norm(y - mean)), apart))
        self.mean += share * (mean - self.mean)

    def scores(self) -> dict[str, Any]:
        """Return the scores of all rows, by name and in the order of `scores_of`."""
        means = {name: value / self.n_rows for name, value in self._sums.items()}
        if self._is_classifier:
            return means
        r2 = 1.0 - (self._norm / self.spread) ** 2 if self.spread > 0 else None
        found = {"rmse": self._norm / self.n_rows**0.5, **means, "r2": r2}
        if self._residuals is not None and self._loss is not None:
            weights = np.full(self.n_rows, 1.0 / self.n_rows)
            residuals = np.concatenate(self._residuals)[:, None]
            found[f"{self._loss.name}_loss"] = self._loss.size(residuals, weights)
        return found

    def error_of(self, constant: float) -> float:
        """Return the root mean squared error of a constant on these rows."""
        return float(np.hypot(self.spread / self.n_rows**0.5, self.mean - constant))
