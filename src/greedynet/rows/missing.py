"""Empty inputs -> numbers and indicators, from which a network learns what to insert.

For an input `x_j` that may be missing, a network gets two:

    z_j = x_j if it is there, otherwise c_j;        m_j = 0 if it is there, otherwise 1,

with `c_j` the mean of the values that are there. A neuron `sigma(w . z + v . m + b)` then has a
filling value of its own for every column.

*Proof.* Let `M` be the columns that are missing in a row. The argument of the neuron is

    sum_{j not in M} w_j x_j + sum_{j in M} (w_j c_j + v_j) + b.

If `w_j != 0`, it is that of `sigma(w . x + b)` with `f_j = c_j + v_j / w_j` in the place of every
missing `x_j`. Conversely, filling values `f_j` of the neuron are those of `v_j = w_j (f_j - c_j)`.
If `w_j = 0`, no filling value would matter, and `v_j` says what a gap as such does to the neuron.
The same holds for each output of the affine term `l . z + k . m`, with filling values of its own.

So networks of `(z, m)` are all networks whose filling values are free for each neuron and output,
fitted like any other weights, and a few more. Which `c_j` is chosen does not change this set: it is
only where the search begins, and what a ridge shrinks to. With `v = k = 0` they are the networks
with the mean inserted. In two layers, curves of `z_j` have the value at `c_j` where `x_j` is
missing, and neurons and outputs over them are corrected by `m_j` in the same way.

Only columns with a gap in training get an indicator. Where others have a gap later, the mean is
inserted, and nothing was learned about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.rows import Rows, rounded
from greedynet.support.types import Float64


def indicator_name(name: str) -> str:
    """Return the name of the indicator of a column."""
    return f"{name} is missing"


@dataclass(frozen=True, eq=False)
class Filling:
    """What is inserted for missing inputs, and which columns have an indicator.

    Attributes
    ----------
    values : ndarray of shape (d,)
        The mean of each column, over the values that are there; 0 for a column without any.
    gaps : ndarray of bool, of shape (d,)
        Columns with an indicator: those in which some values are missing.
    empty : ndarray of bool, of shape (d,)
        Columns without any value, which are 0 in every row, later ones too: nothing is known of
        their values.
    """

    values: Float64
    gaps: NDArray[np.bool_]
    empty: NDArray[np.bool_]

    @staticmethod
    def of(X: NDArray[np.floating], weights: Float64 | None = None) -> "Filling":
        """Return the filling of training rows; rows of weight zero do not count.

        Parameters
        ----------
        X : ndarray of shape (n_rows, d)
            Inputs, NaN where they are missing.
        weights : ndarray of shape (n_rows,) or None
        """
        if weights is not None:
            X, weights = X[weights > 0], weights[weights > 0] / weights.max()
        return GapSurvey.of(X, weights).filling()

    @property
    def n_features(self) -> int:
        """Number of inputs of the network: the columns, and the indicators."""
        return len(self.values) + int(self.gaps.sum())

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the inputs of the network, `(z, m)`, in the precision of `X`."""
        missing = np.isnan(X)
        z = np.where(missing | self.empty, self.values.astype(X.dtype), X)
        return np.hstack([z, missing[:, self.gaps].astype(X.dtype)])

    def unlearned(self, X: NDArray[np.floating]) -> NDArray[np.intp]:
        """Return the columns with gaps in `X` that had none in training."""
        missing = np.isnan(X).any(axis=0)
        return np.flatnonzero(missing & ~self.gaps & ~self.empty)

    def names(self, names: Sequence[Any] | None = None) -> tuple[str, ...]:
        """Return the names of the inputs of the network, for columns of these names, or x0, x1."""
        columns = [f"x{j}" for j in range(len(self.values))] if names is None else list(names)
        return (*columns, *(indicator_name(columns[j]) for j in np.flatnonzero(self.gaps)))


@dataclass(frozen=True, eq=False)
class GapSurvey:
    """What is there of each column in some rows.

    Attributes
    ----------
    means, weights : ndarray of shape (d,)
        Mean of the values that are there, and the sum of their weights.
    gaps : ndarray of bool, of shape (d,)
        Whether any is missing.
    """

    means: Float64
    weights: Float64
    gaps: NDArray[np.bool_]

    @staticmethod
    def of(X: NDArray[np.floating], weights: Float64 | None = None) -> "GapSurvey":
        """Survey rows of positive weight."""
        missing = np.isnan(X)
        shares = (~missing).astype(np.float64)
        if weights is not None:
            shares *= weights[:, None]
        total = shares.sum(axis=0)
        # Weights that sum to 1: sums of huge values would overflow.
        shares /= np.where(total > 0, total, 1.0)
        means = (shares * np.where(missing, 0.0, X)).sum(axis=0)
        return GapSurvey(means, total, missing.any(axis=0))

    def join(self, other: "GapSurvey") -> "GapSurvey":
        """Return the survey of both."""
        total = self.weights + other.weights
        share = other.weights / np.where(total > 0, total, 1.0)
        means = (1 - share) * self.means + share * other.means
        return GapSurvey(means, total, self.gaps | other.gaps)

    def filling(self) -> Filling:
        """Return the filling; its means are rounded, and so the same for rows in any order."""
        empty = self.weights == 0
        return Filling(np.asarray(rounded(self.means)), self.gaps & ~empty, empty)


class Gaps:
    """The `Work` of a survey of gaps, over rows in blocks."""

    # The rows are used directly.
    width = 1

    def of(self, rows: Rows) -> GapSurvey:
        """Survey some rows."""
        return GapSurvey.of(rows.X, rows.weights)

    def join(self, one: GapSurvey, other: GapSurvey) -> GapSurvey:
        """Combine two surveys."""
        return one.join(other)
