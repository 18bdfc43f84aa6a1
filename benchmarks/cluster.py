"""Fits on a dask cluster: what a pass costs beyond the workers' own work, and what workers bring.

    python benchmarks/cluster.py                 # all three parts, 4,000,000 rows
    python benchmarks/cluster.py --rows 400000   # smaller
    python benchmarks/cluster.py overhead kills  # some parts

Every part prints a ratio or a number of correct results; seconds belong to a machine. Workers are
processes with one thread each, and compute their rows themselves, so that no data are sent.
"""

import argparse
import logging
import os
import random
import signal
import time
from contextlib import contextmanager

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from greedynet import GreedyNetRegressor
from greedynet.dask import DaskGreedyNetRegressor
from greedynet.dask.cluster import Shards

N_FEATURES = 10
N_NODES = 30
N_KILLS = 10
N_TURNS = 3


class Passes(logging.Handler):
    """Collects the seconds of every pass, and those of the slowest shard in it."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.seconds = []
        log = logging.getLogger("greedynet.dask")
        log.setLevel(logging.DEBUG)
        log.propagate = False
        log.addHandler(self)

    def emit(self, record):
        if record.levelno == logging.DEBUG:
            self.seconds.append(record.args)


@contextmanager
def cluster_of(n_workers):
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        # The first task on a worker imports the library.
        client.run(lambda: __import__("greedynet.dask"))
        yield client


def problem(n_rows, n_partitions=16):
    rng = da.random.default_rng(0)
    chunks = (-(-n_rows // n_partitions), N_FEATURES)
    X = rng.uniform(-1, 1, (n_rows, N_FEATURES), chunks=chunks)
    noise = 0.1 * rng.standard_normal(n_rows, chunks=chunks[0])
    return X, da.sin(3 * X[:, 0]) + abs(X[:, 1] + X[:, 2]) + X[:, 3] * X[:, 4] + noise


def overhead(n_rows, passes):
    """What a pass costs beyond the work of the slowest of two workers."""
    with cluster_of(2) as client:
        X, y = client.persist(problem(n_rows))
        wait([X, y])
        DaskGreedyNetRegressor(N_NODES).fit(X, y)
        passes.seconds.clear()
        DaskGreedyNetRegressor(N_NODES).fit(X, y)
        # The first pass places the partitions.
        whole, work = np.array(passes.seconds[1:]).T
    beyond = 1e3 * (whole - work)
    print(
        f"overhead of {len(beyond)} passes over {n_rows:,} rows, two workers: median "
        f"{np.median(beyond):.1f} ms, largest {beyond.max():.1f} ms; "
        f"a pass takes {np.median(whole / work):.2f} times its slowest shard"
    )


def speed(n_rows, passes):
    """Two single-threaded workers against one, in turn: the fit, and its passes alone."""
    ratios = []
    for _ in range(N_TURNS):
        (one, one_alone), (two, two_alone) = (timed(n, n_rows, passes) for n in (1, 2))
        ratios.append(one / two)
        print(
            f"  {one / two:.2f} times as fast, the passes alone {one_alone / two_alone:.2f} times"
        )
    print(f"two workers against one: {np.median(ratios):.2f} times as fast, the median")


def timed(n_workers, n_rows, passes):
    """Return the seconds of a fit and of its passes."""
    with cluster_of(n_workers) as client:
        X, y = client.persist(problem(n_rows))
        wait([X, y])
        passes.seconds.clear()
        start = time.perf_counter()
        model = DaskGreedyNetRegressor(N_NODES).fit(X, y)
        seconds = time.perf_counter() - start
    alone = sum(whole for whole, _ in passes.seconds)
    print(
        f"{n_workers} workers, {n_rows:,} rows that they hold already, {model.n_nodes_} nodes: "
        f"{seconds:.1f} s, {alone:.1f} s of them in {len(passes.seconds)} passes"
    )
    return seconds, alone


def kills(n_rows, passes):
    """A worker is killed in the middle of a random pass, ten times over."""
    X, y = problem(n_rows)
    wanted = GreedyNetRegressor(N_NODES).fit(X.compute(), y.compute()).network_
    chance = random.Random(0)
    right, costs = 0, []
    for _ in range(N_KILLS):
        passes.seconds.clear()
        # A new cluster each time: dask does not always start a worker again that was killed.
        with cluster_of(3) as client, one_killed(client, at=chance.randrange(8)):
            network = DaskGreedyNetRegressor(N_NODES).fit(X, y).network_
        worst = max(
            np.abs(getattr(network, name) - getattr(wanted, name)).max()
            for name in ("inner_weights", "biases", "outer_weights")
        )
        right += worst < 1e-8
        costs.append(max(whole for whole, _ in passes.seconds))
    print(
        f"{right} of {N_KILLS} fits with a worker killed give the network of memory to 1e-8; the "
        f"longest pass of each: median {np.median(costs):.1f} s"
    )


@contextmanager
def one_killed(client, at):
    """Kill the worker of a shard when the questions of a pass have been sent."""
    pids, real, asked, killed = client.run(os.getpid), Shards._called, [], []

    def called(shards, shard, what):
        future = real(shards, shard, what)
        asked.append(shard)
        # Each of three shards is asked in a pass.
        if len(asked) == 3 * at + 1:
            os.kill(pids[shard.worker], signal.SIGKILL)
            killed.append(shard.worker)
        return future

    Shards._called = called
    try:
        yield killed
    finally:
        Shards._called = real


PARTS = {"overhead": overhead, "speed": speed, "kills": kills}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all if none is named")
    parser.add_argument("--rows", type=int, default=4_000_000)
    arguments = parser.parse_args()
    collected = Passes()
    for name in arguments.parts or PARTS:
        # Kills and the overhead of a pass are no matter of many rows.
        rows = arguments.rows if name == "speed" else min(arguments.rows, 100_000)
        PARTS[name](rows, collected)
