"""`Waiting`: for workers, partitions, shards and their answers, as long as there is hope.

Never by `result(timeout=...)` of a future of dask: if time is over while a result is fetched, its
client may be unable to fetch any ever after (dask/distributed#8514). So nothing is fetched here but
the answers of actors, which come another way.
"""

import logging
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Actor, Client, Future, wait

from greedynet.dask.shard import Shard

log = logging.getLogger("greedynet.dask")


class ClusterError(RuntimeError):
    """The cluster cannot go on with a fit."""


class LostError(Exception):
    """A shard is not there any more."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A shard on its worker."""

    worker: str
    numbers: tuple[int, ...]
    future: Future[Any]
    actor: Any = field(repr=False)


class Waiting:
    """Waits at a cluster.

    Parameters
    ----------
    client : Client
    look_every : float
        Seconds after which to look whether a worker that does not answer is still there.
    """

    def __init__(self, client: Client, look_every: float) -> None:
        self._client, self._look_every = client, look_every

    def workers(self) -> frozenset[str]:
        """Return the addresses of the workers; wait for one if there is none."""
        limit = parse_timedelta(dask.config.get("greedynet.worker-timeout", "60 s"))
        until = time.monotonic() + limit
        told = False
        while not (workers := self._client.nthreads()):
            if time.monotonic() > until:
                raise ClusterError(
                    f"The cluster of `client` has had no worker for {limit:g} seconds: start "
                    "workers, or set `greedynet.worker-timeout` in the configuration of dask to "
                    "wait longer."
                )
            if not told:
                log.warning("No workers: waiting up to %g seconds for one.", limit)
                told = True
            time.sleep(0.1)
        return frozenset(workers)

    def answer(self, shard: Placed, future: Any) -> Any:
        """Wait for an answer as long as the worker is there."""
        if future is None:
            raise LostError
        while True:
            # Looked at before: an answer may come just when the time is over.
            done = future.done()
            try:
                return future.result(timeout=None if done else self._look_every)
            except OSError as error:  # among them TimeoutError
                waiting = isinstance(error, TimeoutError) and not done
                if not waiting or not self._is_there(shard):
                    raise LostError from error
            except Exception as error:
                # A worker that was started anew at the same address knows nothing of the shard.
                if shard.future.status == "finished" and not isinstance(error, KeyError):
                    raise
                raise LostError from error

    def _is_there(self, shard: Placed) -> bool:
        return shard.future.status == "finished" and shard.worker in self._client.nthreads()

    def _wait(self, future: Future[Any]) -> None:
        with suppress(TimeoutError, CancelledError):
            wait(future, timeout=self._look_every)

    def actor(self, worker: str, future: Future[Any]) -> Any:
        """Wait for an actor as long as its worker is there."""
        while not future.done():
            self._wait(future)
            # A task that may run on one worker only waits for ever if that one is gone.
            if not future.done() and worker not in self._client.nthreads():
                raise LostError
        if future.status == "finished":
            return Actor(Shard, worker, future.key)
        error = future.exception() if future.status == "error" else None
        if error is None or worker not in self._client.nthreads():
            raise LostError from error
        raise error

    def check_computed(self, number: int, future: Future[Any]) -> None:
        """Wait for a partition, and say which one it is that fails."""
        while not future.done():
            self._wait(future)
            self.workers()
        if future.status == "finished":
            return
        error = future.exception() if future.status == "error" else None
        if error is None or isinstance(error, CancelledError):
            raise ClusterError(
                f"Partition {number} of `X` and `y` was lost with its worker and cannot be "
                "computed again, as its data were scattered or computed by a client that is gone: "
                "build the collection from files or functions, or scatter with `broadcast=True`."
            ) from error
        error.add_note(f"This happened while partition {number} of `X` and `y` was computed.")
        raise error
