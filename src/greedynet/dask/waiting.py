"""`Waiting`: for workers, partitions, shards and their answers, as long as they can still arrive.

Never by `result(timeout=...)` of a dask future: if the timeout expires while a result is being
fetched, the client may be unable to fetch any result afterwards (dask/distributed#8514). So nothing
is fetched here except the answers of actors, which take another route.
"""

import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Actor, Client, Future, wait
from distributed.comm.core import CommClosedError

from greedynet.dask.shard import Shard

log = logging.getLogger("greedynet.dask")


class ClusterError(RuntimeError):
    """The cluster cannot continue a fit."""


class LostError(Exception):
    """A shard no longer exists."""


@contextmanager
def scheduler_named(client: Client) -> Iterator[None]:
    """Name the scheduler in errors that are due to its loss: it is the one part without a spare.

    Parameters
    ----------
    client : Client
    """
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
class Placed:
    """A shard on its worker."""

    worker: str
    numbers: tuple[int, ...]
    future: Future[Any]
    actor: Any = field(repr=False)


class Waiting:
    """Waits for a cluster.

    Parameters
    ----------
    client : Client
    check_every : float
        Seconds between checks whether a worker that does not answer is still alive.
    """

    def __init__(self, client: Client, check_every: float) -> None:
        self._client, self._check_every = client, check_every

    def workers(self) -> frozenset[str]:
        """Return the addresses of the workers; wait for one if there is none."""
        limit = parse_timedelta(dask.config.get("greedynet.worker-timeout", "60 s"))
        until = time.monotonic() + limit
        warned = False
        while not (workers := self._client.nthreads()):
            if time.monotonic() > until:
                raise ClusterError(
                    f"The cluster of `client` has had no worker for {limit:g} seconds: start "
                    "workers, or set `greedynet.worker-timeout` in the configuration of dask to "
                    "wait longer."
                )
            if not warned:
                log.warning("The cluster has no workers: waiting up to %g seconds for one.", limit)
                warned = True
            time.sleep(0.1)
        return frozenset(workers)

    def answer(self, shard: Placed, future: Any) -> Any:
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
                if not waiting or not self._is_alive(shard):
                    raise LostError from error
            except Exception as error:
                # A worker that was restarted at the same address does not know the shard.
                if shard.future.status == "finished" and not isinstance(error, KeyError):
                    raise
                raise LostError from error

    def _is_alive(self, shard: Placed) -> bool:
        return shard.future.status == "finished" and shard.worker in self._client.nthreads()

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
