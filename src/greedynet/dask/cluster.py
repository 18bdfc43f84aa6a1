"""`Shards`: partitions on the workers of a cluster, which may leave or join during a fit.

    partitions -> computed where dask computes them -> balanced -> one `Shard` per worker

A shard is an actor: it lives and dies with its worker. If one is lost, its partitions are
recomputed from the graph of the collection, placed on the remaining workers, and the request is
repeated for them; the answers of the other shards are kept. A worker that has joined gets its share
of the partitions when the next pass begins.

Nothing waits by `result(timeout=...)` of a dask future: if the timeout expires while a result is
being fetched, the client may be unable to fetch any result afterwards (dask/distributed#8514). So
nothing is fetched here except the answers of actors, which take another route.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

import dask
from dask.utils import parse_timedelta
from distributed import Actor, Client, Future, wait
from distributed.comm.core import CommClosedError

from greedynet.dask.partitions import Partitions
from greedynet.dask.shard import Shard

log = logging.getLogger("greedynet.dask")

# Number of losses in one pass after which the cause cannot be the workers alone.
_MOST_LOSSES = 20
# Partitions are placed anew if more than this share of the workers has joined since.
_WORTH_MOVING = 0.2
# A request to a shard: its actor and its partitions -> the future of an answer.
Ask = Callable[[Any, tuple[int, ...]], Any]


class ClusterError(RuntimeError):
    """The cluster cannot continue a fit."""


class LostError(Exception):
    """A shard no longer exists."""


@contextmanager
def explain_lost_scheduler(client: Client) -> Iterator[None]:
    """Name the scheduler in errors that are due to its loss: it is the one part without a spare."""
    address = str(client.scheduler.address) if client.scheduler is not None else "its address"
    try:
        yield
    except Exception as error:
        # An error of the user's own function, such as a missing file, is raised with a scheduler.
        is_lost = isinstance(error, CommClosedError) or client.status != "running"
        if not is_lost and not (isinstance(error, OSError) and address in str(error)):
            raise
        raise ClusterError(
            f"The scheduler of `client` at {address} was lost: start a cluster and fit again. With "
            "`checkpoint`, the fit resumes where it was."
        ) from error


@dataclass(frozen=True, eq=False)
class PlacedShard:
    """A shard on its worker."""

    worker: str
    numbers: tuple[int, ...]
    future: Future[Any]
    actor: Any = field(repr=False)


class Waiting:
    """Waits for workers, partitions, shards and answers, as long as they can still arrive.

    Every `check_every` seconds it asks whether a worker that does not answer is still alive.
    """

    def __init__(self, client: Client, check_every: float) -> None:
        self._client, self._check_every = client, check_every

    def workers(self) -> frozenset[str]:
        """Return the addresses of the workers; wait for one if there is none."""
        limit = parse_timedelta(dask.config.get("greedynet.worker-timeout", "60 s"))
        while not (workers := self._client.nthreads()):
            log.warning("The cluster has no workers: waiting up to %g seconds for one.", limit)
            try:
                self._client.wait_for_workers(1, timeout=limit)
            except TimeoutError:
                raise ClusterError(
                    f"The cluster of `client` has had no worker for {limit:g} seconds: start "
                    "workers, or set `greedynet.worker-timeout` in the configuration of dask to "
                    "wait longer."
                ) from None
        return frozenset(workers)

    def answer(self, shard: PlacedShard, future: Any) -> Any:
        """Wait for an answer as long as the worker is alive."""
        if future is None:
            raise LostError
        while True:
            # Checked first: an answer may arrive just when the timeout expires.
            done = future.done()
            try:
                return future.result(timeout=None if done else self._check_every)
            except OSError as error:  # includes TimeoutError
                waiting = isinstance(error, TimeoutError) and not done
                alive = shard.worker in self._client.nthreads()
                if not waiting or not alive or shard.future.status != "finished":
                    raise LostError from error
            except Exception as error:
                # A worker that was restarted at the same address does not know the shard.
                if shard.future.status == "finished" and not isinstance(error, KeyError):
                    raise
                raise LostError from error

    def _wait(self, future: Future[Any]) -> None:
        with suppress(TimeoutError, CancelledError):
            wait(future, timeout=self._check_every)

    def actor(self, worker: str, future: Future[Any]) -> Any:
        """Wait for an actor as long as its worker is alive."""
        while not future.done():
            self._wait(future)
            # A task that is restricted to one worker waits forever if that worker is lost.
            if not future.done() and worker not in self._client.nthreads():
                raise LostError
        if future.status == "finished":
            return Actor(Shard, worker, future.key)
        error = future.exception() if future.status == "error" else None
        if error is None or worker not in self._client.nthreads():
            raise LostError from error
        raise error

    def check_computed(self, number: int, future: Future[Any]) -> None:
        """Wait for a partition; the error of one that fails names it."""
        while not future.done():
            self._wait(future)
            self.workers()
        if future.status == "finished":
            return
        error = future.exception() if future.status == "error" else None
        if error is None or isinstance(error, CancelledError):
            raise ClusterError(
                f"Partition {number} of `X` and `y` was lost with its worker and cannot be "
                "recomputed, as its data were scattered or computed by a client that no longer "
                "exists: build the collection from files or functions, or scatter with "
                "`broadcast=True`."
            ) from error
        error.add_note(f"This happened while partition {number} of `X` and `y` was computed.")
        raise error


def assign(
    sizes: Sequence[int],
    holders: Sequence[str | None],
    workers: Sequence[str],
    loads: Mapping[str, int] | None = None,
) -> list[str]:
    """Return a worker for each partition.

    A partition stays where it is, unless its worker would then exceed an equal share of the data by
    more than half of the largest partition. Partitions that have to move go to the worker with the
    least data, large ones first. `loads` are the bytes that the workers hold in other partitions.
    """
    load = {worker: (loads or {}).get(worker, 0) for worker in workers}
    most = (sum(sizes) + sum(load.values())) / len(load) + max(sizes, default=0) / 2
    by_size = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    targets: dict[int, str] = {}
    for i in by_size:
        holder = holders[i]
        if holder in load and load[holder] + sizes[i] <= most:
            targets[i] = holder
            load[holder] += sizes[i]
    for i in by_size:
        if i not in targets:
            targets[i] = min(load, key=lambda worker: load[worker])
            load[targets[i]] += sizes[i]
    return [targets[i] for i in range(len(sizes))]


class Shards:
    """Partitions in the memory of the workers."""

    def __init__(self, client: Client, partitions: Partitions, check_every: float) -> None:
        self._client, self._waiting = client, Waiting(client, check_every)
        self._partitions = partitions
        self._name = f"greedynet-shard-{uuid4().hex[:12]}"
        self._count = count()
        self._placed: list[PlacedShard] = []
        self._known: dict[int, tuple[int, int]] = {}
        self._sizes: dict[int, int] = {}
        self._workers: frozenset[str] = frozenset()

    def close(self) -> None:
        """Release all shards; the workers free their memory."""
        self._cancel([shard.future for shard in self._placed])
        self._placed = []

    def _cancel(self, actors: list[Future[Any]]) -> None:
        # Futures of actors are part of reference cycles, so that waiting for their end would mean
        # waiting for Python's garbage collector.
        if actors and self._client.status == "running":
            with suppress(CommClosedError):  # a lost scheduler has forgotten them already
                self._client.cancel(actors)

    def ask(self, what: Ask) -> list[Any]:
        """Return the answers of the shards for all partitions, in order."""
        # Actors use the current client, which need not be ours.
        with self._client.as_current(), explain_lost_scheduler(self._client):
            return self._asked(what)

    def _asked(self, what: Ask) -> list[Any]:
        answers: dict[tuple[int, ...], Any] = {}
        self._update_workers()
        for _ in range(_MOST_LOSSES):
            if numbers := self._unplaced():
                self._placed += self._made(numbers)
            asked = [(s, self._called(s, what)) for s in self._placed if s.numbers not in answers]
            for shard, future in asked:
                try:
                    answers[shard.numbers] = self._waiting.answer(shard, future)
                except LostError:
                    self._lose(shard)
            if sum(map(len, answers)) >= len(self._partitions):
                return [answers[numbers] for numbers in sorted(answers)]
        raise ClusterError(
            f"Workers were lost {_MOST_LOSSES} times in one pass over the rows: see their logs; "
            "they may not have enough memory for their partitions."
        )

    # Workers

    def _update_workers(self) -> None:
        """Note which workers have left, and give partitions to those that have joined."""
        # Without waiting: an adaptive cluster starts workers only when there is work.
        now = frozenset(self._client.nthreads())
        for shard in [shard for shard in self._placed if shard.worker not in now]:
            self._lose(shard)
        joined, self._workers = now - self._workers, now
        if self._placed and len(joined) > _WORTH_MOVING * len(now):
            log.info("%d workers have joined: partitions are spread over all of them.", len(joined))
            self.close()

    def _called(self, shard: PlacedShard, what: Ask) -> Any:
        """Return the future of an answer; None if the shard is known to be lost."""
        try:
            return what(shard.actor, shard.numbers)
        except RuntimeError:
            if shard.future.status == "finished":
                raise
            return None

    def _lose(self, shard: PlacedShard) -> None:
        lost = list(shard.numbers)
        log.warning(
            "Worker %s was lost: partitions %s are placed on other workers.", shard.worker, lost
        )
        self._placed.remove(shard)
        self._cancel([shard.future])

    # Placement

    def _unplaced(self) -> list[int]:
        there = {n for shard in self._placed for n in shard.numbers}
        return [n for n in range(len(self._partitions)) if n not in there]

    def _made(self, numbers: list[int]) -> list[PlacedShard]:
        """Compute partitions and put them into shards; those lost on the way are not included."""
        futures = self._client.compute(self._partitions.raws(numbers))
        try:
            return self._put(numbers, futures)
        finally:
            # A wait that times out is an error within dask, which keeps references to the futures
            # until Python collects garbage. Until then, the workers would hold every partition
            # twice.
            for future in futures:
                future.release()

    def _put(self, numbers: list[int], futures: list[Future[Any]]) -> list[PlacedShard]:
        """Put partitions into shards once they are computed."""
        for number, future in zip(numbers, futures, strict=True):
            self._waiting.check_computed(number, future)
        targets = self._targets(numbers, futures)
        by_worker: dict[str, list[int]] = {}
        for at, number in enumerate(numbers):
            by_worker.setdefault(targets[number], []).append(at)
        started = [
            (worker, tuple(numbers[i] for i in ats), self._start(worker, ats, numbers, futures))
            for worker, ats in by_worker.items()
        ]
        try:
            made = [self._checked(worker, held, future) for worker, held, future in started]
        except BaseException:
            self._cancel([future for *_, future in started])
            raise
        return [shard for shard in made if shard is not None]

    def _targets(self, numbers: list[int], futures: list[Future[Any]]) -> dict[int, str]:
        """Choose a worker for each partition: its holder, unless the load would be uneven."""
        keys = [future.key for future in futures]
        bytes_of = self._client.nbytes(keys, summary=False)
        sizes = [bytes_of[key] for key in keys]
        self._sizes.update(zip(numbers, sizes, strict=True))
        where = self._client.who_has(futures)
        holders = [next(iter(where.get(key, ())), None) for key in keys]
        loads: dict[str, int] = {}
        for shard in self._placed:
            held = sum(self._sizes[n] for n in shard.numbers)
            loads[shard.worker] = loads.get(shard.worker, 0) + held
        targets = assign(sizes, holders, sorted(self._waiting.workers()), loads)
        return dict(zip(numbers, targets, strict=True))

    def _start(
        self, worker: str, ats: list[int], numbers: list[int], futures: list[Future[Any]]
    ) -> Future[Any]:
        return self._client.submit(
            Shard,
            [numbers[i] for i in ats],
            [futures[i] for i in ats],
            key=f"{self._name}-{next(self._count)}",
            actor=True,
            pure=False,
            workers=[worker],
            allow_other_workers=False,
        )

    def _checked(
        self, worker: str, numbers: tuple[int, ...], future: Future[Any]
    ) -> PlacedShard | None:
        """Wait for a shard and check that its partitions have not changed; None if it is lost."""
        try:
            shard = PlacedShard(worker, numbers, future, self._waiting.actor(worker, future))
            found = self._waiting.answer(
                shard, self._called(shard, lambda actor, _: actor.fingerprints())
            )
        except LostError:
            self._cancel([future])
            return None
        for number, now in found.items():
            before = self._known.setdefault(number, now)
            if before != now:
                raise ClusterError(
                    f"Partition {number} of `X` and `y` was recomputed with a different result, "
                    f"{before[0]:,} rows before and {now[0]:,} now: a "
                    "collection must give the same rows every time; seed any random numbers in "
                    "it."
                )
        return shard
