"""`Shards`: partitions on the workers of a cluster, and what happens when workers come and go.

    partitions -> computed where dask computes them -> spread evenly -> one `Shard` a worker

A shard is an actor: it lives and dies with its worker. When one is lost, its partitions are
computed again from the graph of the collection, placed on the workers that are there, and asked
again; the answers of the others stand. A worker that has joined gets a share as soon as a pass
begins.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import uuid4

from distributed import Client, Future

from greedynet.dask.collections import Partitions
from greedynet.dask.shard import Contents, Shard
from greedynet.dask.spread import largest_load, spread
from greedynet.dask.waiting import ClusterError, LostError, Placed, Waiting, log

# Losses in one pass after which something other than a worker must be wrong.
_MOST_LOSSES = 20
_TOO_MANY_LOSSES = (
    f"Workers were lost {_MOST_LOSSES} times in one pass over the rows: see their logs; they may "
    "not have the memory for their partitions."
)
# Partitions are moved to a worker that has joined if that takes so much off the longest shard.
_WORTH_MOVING = 0.2


# What a shard is to do: its actor and its partitions -> a future of the answer.
Ask = Callable[[Any, tuple[int, ...]], Any]


class Shards:
    """Partitions in the memory of the workers.

    Parameters
    ----------
    client : Client
    partitions : Partitions
        Of inputs, outputs and weights.
    look_every : float
        Seconds after which to look whether a worker that does not answer is still there.
    """

    def __init__(self, client: Client, partitions: Partitions, look_every: float) -> None:
        self._client, self._waiting = client, Waiting(client, look_every)
        self._partitions = partitions
        self._name = f"greedynet-shard-{uuid4().hex[:12]}"
        self._count = count()
        self._placed: list[Placed] = []
        self._known: dict[int, Contents] = {}
        self._sizes: dict[int, int] = {}
        self._workers: frozenset[str] = frozenset()

    def close(self) -> None:
        """Let go of all shards; the workers free their memory."""
        self._cancel([shard.future for shard in self._placed])
        self._placed = []

    def _cancel(self, actors: list[Future[Any]]) -> None:
        # Futures of actors are parts of cycles: to wait for their end is to wait for Python's
        # collector of garbage.
        if actors and self._client.status == "running":
            self._client.cancel(actors)

    def ask(self, what: Ask) -> list[Any]:
        """Return the answers of shards that hold all partitions, in their order.

        Parameters
        ----------
        what : callable
            Gets the actor of a shard and its partitions, and returns the future of an answer.
        """
        # Actors look for the current client, which need not be ours.
        with self._client.as_current():
            return self._asked(what)

    def _asked(self, what: Ask) -> list[Any]:
        answers: dict[tuple[int, ...], Any] = {}
        self._look_for_workers()
        for _ in range(_MOST_LOSSES):
            self._place()
            asked = [(s, self._called(s, what)) for s in self._placed if s.numbers not in answers]
            for shard, future in asked:
                try:
                    answers[shard.numbers] = self._waiting.answer(shard, future)
                except LostError:
                    self._lose(shard)
            if sum(map(len, answers)) >= len(self._partitions):
                return [answers[numbers] for numbers in sorted(answers)]
        raise ClusterError(_TOO_MANY_LOSSES)

    # Workers

    def _look_for_workers(self) -> None:
        """Note who has left, and give partitions to who has joined."""
        # Without waiting for any: a cluster may start workers when there is something to do.
        now = frozenset(self._client.nthreads())
        for shard in [shard for shard in self._placed if shard.worker not in now]:
            self._lose(shard)
        joined, self._workers = now - self._workers, now
        if joined and self._placed and not self._unplaced():
            self._move()

    def _called(self, shard: Placed, what: Ask) -> Any:
        """Return the future of an answer; None where the shard is known to be lost."""
        try:
            return what(shard.actor, shard.numbers)
        except RuntimeError:
            if shard.future.status == "finished":
                raise
            return None

    def _lose(self, shard: Placed) -> None:
        lost = list(shard.numbers)
        log.warning("Worker %s is gone: partitions %s are placed again.", shard.worker, lost)
        self._placed.remove(shard)
        self._cancel([shard.future])

    # Places

    def _unplaced(self) -> list[int]:
        there = {n for shard in self._placed for n in shard.numbers}
        return [n for n in range(len(self._partitions)) if n not in there]

    def _place(self) -> None:
        """Give every partition a worker."""
        for _ in range(_MOST_LOSSES):
            numbers = self._unplaced()
            if not numbers:
                return
            self._placed += self._made(numbers)
        raise ClusterError(_TOO_MANY_LOSSES)

    def _move(self) -> None:
        """Even out the partitions among all workers, if that makes a pass much shorter."""
        holder = {n: shard.worker for shard in self._placed for n in shard.numbers}
        numbers = sorted(holder)
        sizes = [self._sizes[n] for n in numbers]
        holders = [holder[n] for n in numbers]
        targets = spread(sizes, holders, sorted(self._workers))
        if largest_load(sizes, targets) > (1 - _WORTH_MOVING) * largest_load(sizes, holders):
            return
        moving = {n: to for n, to in zip(numbers, targets, strict=True) if to != holder[n]}
        try:
            made = self._made(list(moving), moving)
        except ClusterError as error:
            log.warning("Partitions stay where they are: %s", error)
            return
        moved = {n for shard in made for n in shard.numbers}
        log.info("Workers have joined: %d partitions are moved to them.", len(moved))
        self._placed = [left for shard in self._placed if (left := self._without(shard, moved))]
        self._placed += made

    def _without(self, shard: Placed, moved: set[int]) -> Placed | None:
        """Return a shard without partitions that are elsewhere now; None if none are left."""
        gone = [n for n in shard.numbers if n in moved]
        left = tuple(n for n in shard.numbers if n not in moved)
        if not gone:
            return shard
        if not left:
            self._cancel([shard.future])
            return None
        try:
            self._waiting.answer(shard, self._called(shard, lambda actor, _: actor.drop(gone)))
        except LostError:
            return None
        return replace(shard, numbers=left)

    def _made(self, numbers: list[int], targets: dict[int, str] | None = None) -> list[Placed]:
        """Compute partitions and put them into shards; without those that are lost on the way."""
        futures = self._client.compute(self._partitions.raws(numbers))
        try:
            return self._put(numbers, futures, targets)
        finally:
            # To wait in vain is an error within dask, which keeps what waited until Python collects
            # garbage. So long the workers would have every partition twice.
            for future in futures:
                future.release()

    def _put(
        self, numbers: list[int], futures: list[Future[Any]], targets: dict[int, str] | None
    ) -> list[Placed]:
        """Put partitions into shards once they are computed."""
        for number, future in zip(numbers, futures, strict=True):
            self._waiting.check_computed(number, future)
        if targets is None:
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
        """Choose a worker for each partition: where it is, unless that is uneven."""
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
        targets = spread(sizes, holders, sorted(self._waiting.workers()), loads)
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

    def _checked(self, worker: str, numbers: tuple[int, ...], future: Future[Any]) -> Placed | None:
        """Wait for a shard and compare its partitions with what they were; None if it is lost."""
        try:
            shard = Placed(worker, numbers, future, self._waiting.actor(worker, future))
            found = self._waiting.answer(
                shard, self._called(shard, lambda actor, _: actor.contents())
            )
        except LostError:
            self._cancel([future])
            return None
        for number, contents in found.items():
            if self._known.setdefault(number, contents) != contents:
                raise ClusterError(
                    f"Partition {number} of `X` and `y` was computed again and came out "
                    f"different, {self._known[number].n_rows:,} rows before and "
                    f"{contents.n_rows:,} now: a collection must give the same rows every time; "
                    "seed what is random in it."
                )
        return shard
