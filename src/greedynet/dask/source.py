"""`DaskSource`: the rows of dask collections, summed on their workers."""

import pickle
import threading
import time
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
from distributed import Client
from distributed.protocol.pickle import dumps
from numpy.typing import NDArray

from greedynet.dask.cluster import Shards, log
from greedynet.dask.partitions import Partitions
from greedynet.dask.shard import Sum
from greedynet.rows.blocks import Labels, Preparation, Work, joined
from greedynet.rows.rows import Rows

T = TypeVar("T")


class DaskSource:
    """Rows in the memory of the workers; each pass sends a few numbers and gathers sums.

    To be used in a `with` block, at whose end the workers release the rows.

    Every `check_every` seconds it asks whether a worker that does not answer is still alive.
    """

    def __init__(self, partitions: Partitions, client: Client, check_every: float = 1.0) -> None:
        self.n_features = partitions.n_features
        self.output_shape = partitions.output_shape
        self.feature_names = partitions.feature_names
        self._n_partitions = len(partitions)
        self._shards = Shards(client, partitions, check_every)
        self._counts: dict[int, int] = {}
        # A fit may make requests from several threads, which share the state of the workers.
        self._lock = threading.Lock()

    def __enter__(self) -> "DaskSource":
        return self

    def __exit__(self, *error: object) -> None:
        self._shards.close()

    def total(self, preparation: Preparation, work: Work[T]) -> tuple[int, T]:
        # With dask's pickling: an activation may be a class defined in the user's script.
        sent = pickle.dumps(preparation), dumps(work)
        start = time.perf_counter()
        with self._lock:
            starts = self._starts()
            answers: list[Sum] = self._shards.ask(
                lambda actor, numbers: actor.total(*sent, [starts.get(n, 0) for n in numbers])
            )
            self._check_counts(answers)
        slowest = max(answer.seconds for answer in answers)
        whole = time.perf_counter() - start
        log.debug("Pass of %.4f seconds, %.4f of them in the slowest shard.", whole, slowest)
        found = [answer.found for answer in answers if answer.found is not None]
        if not found:
            raise ValueError("`X` must have rows of positive weight, got none.")
        whole_sum = found[0]
        for part in found[1:]:
            whole_sum = work.join(whole_sum, part)
        return sum(self._counts.values()), whole_sum

    def take(self, preparation: Preparation, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at ascending positions among all rows, in the order of the partitions."""
        by_partition = self._by_partition(positions)
        sent = pickle.dumps(preparation)

        def ask(actor: Any, numbers: tuple[int, ...]) -> Any:
            return actor.take(sent, {n: by_partition[n] for n in numbers if n in by_partition})

        with self._lock:
            answers: list[dict[int, Rows]] = self._shards.ask(ask)
        parts = {n: rows for answer in answers for n, rows in answer.items()}
        return joined([parts[n] for n in sorted(parts)])

    def labels(self) -> Labels:
        with self._lock:
            answers: list[list[Labels]] = self._shards.ask(lambda actor, _: actor.labels())
        found = [labels for answer in answers for labels in answer]
        if not found:
            raise ValueError("`X` must have rows, got none.")
        return Labels.joined(found)

    def _by_partition(self, positions: NDArray[np.intp]) -> dict[int, NDArray[np.intp]]:
        """Split positions among all rows into positions within the partitions."""
        starts = self._starts()
        cuts = np.searchsorted(positions, [*starts.values(), sum(self._counts.values())])
        return {
            n: positions[low:high] - starts[n]
            for n, (low, high) in enumerate(pairwise(cuts))
            if high > low
        }

    def _starts(self) -> dict[int, int]:
        """Return the position of each partition's first row; empty before the rows are counted."""
        positions = accumulate(self._counts.values(), initial=0)
        return dict(zip(self._counts, positions, strict=False))

    def _check_counts(self, answers: list[Sum]) -> None:
        """Store the number of rows of every partition, and check that it does not change."""
        counted = sorted(pair for answer in answers for pair in answer.counts.items())
        known = sorted(self._counts.items())
        if [n for n, _ in counted] != list(range(self._n_partitions)):
            raise RuntimeError(
                f"Each of the {self._n_partitions} partitions must be summed exactly once, got "
                f"{[n for n, _ in counted]}."
            )
        changed = [(n, a, b) for (n, a), (_, b) in zip(known, counted, strict=False) if a != b]
        if changed:
            n, before, now = changed[0]
            raise ValueError(
                f"`X` must have the same rows in every pass, {before:,} in partition {n} the first "
                f"time, got {now:,} now."
            )
        self._counts = dict(counted)
