"""Least squares: `Squared`, the norm of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from greedynet.losses.base import ROUNDING, Fit, fit_outputs, or_ones
from greedynet.losses.solvers import least_squares
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64


@dataclass(frozen=True)
class Squared:
    """`|r| = (sum_i w_i r_i^2)^(1/2)`, over rows and outputs: the norm of the paper.

    The functional is `w r / |r|`, and `<functional, r> = |r|`.
    """

    name: str = "squared_error"

    @property
    def arguments(self) -> Mapping[str, str | float]:
        return {"loss": self.name}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        fit = fit_outputs(_solve, columns, Y, weights, None)
        size, target = self.size(fit.residuals, weights), self.size(Y, weights)
        if size <= ROUNDING * target:
            return fit
        w = or_ones(weights, len(Y))
        return Fit(fit.weights, fit.residuals, w[:, None] * (fit.residuals / size))

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        return safe_norm(residuals * np.sqrt(or_ones(weights, len(residuals)))[:, None])


def _solve(
    columns: Float64, y: Float64, w: Float64, start: Float64 | None
) -> tuple[Float64, Float64]:
    return least_squares(columns, y, w), np.zeros_like(y)
