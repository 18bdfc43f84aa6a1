"""Campaigns: a great many attempts to break the library, counted.

    python benchmarks/campaigns.py --out FOLDER                  # all, at goal size; resumes
    python benchmarks/campaigns.py --out FOLDER --only files arrays
    python benchmarks/campaigns.py --out FOLDER --sizes files=1000 kills=20
    python benchmarks/campaigns.py --out FOLDER --read           # only the counts so far

- files: damaged and forged model files (`hostilefiles.py`), with at most 1 GB of memory more
- tablefiles: the same, of models of tables with columns of all kinds
- arrays: arrays and parameters at the edge of the possible (`hostilearrays.py`)
- tables: CSV files (`hostiletables.py`)
- names: names, levels, paths and model files that would be code (`hostilenames.py`)
- kills: fits with a checkpoint, killed with SIGKILL at a random moment, some of them twice, and
  begun again: the network must be the same to the last bit
- workers: fits on dask, with a worker killed in the middle of a pass: the network must be that of
  memory to 1e-8

Every number from 0 on is the seed of one attempt, so that a fault can be repeated. FOLDER has a
file of JSON lines for each campaign, one for every batch: the seeds, the counts, and the faults.
An interrupted campaign begins with the first seed that is not in it. What is promised is in
docs/reliability.md; anything else counts as a fault, and the exit code is 1.
"""

import argparse
import json
import logging
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import checkpoints
import hostilearrays
import hostilefiles
import hostilenames
import hostiletables
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.settings import FitSettings, LadderSettings, LogisticSettings
from greedynet.rows.splitting import FoldSettings
from greedynet.support.threads import deterministic_threads

GOALS = {
    "files": 100_000,
    "tablefiles": 5_000,
    "arrays": 100_000,
    "tables": 5_000,
    "names": 300,
    "kills": 1_000,
    "workers": 100,
}
BATCHES = {
    "files": 500,
    "tablefiles": 250,
    "arrays": 250,
    "tables": 250,
    "names": 100,
    "kills": 20,
    "workers": 10,
}
MORE_MEMORY = 2**30
# Of the fits on dask.
N_NODES = 10
# One array fit in so many chooses by as many folds as by default; the others by few, to save time.
WITH_ALL_FOLDS = 20

FEW_FOLDS = EstimatorSettings(
    fit=FitSettings(
        ladder=LadderSettings(used=((0, 3), (30, 1)), widths_averaged=0),
        logistic=LogisticSettings(folds=FoldSettings(max_repeats=1)),
    )
)


# Attempts: a seed and a folder for files -> what became of it; an error is a fault


def files(seed, folder):
    name, data = hostilefiles.draw(seed)
    return f"{name.split()[0]}, {hostilefiles.verdict(data, folder / 'model')}"


def tablefiles(seed, folder):
    name, data = hostilefiles.draw(seed, hostilefiles.OF_TABLES)
    return f"{name.split()[0]}, {hostilefiles.verdict(data, folder / 'model')}"


def arrays(seed, folder):
    settings = EstimatorSettings() if seed % WITH_ALL_FOLDS == 0 else FEW_FOLDS
    with settings_context(settings):
        return hostilearrays.verdict(hostilearrays.draw(seed), folder / "model")


def tables(seed, folder):
    with settings_context(FEW_FOLDS):
        return hostiletables.verdict(hostiletables.draw(seed), folder)


def names(seed, folder):
    with settings_context(FEW_FOLDS):
        return hostilenames.verdict(hostilenames.draw(seed), folder)


# Kills


def kills(seed, folder):
    """Kill a fit once or twice, and let it end."""
    chance = random.Random(seed)
    name, n_kills = chance.choice(list(checkpoints.FITS)), chance.choice([1, 1, 2])
    n_done, n_resumed, same = checkpoints.killed_and_resumed(
        name, folder, chance, n_kills, FEW_FOLDS
    )
    if not same:
        raise AssertionError(f"{name}: another network after {n_done} kills")
    if not n_done:
        return "the fit was over before"
    return "same network, from a checkpoint" if n_resumed else "same network, from the beginning"


# Workers of dask


@cache
def _in_memory():
    from cluster import problem

    X, y = problem(20_000, 8)
    with settings_context(FEW_FOLDS):
        return X, y, GreedyNetRegressor(N_NODES).fit(X.compute(), y.compute()).network_


class _Cluster:
    """A cluster of three workers, whose nannies replace those that are killed."""

    def __init__(self):
        self._stack = ExitStack()
        self._client = None

    def whole(self):
        """Return a client of three workers, of a new cluster if one is not replaced in time."""
        from cluster import cluster_of

        until = time.monotonic() + 30
        while self._client is not None and not self._is_whole():
            if time.monotonic() > until:
                self.close()
            time.sleep(0.1)
        if self._client is None:
            self._client = self._stack.enter_context(cluster_of(3))
        return self._client

    def _is_whole(self):
        """Whether three workers answer: the scheduler may still count one that was killed."""
        try:
            return len(self._client.run(os.getpid)) == 3
        except OSError:
            return False

    def close(self):
        self._client = None
        self._stack.close()


CLUSTER = _Cluster()


def workers(seed, folder):
    """Kill a worker in the middle of a pass."""
    from cluster import one_killed

    from greedynet.dask import DaskGreedyNetRegressor

    logging.getLogger("greedynet.dask").setLevel(logging.CRITICAL)
    X, y, wanted = _in_memory()
    at = random.Random(seed).randrange(6)
    with settings_context(FEW_FOLDS), one_killed(CLUSTER.whole(), at) as killed:
        network = DaskGreedyNetRegressor(N_NODES).fit(X, y).network_
    if not killed:
        return "the fit was over before"
    worst = max(
        np.abs(getattr(network, name) - getattr(wanted, name)).max()
        for name in ("inner_weights", "biases", "outer_weights")
    )
    if not worst < 1e-8:
        raise AssertionError(f"weights differ by {worst:.1e}")
    return "same network"


CAMPAIGNS = {f.__name__: f for f in (files, tablefiles, arrays, tables, names, kills, workers)}


# Batches


@contextmanager
def bounded_memory(name):
    """Let a campaign of files take so much memory more, and no more."""
    if name not in ("files", "tablefiles"):
        yield
        return
    hostilefiles.models()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def place_of(error):
    """Return the innermost place of an error in the library or the attempt, as file and line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "greedynet" in f.filename or "benchmarks" in f.filename]
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""


def batch(name, seeds):
    """Return the record of some attempts."""
    counts, faults, start = Counter(), [], time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                counts[CAMPAIGNS[name](seed, Path(folder))] += 1
            except Exception as error:
                counts["FAULT"] += 1
                said = f"{type(error).__name__}: {error}"[:500]
                faults.append({"seed": seed, "error": said, "where": place_of(error)})
    seconds = time.perf_counter() - start
    ends = {"from": seeds[0], "to": seeds[-1] + 1, "seconds": round(seconds, 1)}
    return ends | {"counts": dict(counts), "faults": faults}


def records_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(name, path, size):
    """Do what is left of a campaign."""
    done = max((record["to"] for record in records_of(path)), default=0)
    # Held throughout: to look for the libraries of BLAS anew in each fit takes as long as a fit.
    with deterministic_threads(1), bounded_memory(name):
        while done < size:
            record = batch(name, range(done, min(size, done + BATCHES[name])))
            with open(path, "a") as file:
                file.write(json.dumps(record) + "\n")
            done = record["to"]
            CLUSTER.close()
            print(f"{name}: {done:,} of {size:,}, {record['counts']}", flush=True)


def summary(name, path):
    """Return the counts as text, and the number of faults."""
    records = records_of(path)
    counts = sum((Counter(record["counts"]) for record in records), Counter())
    lines = [f"{name}: {sum(counts.values()):,} in {sum(r['seconds'] for r in records):,.0f} s"]
    lines += [f"  {count:8,} {what}" for what, count in counts.most_common()]
    for fault in [fault for record in records for fault in record["faults"]][:20]:
        lines.append(f"  seed {fault['seed']}: {fault['error'][:200]}")
    return "\n".join(lines), counts["FAULT"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=list(CAMPAIGNS), default=list(CAMPAIGNS))
    parser.add_argument("--sizes", nargs="+", default=[], metavar="NAME=SIZE")
    parser.add_argument("--read", action="store_true", help="only print the counts so far")
    arguments = parser.parse_args()
    sizes = GOALS | {n: int(size) for n, size in (pair.split("=") for pair in arguments.sizes)}
    arguments.out.mkdir(parents=True, exist_ok=True)
    n_faults = 0
    for name in arguments.only:
        path = arguments.out / f"{name}.jsonl"
        if not arguments.read:
            run(name, path, sizes[name])
        text, found = summary(name, path)
        print(text, flush=True)
        n_faults += found
    sys.exit(1 if n_faults else 0)


if __name__ == "__main__":
    main()
