"""Rows that are read for every sum, here or elsewhere; the next block is fetched ahead."""

import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

from greedynet.rows.blocks.base import DEFAULT_SIZES, BlockSizes, RowSurvey, Surveyed, Work, summed
from greedynet.rows.blocks.prepare import Labels, Preparation, Raw, as_arrays, as_inputs
from greedynet.rows.rows import Rows, rounded
from greedynet.support.threads import Pool

# One out of this many rows is checked.
_STEP = 1_000
# Odd, so that a change in any single column changes the checksum.
_FACTOR = 6364136223846793005


class Repeated:
    """Blocks as arrays, which must be the same every time.

    Checksums of the first row and every thousandth after it are stored, and compared in later
    passes. This takes negligible time, and detects blocks that are redrawn, reshuffled or
    rewritten. The division of rows into blocks may change.
    """

    def __init__(self, reader: Iterable[Raw]) -> None:
        self._reader = reader
        self._known: list[int] = []

    def __iter__(self) -> Iterator[Raw]:
        start = 0
        for number, block in enumerate(self._reader):
            raw = as_arrays(block, f"block {number}")
            self._compare(raw, start, number)
            start += len(raw[0])
            yield raw

    def _compare(self, raw: Raw, start: int, number: int) -> None:
        first = -start % _STEP
        found = _checksums(raw, slice(first, None, _STEP)).tolist()
        seen = (start + first) // _STEP
        known = self._known[seen : seen + len(found)]
        for i, (before, now) in enumerate(zip(known, found, strict=False)):
            if before != now:
                raise ValueError(
                    "`X` must yield the same rows every time it is read, got a different row "
                    f"{first + i * _STEP} of block {number} than before: blocks must not change "
                    "during a fit."
                )
        self._known += found[len(known) :]


def _checksums(raw: Raw, chosen: slice) -> NDArray[np.uint64]:
    """Return a checksum for each of the chosen rows."""
    bits = np.column_stack([_bits(part[chosen]) for part in raw if part is not None])
    factors = np.cumprod(np.full(bits.shape[1], _FACTOR, dtype=np.uint64))
    return np.asarray((bits * factors).sum(axis=1))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    if values.dtype.kind in "biuf":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    # The bits of texts and objects are references, which are not reproducible.
    return np.array([zlib.crc32(repr(row).encode()) for row in values.tolist()], dtype=np.uint64)


T = TypeVar("T")


@runtime_checkable
class Source(Protocol):
    """A source of raw blocks, which can be read repeatedly."""

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        ...

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the outputs of one row: `()` for a 1-D array."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the inputs, or None if they have none."""
        ...

    def total(self, preparation: Preparation, work: Work[T]) -> tuple[int, T]:
        """Return the number of rows and the sum over them."""
        ...

    def take(self, preparation: Preparation, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        ...

    def labels(self) -> Labels:
        """Return the classes that occur in the outputs."""
        ...


@dataclass(frozen=True, eq=False)
class SourceBlocks:
    """The rows of a source, which were surveyed in a first pass."""

    source: Source
    preparation: Preparation
    known: RowSurvey

    @staticmethod
    def of(source: Source, preparation: Preparation) -> "SourceBlocks":
        """Check and survey all rows in one pass."""
        _, known = source.total(preparation, Surveyed())
        mean = float(rounded(known.mean_weight))
        return SourceBlocks(source, replace(preparation, checked=True, mean_weight=mean), known)

    @property
    def n_features(self) -> int:
        return self.preparation.n_inputs

    @property
    def n_outputs(self) -> int:
        return self.preparation.n_outputs

    def __len__(self) -> int:
        return self.known.n_rows

    def survey(self) -> RowSurvey:
        return self.known

    def take(self, positions: NDArray[np.intp]) -> Rows:
        rows = self.source.take(self.preparation, positions)
        if len(rows) != len(positions):
            self._refuse(f"at most {len(rows)} of the {len(positions)} rows requested")
        self._check_numbers(rows)
        return rows

    def total(self, work: Work[T]) -> T:
        n_rows, found = self.source.total(self.preparation, work)
        if n_rows != len(self):
            self._refuse(f"{n_rows:,} rows")
        self._check_numbers(found)
        return found

    def _check_numbers(self, found: Any) -> None:
        """If the result contains NaN, check the rows again, which is not done in every pass."""
        if _has_nan(found):
            self.source.total(replace(self.preparation, checked=False), Surveyed())

    def _refuse(self, got: str) -> None:
        raise ValueError(
            f"`X` must yield the same rows every time it is read, {len(self):,} the first time, "
            f"got {got} now: blocks must not change or run out during a fit."
        )


def _has_nan(found: Any) -> bool:
    """Whether an array, a number, or a dataclass of them contains NaN."""
    if is_dataclass(found):
        return any(_has_nan(getattr(found, part.name)) for part in fields(found))
    return isinstance(found, np.ndarray | float) and bool(np.isnan(found).any())


class StreamSource:
    """Blocks that are read again for every pass; names of inputs are those of the first block."""

    def __init__(
        self,
        reader: Iterable[Raw],
        feature_names: tuple[str, ...] | None = None,
        pool: Pool | None = None,
        sizes: BlockSizes = DEFAULT_SIZES,
    ) -> None:
        self._reader = Repeated(reader)
        self._pool, self._sizes = pool, sizes
        # The shape of an empty block is not reliable.
        first = next((raw for raw in reader if len(raw[0])), None)
        if first is None:
            raise ValueError("`X` must yield at least one block of rows, got none.")
        self.feature_names = feature_names or column_names(first[0])
        self.n_features = int(as_inputs(first[0], "the first block").shape[1])
        self.output_shape = tuple(np.shape(first[1])[1:])

    def total(self, preparation: Preparation, work: Work[T]) -> tuple[int, T]:
        n_rows, found, block_rows = 0, None, self._sizes.block_rows(work.width)
        for rows in self._rows(preparation):
            part = summed(work, replace(rows, start=n_rows), self._pool, block_rows)
            n_rows += len(rows)
            found = part if found is None else work.join(found, part)
        if found is None:
            raise ValueError("`X` must have rows of positive weight, got none.")
        return n_rows, found

    def take(self, preparation: Preparation, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, one pass."""
        parts, start = [], 0
        for rows in self._rows(preparation):
            low, high = np.searchsorted(positions, [start, start + len(rows)])
            parts.append(rows.take(positions[low:high] - start))
            start += len(rows)
        return joined(parts)

    def labels(self) -> Labels:
        numbered = enumerate(ahead(self._reader))
        return Labels.joined([Labels.of(raw, f"block {n}") for n, raw in numbered if len(raw[0])])

    def _rows(self, preparation: Preparation) -> Iterator[Rows]:
        for number, raw in enumerate(ahead(self._reader)):
            rows = preparation.rows(raw, f"block {number}")
            if len(rows):
                yield rows


def joined(parts: list[Rows]) -> Rows:
    """Concatenate rows; either none or all have weights."""
    weights = [part.weights for part in parts if part.weights is not None]
    return Rows(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.Y for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def ahead(blocks: Iterable[T]) -> Iterator[T]:
    """Yield blocks while a thread prefetches the next one."""
    end = object()
    with ThreadPoolExecutor(1) as executor:
        source = iter(blocks)
        coming = executor.submit(next, source, end)
        while (block := coming.result()) is not end:
            coming = executor.submit(next, source, end)
            yield block  # type: ignore[misc]


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns by the rules of scikit-learn: all text, or None."""
    names = _get_feature_names(X)
    return None if names is None else tuple(names.tolist())
