"""What runs on a worker: sums over the partitions in its memory (`Shard`), and parts of scores."""

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
from greedynet.support.checks import safe_norm
from greedynet.support.threads import deterministic_threads
from greedynet.support.types import Float64

# On dask workers, arrays of more than 128 kB are returned to the operating system at once, and
# allocating the next one takes longer than filling it. So blocks are smaller here than elsewhere.
_BLOCK_NUMBERS, _LEAST_ROWS = 2**14 - 64, 128


@dataclass(frozen=True)
class Contents:
    """Fingerprint of a partition: its number of rows and a checksum of its bytes."""

    n_rows: int
    checksum: int

    @staticmethod
    def of(raw: Raw) -> "Contents":
        checksum = 0
        for part in raw:
            if part is not None:
                checksum = zlib.crc32(_bytes(part), checksum)
        return Contents(len(raw[0]), checksum)


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

    def contents(self) -> dict[int, Contents]:
        return {number: Contents.of(raw) for number, raw in self._raws.items()}

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

    def drop(self, numbers: Sequence[int]) -> None:
        """Release partitions that were moved to other workers."""
        for number in numbers:
            del self._raws[number]
        self._prepared = b"", {}

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


# Scores


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight and mean of outputs, and the norms of their deviations and of a model's residuals."""

    weight: float
    mean: Float64
    deviations: Float64
    residuals: Float64

    @staticmethod
    def of(model: Any, raw: Raw) -> "Moments":
        """Return the moments of a partition."""
        X, y, w = raw[0], np.asarray(raw[1], dtype=np.float64), _weights(raw)
        n_outputs = model.network_.n_outputs
        Y = y.reshape(len(y), -1) if len(y) else np.empty((0, n_outputs))
        weight = float(w.sum())
        if weight == 0:
            return Moments(0.0, *np.zeros((3, n_outputs)))
        residuals = Y - model.predict(X).reshape(Y.shape)
        mean = w @ Y / weight
        return Moments(weight, mean, _norms(Y - mean, w), _norms(residuals, w))

    def join(self, other: "Moments") -> "Moments":
        """Combine both; differences of large sums would lose digits."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        gap = other.mean - self.mean
        share = other.weight / weight
        return Moments(
            weight,
            self.mean + share * gap,
            np.hypot(
                np.hypot(self.deviations, other.deviations), (self.weight * share) ** 0.5 * gap
            ),
            np.hypot(self.residuals, other.residuals),
        )

    def r2(self) -> float:
        """Return the coefficient of determination, averaged over the outputs."""
        of_constants = np.where(self.residuals == 0, 1.0, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (self.residuals / self.deviations) ** 2
            r2 = np.where(self.deviations == 0, of_constants, 1 - shares)
        return float(r2.mean())


def _weights(raw: Raw) -> Float64:
    return np.ones(len(raw[0])) if raw[2] is None else np.asarray(raw[2], dtype=np.float64)


def _norms(values: Float64, weights: Float64) -> Float64:
    """Return the norm of each column, weighted, whose square may overflow."""
    return np.array([safe_norm(column) for column in (np.sqrt(weights)[:, None] * values).T])


def count_correct(model: Any, raw: Raw) -> tuple[float, float]:
    """Return the weight of the rows whose class is predicted, and of all rows."""
    w = _weights(raw)
    if len(w) == 0:
        return 0.0, 0.0
    return float(w @ (model.predict(raw[0]) == raw[1])), float(w.sum())
