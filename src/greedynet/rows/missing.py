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

An indicator that says nothing only adds noise: with twice the inputs, networks are worse by a few
per cent where values are missing at random. So a column gets one only if its gaps are
*informative*: if the indicator is correlated with what a line with a ridge in `z` leaves of an
output, by more than `CLEARLY` standard errors, over at least `FEWEST` rows with a gap and without.
This is a rule of thumb: it misses gaps that tell something only together with other columns, and
not on average. In the other columns the mean is inserted, as in columns that have gaps only later,
about which nothing could be learned. Whether indicators help is finally decided by held-out rows
(`estimators.gap_choice`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.affine import RidgeLine
from greedynet.rows.rows import Rows, rounded
from greedynet.rows.scaling import InputScaling
from greedynet.support.types import Float64

# Standard errors by which the gaps of a column must be correlated with the outputs.
CLEARLY = 3.0
# Number of rows with a gap, and without, below which a correlation says little.
FEWEST = 10
# Number of rows that are enough to tell.
ENOUGH_ROWS = 10_000


def indicator_name(name: str, taken: Collection[str] = ()) -> str:
    """Return the name of the indicator of a column, in parentheses where a column has it."""
    label = f"{name} is missing"
    while label in taken:
        label = f"({label})"
    return label


@dataclass(frozen=True, eq=False)
class Filling:
    """What is inserted for missing inputs, and which columns have an indicator.

    Attributes
    ----------
    values : ndarray of shape (d,)
        The mean of each column, over the values that are there; 0 for a column without any.
    gaps : ndarray of bool, of shape (d,)
        Columns in which some values are missing.
    empty : ndarray of bool, of shape (d,)
        Columns without any value, which are 0 in every row, later ones too: nothing is known of
        their values.
    indicated : ndarray of bool, of shape (d,)
        Columns with an indicator: those whose gaps are informative.
    """

    values: Float64
    gaps: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    indicated: NDArray[np.bool_]

    @staticmethod
    def of(rows: Rows) -> "Filling":
        """Return the filling of training rows, NaN where inputs are missing.

        Rows of weight zero do not count.
        """
        if rows.weights is not None:
            largest, positive = rows.weights.max(), np.flatnonzero(rows.weights)
            rows = replace(rows, weights=rows.weights / largest).take(positive)
        return GapSurvey.of(rows.X, rows.weights).filling().with_informative_gaps(rows)

    def with_informative_gaps(self, rows: Rows) -> "Filling":
        """Return the filling with indicators only for gaps that say something about the outputs.

        All training rows, or some of them, tell which.
        """
        if not self.gaps.any():
            return self
        Z, M = np.split(self.apply(rows.X), [len(self.values)], axis=1)
        indicated = self.indicated.copy()
        indicated[indicated] = informative(replace(rows, X=Z), M)
        return replace(self, indicated=indicated)

    def by_mean(self) -> "Filling":
        return replace(self, indicated=np.zeros_like(self.indicated))

    @property
    def n_features(self) -> int:
        """Number of inputs of the network: the columns, and the indicators."""
        return len(self.values) + int(self.indicated.sum())

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the inputs of the network, `(z, m)`, in the precision of `X`."""
        missing = np.isnan(X)
        z = np.where(missing | self.empty, self.values.astype(X.dtype), X)
        return np.hstack([z, missing[:, self.indicated].astype(X.dtype)])

    def unlearned(self, X: NDArray[np.floating]) -> NDArray[np.intp]:
        """Return the columns with gaps in `X` that had none in training."""
        missing = np.isnan(X).any(axis=0)
        return np.flatnonzero(missing & ~self.gaps & ~self.empty)

    def names(self, names: Sequence[Any] | None = None) -> tuple[str, ...]:
        """Return the names of the inputs of the network, for columns of these names, or x0, x1."""
        columns = [f"x{j}" for j in range(len(self.values))] if names is None else list(names)
        indicated = np.flatnonzero(self.indicated).tolist()
        return (*columns, *(indicator_name(columns[j], columns) for j in indicated))


def informative(rows: Rows, indicators: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which indicators say something about the outputs that a line does not.

    With the residuals `r` of the line and the correlation `c` of an indicator with them, over `n`
    rows, `c` is `t` standard errors from 0, with `t^2 = n c^2 / (1 - c^2)`.

    Nothing is missing in the inputs of the rows; the indicators are `(n_rows, n_indicators)`.
    """
    d = rows.n_features
    rows = replace(rows, X=np.hstack([rows.X, indicators]))
    if len(rows) > ENOUGH_ROWS:
        rows = rows.take(np.linspace(0, len(rows) - 1, ENOUGH_ROWS).astype(np.intp))
    # Merged, so that a weight of two is the same as two rows.
    rows = rows.canonical()
    Z, M = np.split(rows.X.astype(np.float64), [d], axis=1)
    rows = replace(rows, X=Z)
    rows = replace(rows, X=InputScaling.standard(rows).apply(Z))
    # By a power of two, which changes no correlation: squares of huge outputs would overflow.
    largest = 2.0 ** np.frexp(np.abs(rows.Y).max(axis=0, initial=0.0))[1].astype(np.float64)
    rows = replace(rows, Y=rows.Y / largest)
    residuals = _normed(rows, rows.Y - RidgeLine.of(rows).predict(rows.X))
    c2 = ((_normed(rows, M).T @ residuals) ** 2).max(axis=1)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    n = weights.sum() ** 2 / (weights**2).sum()
    n_gaps = np.count_nonzero(M, axis=0)
    enough = (n_gaps >= FEWEST) & (len(M) - n_gaps >= FEWEST)
    return np.asarray(enough & (n * c2 > CLEARLY**2 * (1 - c2)))


def _normed(rows: Rows, values: Float64) -> Float64:
    """Return columns of mean 0 and norm 1, or 0 if they are constant up to rounding."""
    center = np.average(values, axis=0, weights=rows.weights)
    found = rows.weighted(values - center)
    norms = np.linalg.norm(found, axis=0)
    size = np.abs(values).max(axis=0, initial=0.0) * len(rows) ** 0.5
    return np.asarray(found / np.where(norms > 1e-12 * size, norms, np.inf))


@dataclass(frozen=True, eq=False)
class GapSurvey:
    """What is there of each column in some rows."""

    means: Float64  # (d,): of the values that are there
    weights: Float64  # (d,): the sums of their weights
    gaps: NDArray[np.bool_]  # (d,): whether any is missing

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
        total = self.weights + other.weights
        share = other.weights / np.where(total > 0, total, 1.0)
        means = (1 - share) * self.means + share * other.means
        return GapSurvey(means, total, self.gaps | other.gaps)

    def filling(self) -> Filling:
        """Return the filling with all indicators.

        Its means are rounded, and so the same for rows in any order.
        """
        empty = self.weights == 0
        gaps = self.gaps & ~empty
        return Filling(np.asarray(rounded(self.means)), gaps, empty, gaps)


class Gaps:
    """The `Work` of a survey of gaps, over rows in blocks."""

    # The rows are used directly.
    width = 1

    def of(self, rows: Rows) -> GapSurvey:
        return GapSurvey.of(rows.X, rows.weights)

    def join(self, one: GapSurvey, other: GapSurvey) -> GapSurvey:
        return one.join(other)
