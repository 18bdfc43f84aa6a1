"""Threads over blocks of work, with results that do not depend on their number.

BLAS splits a product differently for each number of threads, and the split changes the last bits.
So inside `deterministic_threads` BLAS runs on one thread, and work is done in parallel by a pool
over blocks whose boundaries depend on the data alone.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, TypeVar

import joblib
import threadpoolctl
from threadpoolctl import threadpool_limits

from greedynet.support.types import Float64

T = TypeVar("T")
S = TypeVar("S")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`.

    None means every core that this process may use, or the number in OMP_NUM_THREADS if that is
    smaller (joblib sets it in its workers, so that a grid search on all cores does not start cores
    x cores threads). Negative numbers count from the last core, as in joblib: -1 means all cores.
    """
    cores: int = joblib.cpu_count()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("`n_jobs` must not be 0; use 1 for one thread or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


_WAKE_UP = 0.5
# Rows of a part at least, and number of parts at most: small ones are not worth a thread, and each
# has sums of its own in memory.
_PART_ROWS, _MOST_PARTS = 1_024, 4


def parts_of(n_rows: int, step: int = 1) -> list[slice]:
    """Return parts of the rows, of about equal size, over which sums may be taken in parallel.

    Every part begins at a multiple of `step`.
    """
    n_steps = -(-n_rows // step)
    n_parts = min(max(1, n_steps // max(1, _PART_ROWS // step)), _MOST_PARTS)
    ends = [min(n_rows, i * n_steps // n_parts * step) for i in range(n_parts + 1)]
    return [slice(*pair) for pair in pairwise(ends)]


class Pool:
    """A map over blocks, on one or several threads; the results are in the order of the blocks.

    `cancelled` is set when an interrupt has ended a map: results still being computed are not
    needed.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.cancelled = threading.Event()
        self._executor = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def map(self, function: Callable[[S], T], blocks: Iterable[S]) -> list[T]:
        """Return `[function(b) for b in blocks]`."""
        if self._executor is None:
            return [function(block) for block in blocks]
        futures: list[Future[T]] = []
        try:
            futures += [self._executor.submit(function, block) for block in blocks]
            return [_result(future) for future in futures]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self.cancelled.set()
            for future in futures:
                future.cancel()
            raise

    def sums(self, function: Callable[[S], tuple[Float64, ...]], blocks: Sequence[S]) -> list[Any]:
        """Return the sums, over blocks, of the arrays that a function returns.

        They are added in the order of the blocks, whichever thread is the first.
        """
        return [reduce(add, arrays) for arrays in zip(*self.map(function, blocks), strict=True)]

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[T]) -> T:
    """Wait for a result, waking up regularly.

    Otherwise, an interrupt just before a wait would be handled only at its end.
    """
    while True:
        try:
            return future.result(timeout=_WAKE_UP)
        except TimeoutError:
            if future.done():
                return future.result()


@contextmanager
def deterministic_threads(n_jobs: int | None) -> Iterator[Pool]:
    """Limit BLAS to one thread and yield a pool of `n_jobs` threads, until the block ends."""
    pool = Pool(count_threads(n_jobs))
    _blas.hold()
    try:
        yield pool
    finally:
        _blas.release()
        pool.close()


class _OneThreadForBlas:
    """The limit on BLAS, held as long as any fit in this process needs it.

    There is one limit for the whole process. Fits in several threads may end in any order; the last
    one restores the limit that the first one found, whichever threads they run in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0

    def hold(self) -> None:
        with self._lock:
            if self._holders == 0:
                with _any_thread_may_set_limits():
                    self._limits = threadpool_limits(limits=1, user_api="blas")
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                with _any_thread_may_set_limits():
                    self._limits.restore_original_limits()


@contextmanager
def _any_thread_may_set_limits() -> Iterator[None]:
    """Let this thread set the limit of OpenBLAS, and any other afterwards.

    Since threadpoolctl 3.7, OpenBLAS obeys the first thread that set a limit, and silently ignores
    all others until that thread leaves a `with` block. Here a count of holders replaces this.
    """
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(openblas, "clear_controlling_thread", None)
    if clear is None:  # an earlier release: any thread may set limits
        yield
        return
    clear(force=True)
    try:
        yield
    finally:
        clear(force=True)


_blas = _OneThreadForBlas()
