"""The interface of a loss, the loop over its outputs, and the factor of columns fitted for it.

A loss measures the residuals `r = Y - F c` of columns `F` with outer weights `c`. Its `fit` finds
the weights that minimise this measure (step GSN 4 of the paper, in the norm of the loss), and the
*functional* of the residuals: minus the derivative of the measure with respect to the predictions.
At the optimum

    F' functional = 0,

and for every candidate neuron `g`, `<functional, g>` is the rate at which the measure decreases as
`g` is added. For least squares the functional is the residual.

A loss may also define its row weights, `row_weights`, and a few further attributes, which are read
by the functions further down; see `Reweightable`.

`LossFactor` is the factor of the greedy algorithm for losses other than the squared one. In a
Banach space the residual of the best weights has a *norming functional* that vanishes on the span
of the columns, with norm 1 and `<functional, r> = ||r||`. The (Chebyshev) greedy algorithm takes
the neuron on which the functional is largest: it replaces the residual of a Hilbert space. For the
squared loss the two coincide, and this is the orthogonal greedy algorithm.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from greedynet.linalg.factor import DEPENDENT, Factor
from greedynet.support.types import Float64

# Residuals below this fraction of the target are rounding errors: the target is interpolated, and
# the functional is zero.
ROUNDING = 1e-14

# Solves for one output: (columns, y, row weights, initial weights) -> (weights, functional).
Solver = Callable[[Float64, Float64, Float64, Float64 | None], tuple[Float64, Float64]]


@dataclass(frozen=True, eq=False)
class Fit:
    """The best weights of some columns, and their residuals.

    Attributes
    ----------
    weights : ndarray of shape (k, n_outputs)
        Outer weights.
    residuals : ndarray of shape (n_rows, n_outputs)
        `Y - columns @ weights`, without sample weights.
    functional : ndarray of shape (n_rows, n_outputs)
        A subgradient of the loss's `size` at the residuals, sample weights included, orthogonal to
        the columns.
    """

    weights: Float64
    residuals: Float64
    functional: Float64


@runtime_checkable
class Loss(Protocol):
    """Interface of a loss."""

    @property
    def name(self) -> str:
        """The name used in output."""
        ...

    @property
    def arguments(self) -> Mapping[str, str | float]:
        """Arguments with which `get_loss` returns the same loss."""
        ...

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        """Return the fit of `columns` to `Y`.

        Parameters
        ----------
        columns : ndarray of shape (n_rows, k)
            Well-conditioned columns, not multiplied by the row weights.
        Y : ndarray of shape (n_rows, n_outputs)
            Targets.
        weights : ndarray of shape (n_rows,) or None
            Positive weights of the rows; None for all 1.
        start : Fit or None
            The fit of the same targets by the first of these columns. This saves time; the optimum
            is the same.
        """
        ...

    def size(self, residuals: Float64, weights: Float64 | None) -> float:
        """Return the measure of the residuals, homogeneous: `size(c r) = c size(r)` for `c > 0`.

        Parameters
        ----------
        residuals : ndarray of shape (n_rows, n_outputs)
            Of the training rows or any others.
        weights : ndarray of shape (n_rows,) or None
            Positive weights of the rows; None for all 1.
        """
        ...


@runtime_checkable
class Reweightable(Protocol):
    """A loss that defines row weights, so that its networks can be corrected.

    At its minimum, a loss `sum_i L(r_i)` has the same derivatives as `sum_i v_i r_i^2` with `v_i =
    L'(r_i) / r_i`, up to a constant factor: a network is corrected for it by reweighted least
    squares.

    Optional attributes, with their defaults:

    * `exponent = 2.0`: the `p` of the l_p norm that the loss is, or resembles most;
    * `is_robust = False`: whether it is meant for data with outliers, which then affect neither
      the choice of neurons nor width and ridge;
    * `singles_out_rows = False`: whether `v` grows so fast with the residual that few rows would
      determine the choice of neurons; outer weights are then solved by the loss itself;
    * `reweighting()`: the update of `v` from round to round, if it depends on earlier rounds.
    """

    def row_weights(self, residuals: Float64, weights: Float64 | None) -> Float64:
        """Return `L'(r) / r` up to a common factor, without sample weights.

        Parameters
        ----------
        residuals : ndarray of shape (n_rows,)
            Of one output, none of them zero.
        weights : ndarray of shape (n_rows,) or None
            Sample weights, for quantities that depend on all rows, such as a median.
        """
        ...


def is_robust(loss: Loss) -> bool:
    """Whether the loss is meant for data with outliers."""
    return bool(getattr(loss, "is_robust", False))


def singles_out_rows(loss: Loss) -> bool:
    """Whether outer weights must be solved by the loss itself, not by reweighted least squares."""
    return bool(getattr(loss, "singles_out_rows", False))


def exponent(loss: Loss) -> float:
    """Return the `p` of the l_p norm that the loss is, or resembles most."""
    return float(getattr(loss, "exponent", 2.0))


def or_ones(weights: Float64 | None, n_rows: int) -> Float64:
    """Return the weights, ones for None."""
    return np.ones(n_rows) if weights is None else weights


def fit_outputs(
    solve: Solver, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None
) -> Fit:
    """Solve for each output separately, at unit scale, and combine the solutions.

    The functional of every loss is the same for `y` and `c y`, so it is not scaled back.
    """
    w = or_ones(weights, len(Y))
    found = np.zeros((columns.shape[1], Y.shape[1]))
    functional = np.zeros(Y.shape)
    for j, y in enumerate(Y.T):
        # A power of two is exact: not even rounding depends on the unit of `y`.
        scale = 2.0 ** np.frexp(np.abs(y).max(initial=0.0))[1]
        first = None if start is None else start.weights[:, j] / scale
        if first is not None:  # new columns begin with zero weights
            first = np.append(first, np.zeros(columns.shape[1] - len(first)))
        solution, functional[:, j] = solve(columns, y / scale, w, first)
        found[:, j] = solution * scale
    return Fit(found, Y - columns @ found, functional)


class SolvedByOutput(ABC):
    """A loss of a `name`, whose outputs are fitted separately, at unit scale."""

    name: str

    @property
    def arguments(self) -> Mapping[str, str | float]:
        return {"loss": self.name}

    def fit(
        self, columns: Float64, Y: Float64, weights: Float64 | None, start: Fit | None = None
    ) -> Fit:
        return fit_outputs(self._solve, columns, Y, weights, start)

    @abstractmethod
    def _solve(
        self, columns: Float64, y: Float64, w: Float64, start: Float64 | None
    ) -> tuple[Float64, Float64]:
        """Return weights and functional of one output."""


def mean_size(loss: Loss, residuals: Float64, weights: Float64 | None) -> float:
    """Return the size of residuals, divided by its growth with the number of rows.

    The root mean square for squared errors, the mean absolute value for absolute errors and Huber's
    loss, the mean pinball loss for quantiles, the largest value for "chebyshev". With every row
    twice, a loss that resembles an l_p norm grows by `2^(1/p)`, so the size is divided by
    `n^(1/p)`.
    """
    size = loss.size(residuals, weights)
    if size == 0.0:
        return 0.0
    twice = None if weights is None else np.concatenate([weights, weights])
    rate = np.log2(loss.size(np.concatenate([residuals, residuals]), twice) / size)
    n = residuals.size if weights is None else residuals.shape[1] * float(weights.sum())
    return size / n**rate


def power(loss: Loss) -> float:
    """Return the `p` for which `size^p` is a sum over rows: 1 for absolute values, 2 for squares.

    It is infinite for the maximum norm.
    """
    one = loss.size(np.ones((1, 1)), None)
    rate = float(np.log2(loss.size(np.ones((2, 1)), None) / one))
    return 1.0 / rate if rate > 0 else np.inf


def row_sizes(loss: Loss, residuals: Float64) -> Float64:
    """Return what each row contributes to `size^p`, mean over the outputs.

    The size is homogeneous, so a residual `r` alone has `|r|` times the size of its sign.
    """
    p = power(loss)
    above, below = (loss.size(np.full((1, 1), sign), None) for sign in (1.0, -1.0))
    sizes = np.where(residuals > 0, above, below) * np.abs(residuals)
    return np.asarray(np.mean(sizes**p, axis=1))


class LossFactor(Factor):
    """A factor whose weights minimise a loss, in the coordinates of its orthonormal columns.

    The target is given without sample weights; columns are passed multiplied by the square roots of
    the `weights`, as to any factor.
    """

    follows_projection = False

    def __init__(
        self,
        target: Float64,
        weights: Float64 | None,
        loss: Loss,
        dependent: float = DEPENDENT,
    ) -> None:
        super().__init__(target, dependent=dependent)
        self.loss = loss
        self._target = np.asarray(target, dtype=np.float64)
        self._row_weights = weights
        self._row_scale = (
            np.ones((len(target), 1)) if weights is None else np.sqrt(weights)[:, None]
        )
        self._fits: dict[int, Fit] = {}

    @property
    def fit(self) -> Fit:
        if self.size not in self._fits:
            start = self._fits.get(self.size - 1)
            self._fits[self.size] = self.loss.fit(
                self.Q / self._row_scale, self._target, self._row_weights, start
            )
            if self.size - 1 in self._fits:
                # Of the narrower fit, only the weights are still needed.
                narrower = self._fits[self.size - 1]
                self._fits[self.size - 1] = Fit(narrower.weights, _NONE, _NONE)
        return self._fits[self.size]

    @property
    def residual(self) -> Float64:
        """The norming functional of the residuals, for columns that include sample weights."""
        return self.fit.functional / self._row_scale

    @property
    def z(self) -> Float64:
        return self.fit.weights

    @property
    def target_size(self) -> float:
        """The loss's measure of the target."""
        return self.loss.size(self._target, self._row_weights)

    def rss(self, weights: Float64, alpha: float) -> float:
        """Return the square of the loss's measure of the residuals."""
        return self.loss.size(self.fit.residuals, self._row_weights) ** 2

    def z_of(self, n_columns: int) -> Float64:
        return self.z if n_columns == self.size else self._fits[n_columns].weights

    def _project(self, added: slice) -> None:
        """Do nothing: the weights are fitted on demand."""


_NONE: Float64 = np.empty((0, 0))
