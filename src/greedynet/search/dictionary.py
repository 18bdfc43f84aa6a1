"""The dictionary: normalised atoms given by points on the sphere and rows of data (GSN 1).

    g_j = s * sigma(X a_j + b_j) / norm_j,    norm_j = || s * sigma(X a_j + b_j) ||

where `s` are the square roots of the sample weights. The greedy algorithm needs the products of all
atoms with a few vectors (`correlate`) and single atoms (`columns`).

The atoms are the rows of blocks. Blocks that fit into the memory budget are stored; the others are
recomputed whenever they are needed. A dense dictionary is the case where all fit.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from greedynet.activations import Activation, ReLU, activate
from greedynet.search.ridgelet import THRESHOLD, check_dimension
from greedynet.support.checks import check_float, check_matrix, check_same_length
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

Array = NDArray[np.floating]
Rule = Literal["ols", "oga"]

RULES: tuple[Rule, ...] = ("ols", "oga")

MIN_NORM = 1e-6
BLOCK_BYTES = 16 * 2**20
MEMORY_BUDGET = 4 * 2**30


class Dictionary(BaseEstimator):
    """The search of the paper, as `search=` of the estimators: the best of many sampled neurons.

    Points `(a, b)` on the unit sphere of `d + 1` dimensions are the neurons `sigma(a . x + b)`.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features + 1) or None, default=None
        Points on the sphere, bias last, for inputs in their original units. None to sample them for
        inputs scaled to [-1, 1].
    n_points : int or None, default=None
        Number of points to sample; None for the paper's 10,000 per feature, but at most 50,000 and,
        beyond 2,000, no more than fit into `memory_budget`.
    rule : {"ols", "oga"}, default="ols"
        How neurons are ranked. "oga" is the orthogonal greedy algorithm (orthogonal matching
        pursuit): the largest inner product with the residual. "ols" is orthogonal least squares:
        the neuron that lowers the error most. It costs the same and gives better networks.
    reduction : float, "ridgelet" or None, default=None
        Omit points whose collapsed ridgelet transform is below this fraction of its maximum, for
        one or two features. "ridgelet" is the paper's 0.001.
    min_active : int or None, default=None
        Minimum number of training rows on which a neuron must be active and, unless it is active on
        all rows, inactive, which prevents wild behaviour between the data. None for 1 if `points`
        are given, for the number of features if the network is corrected, and otherwise for 1 % of
        the rows and at least 3.
    memory_budget : int, default=4294967296
        Maximum size of the dictionary in bytes; the part beyond it is recomputed in every step.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.search import Dictionary
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = GreedyNetRegressor(12, search=Dictionary(n_points=2000)).fit(x, np.sin(5 * x[:, 0]))
    >>> model.n_nodes_
    12
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "points": ["array-like", None],
        "n_points": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions(set(RULES))],
        "reduction": [Interval(Real, 0, 1, closed="left"), StrOptions({"ridgelet"}), None],
        "min_active": [Interval(Integral, 1, None, closed="left"), None],
        "memory_budget": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        points: ArrayLike | None = None,
        *,
        n_points: int | None = None,
        rule: Rule = "ols",
        reduction: float | Literal["ridgelet"] | None = None,
        min_active: int | None = None,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        self.points = points
        self.n_points = n_points
        self.rule = rule
        self.reduction = reduction
        self.min_active = min_active
        self.memory_budget = memory_budget

    @property
    def threshold(self) -> float | None:
        """The fraction of the largest transform below which points are omitted; None for none."""
        return THRESHOLD if self.reduction == "ridgelet" else self.reduction

    def check(self, n_features: int) -> None:
        """Raise an error for parameters that are wrong, by themselves or for so many inputs."""
        for name, value in self.get_params().items():
            check_float(value, name)
        self._validate_params()
        if self.reduction is not None:
            check_dimension(n_features)
        if self.points is not None:
            n_columns = check_matrix(self.points, "points").shape[1]
            if n_columns != n_features + 1:
                raise ValueError(
                    f"`points` must have {n_features + 1} columns, {n_features} weights and the "
                    f"bias last, got {n_columns}."
                )


class Atoms:
    """Normalised atoms `g_j`: products with all of them, and single ones as columns.

    Of the points, inner weights with the bias last, those give atoms that are nonzero on at least
    `min_active` rows and, unless on all rows, zero on as many: an atom supported on two training
    rows could take arbitrary values elsewhere. Their norm is at least 1e-6; `labels` (0, 1, 2, ...
    by default), `points` and `norms` are those of the atoms.

    Atoms are stored and multiplied in the precision `dtype`; single columns are always float64.
    Stored blocks and workspace take at most `memory_budget` bytes together.
    """

    def __init__(
        self,
        points: Float64,
        X: Array,
        row_scale: Float64 | None = None,
        *,
        labels: NDArray[np.intp] | None = None,
        min_active: int = 1,
        activation: Activation | None = None,
        dtype: type = np.float64,
        memory_budget: int = MEMORY_BUDGET,
        pool: Pool | None = None,
    ) -> None:
        self.activation = activation if activation is not None else ReLU()
        self.dtype = np.dtype(dtype)
        self.pool = pool if pool is not None else Pool(1)
        self._X = check_matrix(X, "X")
        points = check_matrix(points, "points")
        self._row_scale = row_scale
        self._check_shapes(points, labels)
        self._rows_t = self._with_ones(self._X).T.astype(self.dtype)
        self._plan(len(points), memory_budget)
        norms, active = self._measure(points)
        balanced = (active == self.n_rows) | (active <= self.n_rows - min_active)
        kept = np.flatnonzero((norms >= MIN_NORM) & (active >= min_active) & balanced)
        self.labels = kept if labels is None else labels[kept]
        self.points = points[kept]
        self.norms = norms[kept]
        self._hold()

    def __len__(self) -> int:
        return len(self.norms)

    @property
    def n_rows(self) -> int:
        """Length of an atom."""
        return len(self._X)

    @property
    def held_bytes(self) -> int:
        """Bytes of the atoms stored in memory."""
        return sum(block.nbytes for block in self._held.values())

    def correlate(self, vectors: Float64) -> Float64:
        """Return the inner products of every atom with each vector."""
        right = np.ascontiguousarray(vectors, dtype=self.dtype)
        products = np.empty((len(self), *vectors.shape[1:]))

        def fill(block: slice) -> None:
            products[block] = self.atoms(block) @ right

        self.pool.map(fill, self._blocks(len(self)))
        return products

    def lengths(self, power: float) -> Float64:
        """Return `(sum_i w_i |g_j(x_i)|^p)^(1/p)` of every atom, with sample weights `w`."""
        lengths = np.empty(len(self))
        scale = np.ones(self.n_rows) if self._row_scale is None else self._row_scale

        def fill(block: slice) -> None:
            values = np.abs(self.atoms(block)) / scale
            if np.isinf(power):
                lengths[block] = values.max(axis=1)
            else:
                lengths[block] = (values**power @ scale**2) ** (1 / power)

        self.pool.map(fill, self._blocks(len(self)))
        return lengths

    def atoms(self, block: slice) -> Array:
        """Return consecutive atoms, one per row, from a stored block or recomputed."""
        home = block.start - block.start % self._block_length
        held = self._held.get(home)
        if held is not None and block.stop <= home + len(held):
            return held[block.start - home : block.stop - home]
        atoms = self._raw(self.points[block])
        atoms /= self.norms[block, None].astype(self.dtype)
        return atoms

    def columns(self, atoms: NDArray[np.intp]) -> Float64:
        """Return the chosen atoms on the training rows, `(n_rows, len(atoms))`, in float64."""
        columns = self.evaluate(atoms, self._X)
        return columns if self._row_scale is None else columns * self._row_scale[:, None]

    def evaluate(self, atoms: NDArray[np.intp], X: Array) -> Float64:
        """Return the chosen atoms on other rows, without weights and with the *training* norms."""
        z = self._with_ones(X) @ self.points[atoms].T
        values: Float64 = activate(self.activation, z) / self.norms[atoms]
        return values

    def _check_shapes(self, points: Float64, labels: NDArray[np.intp] | None) -> None:
        n_features = self._X.shape[1]
        if points.shape[1] != n_features + 1:
            raise ValueError(
                f"`points` must have {n_features + 1} columns, the weights of {n_features} "
                f"features and the bias last, got {points.shape[1]}."
            )
        if self._row_scale is not None:
            check_same_length(X=self._X, row_scale=self._row_scale)
        if labels is not None:
            check_same_length(points=points, labels=labels)

    @staticmethod
    def _with_ones(X: Array) -> Float64:
        return np.column_stack([np.asarray(X, dtype=np.float64), np.ones(len(X))])

    def _plan(self, n_points: int, memory_budget: int) -> None:
        """Choose the length of a block, which depends on data and budget, never on threads."""
        atom_bytes = max(1, self.n_rows) * self.dtype.itemsize
        # The rows twice, the points, a few numbers for each atom; and a twentieth for the factor
        # and the threads.
        taken = self._rows_t.nbytes + self._X.nbytes + 8 * (len(self._rows_t) + 5) * n_points
        room = memory_budget - memory_budget // 20 - taken
        work = self.pool.n_threads * atom_bytes
        if room < work:
            raise ValueError(
                f"`memory_budget` must cover the data and one atom of {self.n_rows} rows for "
                f"each of {self.pool.n_threads} threads, at least {memory_budget - room + work} "
                f"bytes, got {memory_budget}: increase it, or use fewer points or rows."
            )
        share = min(BLOCK_BYTES, room // 64)
        self._block_length = max(1, share // atom_bytes)
        self._room = room - self.pool.n_threads * self._block_length * atom_bytes

    def _blocks(self, n: int) -> list[slice]:
        step = self._block_length
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _raw(self, points: Float64) -> Array:
        """Return atoms before normalisation, one per row, `(len(points), n_rows)`."""
        z = points.astype(self.dtype) @ self._rows_t
        activate(self.activation, z)
        if self._row_scale is not None:
            z *= self._row_scale.astype(self.dtype)
        return z

    def _measure(self, points: Float64) -> tuple[Float64, NDArray[np.intp]]:
        """Return norms of the raw atoms, and the number of rows on which each is nonzero."""
        norms = np.empty(len(points))
        active = np.empty(len(points), dtype=np.intp)

        def fill(block: slice) -> None:
            atoms = self._raw(points[block])
            norms[block] = np.sqrt(np.einsum("ij,ij->i", atoms, atoms, dtype=np.float64))
            active[block] = np.count_nonzero(atoms, axis=1)

        self.pool.map(fill, self._blocks(len(points)))
        return norms, active

    def _hold(self) -> None:
        """Compute and store as many blocks as the budget allows, starting with the first."""
        self._held: dict[int, Array] = {}
        atom_bytes = self.n_rows * self.dtype.itemsize
        chosen, room = [], self._room
        for block in self._blocks(len(self)):
            room -= (block.stop - block.start) * atom_bytes
            if room < 0:
                break
            chosen.append(block)
        for block, atoms in zip(chosen, self.pool.map(self.atoms, chosen), strict=True):
            self._held[block.start] = atoms
