"""What runs on a worker: sums over the partitions in its memory (`Shard`), and predictions."""

import pickle
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Labels, Preparation, Work, summed
from greedynet.rows.blocks.prepare import Raw
from greedynet.rows.rows import Rows
from greedynet.support.threads import deterministic_threads

# On dask workers, arrays of more than 128 kB are returned to the operating system at once, and
# allocating the next one takes longer than filling it. So blocks are smaller here than elsewhere.
_BLOCK_NUMBERS, _LEAST_ROWS = 2**14 - 64, 128


def fingerprint(raw: Raw) -> tuple[int, int]:
    """Return the number of rows of a partition, and a checksum of its bytes."""
    checksum = 0
    for part in raw:
        if part is not None:
            checksum = zlib.crc32(_bytes(part), checksum)
    return len(raw[0]), checksum


def _bytes(array: NDArray[Any]) -> Any:
    if array.dtype.hasobject:
        # Not by pickling, which distinguishes equal texts from repeated references to one text.
        return repr(array.tolist()).encode()
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@dataclass(frozen=True, eq=False)
class Sum:
    """The answer of a shard to a pass: rows of each partition, and their sum; None without rows."""

    counts: dict[int, int]
    found: Any
    seconds: float


class Shard:
    """Partitions that one worker holds: their numbers and arrays `(X, y, weights or None)`."""

    def __init__(self, numbers: Sequence[int], raws: Sequence[Raw]) -> None:
        self._raws = dict(zip(numbers, raws, strict=True))
        self._prepared: tuple[bytes, dict[int, Rows]] = b"", {}
        self._n_threads = _threads_here()

    def fingerprints(self) -> dict[int, tuple[int, int]]:
        return {number: fingerprint(raw) for number, raw in self._raws.items()}

    def labels(self) -> list[Labels]:
        """Return the classes that occur in the outputs, partition by partition."""
        raws = self._raws.items()
        return [Labels.of(raw, f"partition {number}") for number, raw in raws if len(raw[0])]

    def total(self, preparation: bytes, work: bytes, starts: Sequence[int]) -> Sum:
        """Sum over all rows; `starts` are the positions of the partitions among all rows."""
        began = perf_counter()
        task: Work[Any] = pickle.loads(work)
        rows = self._rows(preparation)
        found = None
        block_rows = max(_LEAST_ROWS, _BLOCK_NUMBERS // task.width)
        with deterministic_threads(self._n_threads) as pool:
            for part, start in zip(rows.values(), starts, strict=True):
                if len(part):
                    here = summed(task, replace(part, start=start), pool, block_rows)
                    found = here if found is None else task.join(found, here)
        counts = {number: len(part) for number, part in rows.items()}
        return Sum(counts, found, perf_counter() - began)

    def take(self, preparation: bytes, positions: dict[int, NDArray[np.intp]]) -> dict[int, Rows]:
        rows = self._rows(preparation)
        return {number: rows[number].take(chosen) for number, chosen in positions.items()}

    def _rows(self, preparation: bytes) -> dict[int, Rows]:
        """Return the partitions as rows, which are cached for the next pass."""
        if self._prepared[0] != preparation:
            how: Preparation = pickle.loads(preparation)
            rows = {i: _prepared(how, i, raw) for i, raw in self._raws.items()}
            self._prepared = preparation, rows
        return self._prepared[1]


def _prepared(how: Preparation, number: int, raw: Raw) -> Rows:
    if any(len(part) for part in raw if part is not None):
        return how.rows(raw, f"partition {number}")
    # An empty partition may have any dtype.
    return Rows(np.empty((0, how.n_inputs)), np.empty((0, how.n_outputs)))


def _threads_here() -> int:
    """Number of threads that the worker has for its tasks."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not on a worker
        return 1


def predicted(model: Any, raw: Raw) -> Raw:
    """Return outputs of a partition, predicted ones, and weights."""
    X, y, weights = raw
    found = model.predict(X) if len(X) else np.asarray(y)
    return np.asarray(y), found, np.ones(len(X)) if weights is None else weights
