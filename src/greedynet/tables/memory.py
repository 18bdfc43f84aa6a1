"""Where the matrix of a table is: in memory, or, if it is large, in a temporary file.

The matrix of `n` rows and `d` features takes `8 n (d + 1)` bytes. A fit in memory holds it about
three times (`benchmarks/largetables.py`): as it is read, with empty cells filled, and in parts in
the work of the fit. So the limit is a sixth of the memory that the process may use. A larger one
is a memory map, which estimators read in blocks.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.readers import release_pages
from greedynet.support.duck import scratch_folder
from greedynet.support.types import Float64
from greedynet.tables.readers import TableError

_SHARE = 1 / 6
# What DuckDB may take of the limit: the rest is for blocks of rows, and the target.
OF_DUCKDB = 0.5
# Where the system does not tell how much memory there is.
_UNKNOWN = 2**32
# Files of Linux with the limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def matrix_bytes(n_rows: int, n_features: int) -> int:
    """Return the size of the inputs and the target of rows as numbers."""
    return 8 * n_rows * (n_features + 1)


def limit_of(asked: Any) -> float:
    """Return the bytes of the largest matrix to hold in memory; None for a sixth of the memory."""
    if asked is None:
        return usable_memory() * _SHARE
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not asked >= 0:
        raise TableError(
            f"`memory_limit` must be a number of bytes, or None for a sixth of the memory, got "
            f"{asked!r}: write 2e9 for 2 GB, for example."
        )
    return float(asked)


def usable_memory() -> int:
    """Return the memory of the machine, or less if the process may use less."""
    known = [_of_machine(), *_of_process(), *filter(None, map(_of_container, _LIMITS))]
    return min(known)


def _of_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return _UNKNOWN


def _of_process() -> list[int]:
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return []
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in limits if limit != resource.RLIM_INFINITY]


def _of_container(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None


_STEP = 2**16  # rows


def empty_matrix(n_rows: int, n_features: int, *, on_disk: bool) -> Float64:
    """Return zeros for some rows; those of a file, which is gone with them, if they are many."""
    if not on_disk:
        return np.zeros((n_rows, n_features))
    with tempfile.TemporaryFile(dir=scratch_folder()) as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=(n_rows, n_features))


def is_on_disk(X: Float64) -> bool:
    """Whether rows are those of a file."""
    return isinstance(X, np.memmap)


def steps(X: Float64) -> Iterator[slice]:
    """Yield parts of rows that fit into memory, of which the pages are released afterwards."""
    for start in range(0, len(X), _STEP):
        yield slice(start, min(start + _STEP, len(X)))
        release_pages(X)


def taken(
    X: Float64, rows: NDArray[np.bool_] | None, columns: NDArray[np.bool_] | None = None
) -> Any:
    """Return some rows or columns of a matrix, where it is."""
    if not is_on_disk(X):
        X = X if rows is None else X[rows]
        return X if columns is None else X[:, columns]
    n_rows = len(X) if rows is None else int(rows.sum())
    out = empty_matrix(n_rows, X.shape[1] if columns is None else int(columns.sum()), on_disk=True)
    at = 0
    for step in steps(X):
        part = np.asarray(X[step])
        part = part if rows is None else part[rows[step]]
        out[at : at + len(part)] = part if columns is None else part[:, columns]
        at += len(part)
        release_pages(out)
    return out


def by_steps(function: Callable[[Float64], NDArray[Any]], X: Float64) -> NDArray[Any]:
    """Return the values of a function of rows, such as predictions."""
    if not is_on_disk(X):
        return function(X)
    found: NDArray[Any] = np.zeros(0)
    for step in steps(X):
        part = function(np.asarray(X[step]))
        if not step.start:
            found = np.zeros((len(X), *part.shape[1:]), part.dtype)
        found[step] = part
    return found


def filled(X: Float64, means: Float64) -> Float64:
    """Return a matrix with empty cells replaced by the means; one in a file is changed."""
    if not is_on_disk(X):
        return np.where(np.isnan(X), means, X)
    for step in steps(X):
        X[step] = np.where(np.isnan(X[step]), means, X[step])
    return X


def means_of(X: Float64) -> Float64:
    """Return the means of the columns, ignoring empty cells."""
    sums, counts = 0.0, 0
    for part in [slice(None)] if not is_on_disk(X) else steps(X):
        full = np.isfinite(X[part])
        sums = sums + np.where(full, X[part], 0.0).sum(axis=0)
        counts = counts + full.sum(axis=0)
    return np.asarray(sums / np.maximum(counts, 1))
