"""`StreamSource`: rows that are read block by block, with the next block prefetched."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.base import DEFAULT_SIZES, BlockSizes, Work, summed
from greedynet.rows.blocks.prepare import Labels, Preparation, Raw, as_inputs
from greedynet.rows.blocks.readers import column_names
from greedynet.rows.blocks.repeat import Repeated
from greedynet.rows.rows import Rows
from greedynet.support.threads import Pool

T = TypeVar("T")


class StreamSource:
    """Blocks that are read again for every pass.

    Parameters
    ----------
    reader : iterable of (X, y, weights or None)
        Yields the same blocks every time.
    feature_names : tuple of str or None
        Names of the inputs; None for those of the first block.
    pool : Pool or None
        Threads.
    sizes : BlockSizes
        How large blocks are processed.
    """

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
        """Return the number of rows and the sum over them, one pass."""
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
        """Return the classes that occur in the outputs."""
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
