"""Sparse matrices as inputs of the estimators: made dense, at once or block by block.

Networks take sums over columns, so that the rows of a fit are dense. What fits into `memory_budget`
becomes one array, and the network is that of the array. More rows are read in blocks, as those of a
file are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from greedynet.rows.blocks import DEFAULT_SIZES
from greedynet.support.checks import check_same_length, check_weights
from greedynet.support.types import Float64

# Rows that must fit into memory at once, as samples of the rows do.
_FEWEST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class SparseBlocks:
    """Rows of a sparse matrix in dense blocks, which can be read repeatedly.

    Attributes
    ----------
    X : sparse array of shape (n_rows, n_features), by rows
    y : ndarray
    weights : ndarray or None
    """

    X: Any
    y: NDArray[Any]
    weights: Float64 | None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for part in _parts(self.X):
            block = (self.X[part].toarray(), self.y[part])
            yield block if self.weights is None else (*block, self.weights[part])


def is_sparse(X: Any) -> bool:
    """Whether something is a sparse matrix or array of SciPy."""
    return bool(issparse(X))


def dense_rows(X: Any, y: Any, sample_weight: Any, budget: float) -> tuple[Any, Any, Any]:
    """Return the arguments of a fit without sparse matrices: arrays, or blocks of them.

    Parameters
    ----------
    X, y, sample_weight : object
        As given to `fit`.
    budget : float
        Bytes that a dense copy of `X` may take.
    """
    if not is_sparse(X):
        return X, y, sample_weight
    n_rows, n_columns = X.shape
    if 8.0 * n_rows * n_columns <= budget:
        return X.toarray(order="C"), y, sample_weight
    if 8.0 * _FEWEST_ROWS * n_columns > budget:
        raise ValueError(
            f"`X` is sparse with {n_columns:,} columns, of which {_FEWEST_ROWS:,} dense rows take "
            f"more than `memory_budget`, {budget:.3g} bytes: reduce the columns first, such as by "
            "sklearn.decomposition.TruncatedSVD in a pipeline."
        )
    if y is None:
        raise ValueError("`y` must have a value for each row of the sparse `X`, got None.")
    outputs = np.asarray(y)
    check_same_length(X=np.empty((n_rows, 0)), y=outputs)
    weights = check_weights(sample_weight, "sample_weight", n_rows)
    return SparseBlocks(X.tocsr(), outputs, weights), None, None


def dense_blocks(X: Any) -> Iterator[NDArray[Any]]:
    """Yield the rows of a sparse matrix in dense blocks."""
    by_rows = X.tocsr()
    for part in _parts(by_rows):
        yield by_rows[part].toarray()


def _parts(X: Any) -> Iterator[slice]:
    n_rows, step = X.shape[0], DEFAULT_SIZES.read_rows(X.shape[1] + 1)
    # One block of no rows, so that checks of it tell.
    for start in range(0, max(1, n_rows), step):
        yield slice(start, min(n_rows, start + step))
