"""The interface between a fit and large data, in memory or elsewhere.

    total     a sum over all rows, such as `F'F` for a list of neurons    one pass
    take      some rows, by their positions                              one pass

The size of the result of a pass does not depend on the number of rows. So the state of a fit is the
network and a few samples; the rows stay where they are, and their holder only needs to know what to
sum.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.rows import Rows
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

T = TypeVar("T")

_BLOCKS_AT_ONCE = 64
_SIDE_BY_SIDE = 64


@dataclass(frozen=True)
class BlockSizes:
    """How large blocks are."""

    # Rows that are processed at once, at most, and the numbers they are turned into: these fit into
    # a cache, and handing a block to a thread takes little of the time that its work does.
    rows: int = 30_000
    numbers: int = 450_000
    read_bytes: int = 2**25  # to read at once: enough to be read at full speed

    def block_rows(self, width: int) -> int:
        """Return how many rows to process at once, each of which becomes `width` numbers."""
        rows = min(self.rows, max(512, self.numbers // width))
        # Columns whose lengths are powers of two would compete for the same lines of the cache.
        return rows // 16 * 16 + 8

    def read_rows(self, n_columns: int) -> int:
        """Return how many rows to read at once."""
        return max(1, self.read_bytes // (8 * n_columns))


DEFAULT_SIZES = BlockSizes()


class Work(Protocol[T]):
    """Something to sum over rows: plain data that can be sent to the holder of the rows."""

    @property
    def width(self) -> int:
        """Number of intermediate values per row."""
        ...

    def of(self, rows: Rows) -> T:
        """Return the sum over some rows."""
        ...

    def join(self, one: T, other: T) -> T:
        """Return the sum of two sums."""
        ...


class Blocks(Protocol):
    """Rows in blocks."""

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        ...

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        ...

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def survey(self) -> "RowSurvey":
        """Return the survey of all rows."""
        ...

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        ...

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows; raise an error if their number has changed."""
        ...


def summed(work: Work[T], rows: Rows, pool: Pool | None = None, block_rows: int | None = None) -> T:
    """Return the sum over rows in memory, block by block, added in order."""
    pool = pool or Pool()
    blocks = _split(rows, block_rows or DEFAULT_SIZES.block_rows(work.width))
    found = work.of(next(blocks))
    while group := [block for _, block in zip(range(_BLOCKS_AT_ONCE), blocks, strict=False)]:
        found = reduce(work.join, pool.map(work.of, group), found)
    return found


def _split(rows: Rows, block_rows: int) -> Iterator[Rows]:
    for start in range(0, max(1, len(rows)), block_rows):
        part = slice(start, start + block_rows)
        weights = None if rows.weights is None else rows.weights[part]
        yield Rows(rows.X[part], rows.Y[part], weights, start=rows.start + start)


@dataclass(frozen=True, eq=False)
class RowSurvey:
    """Summary of all rows, from one pass."""

    n_rows: int
    input_range: Float64  # (2, d): smallest and largest inputs
    output_range: Float64  # (2, n_outputs): those of the outputs of rows with a positive weight
    mean_weight: float  # a sum of huge weights would overflow
    # (d + n_outputs + 1,): sums of the bit patterns of every column, modulo 2^64: exact in any
    # order, and a change in any single cell changes the sum.
    checksum: NDArray[np.uint64]


class Surveyed:
    """The `Work` of a survey."""

    # The rows are used directly.
    width = 1

    def of(self, rows: Rows) -> RowSurvey:
        X, n = rows.X, len(rows)
        weights = np.ones(n) if rows.weights is None else rows.weights
        sums = [_over_rows(np.add, _bits(part)) for part in (X, rows.Y, weights[:, None])]
        return RowSurvey(
            n,
            _range(X),
            _range(rows.Y[weights > 0]),
            _mean(weights),
            np.concatenate(sums),
        )

    def join(self, one: RowSurvey, other: RowSurvey) -> RowSurvey:
        n_rows = one.n_rows + other.n_rows
        share = other.n_rows / max(1, n_rows)
        return RowSurvey(
            n_rows,
            _joined_range(one.input_range, other.input_range),
            _joined_range(one.output_range, other.output_range),
            (1 - share) * one.mean_weight + share * other.mean_weight,
            one.checksum + other.checksum,
        )


def _range(values: NDArray[np.floating]) -> Float64:
    """Return the smallest and the largest value of each column, infinite without rows."""
    if not len(values):
        return np.array([[np.inf], [-np.inf]]).repeat(values.shape[1], axis=1)
    ends = [_over_rows(np.minimum, values), _over_rows(np.maximum, values)]
    return np.array(ends, dtype=np.float64)


def _joined_range(one: Float64, other: Float64) -> Float64:
    return np.array([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])


def _mean(weights: Float64) -> float:
    largest = float(weights.max(initial=0.0))
    return largest * float((weights / largest).mean()) if largest else 0.0


def _bits(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def _over_rows(ufunc: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """Return `ufunc.reduce(values, axis=0)`, ten times as fast if there are few columns.

    Many rows are read as one long row, which processors can handle several numbers at a time.
    """
    n, d = len(values) // _SIDE_BY_SIDE, values.shape[1]
    if n > 1:
        wide = values[: n * _SIDE_BY_SIDE].reshape(n, _SIDE_BY_SIDE * d)
        folded = ufunc.reduce(wide, axis=0).reshape(_SIDE_BY_SIDE, d)
        values = np.concatenate([folded, values[n * _SIDE_BY_SIDE :]])
    return np.asarray(ufunc.reduce(values, axis=0))


@dataclass(frozen=True, eq=False)
class MemoryBlocks:
    """Rows in memory, whose blocks are processed by threads."""

    rows: Rows
    pool: Pool | None = None
    sizes: BlockSizes = DEFAULT_SIZES

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def n_outputs(self) -> int:
        return self.rows.n_outputs

    def __len__(self) -> int:
        return len(self.rows)

    def survey(self) -> RowSurvey:
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        return self.rows.take(positions)

    def total(self, work: Work[T]) -> T:
        return summed(work, self.rows, self.pool, self.sizes.block_rows(work.width))


def as_blocks(
    rows: Rows | Blocks, pool: Pool | None = None, sizes: BlockSizes = DEFAULT_SIZES
) -> Blocks:
    return MemoryBlocks(rows, pool, sizes) if isinstance(rows, Rows) else rows


def in_memory(rows: Rows | Blocks) -> Rows:
    return rows if isinstance(rows, Rows) else rows.take(np.arange(len(rows)))


@dataclass(frozen=True, eq=False)
class _ChangedWork(Generic[T]):
    """The `Work` of a sum over changed rows, for the holder of the rows."""

    work: Work[T]
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def width(self) -> int:
        return self.work.width + self.n_features

    def of(self, rows: Rows) -> T:
        return self.work.of(self.change(rows))

    def join(self, one: T, other: T) -> T:
        return self.work.join(one, other)


@dataclass(frozen=True, eq=False)
class ChangedBlocks:
    """Rows in blocks, changed wherever they are summed, and never held at once.

    Whoever holds the rows, this machine, a file or the workers of a cluster, changes a block when a
    sum over it is formed: `change` can be pickled. A changed row has `n_features` inputs.
    """

    blocks: Blocks
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def n_outputs(self) -> int:
        return self.blocks.n_outputs

    def __len__(self) -> int:
        return len(self.blocks)

    def survey(self) -> RowSurvey:
        return self._survey

    @cached_property
    def _survey(self) -> RowSurvey:
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        return self.change(self.blocks.take(positions))

    def total(self, work: Work[T]) -> T:
        return self.blocks.total(_ChangedWork(work, self.change, self.n_features))
