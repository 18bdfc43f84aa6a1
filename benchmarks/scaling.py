"""Large data: how time and memory of a fit grow, next to LightGBM, and what a first fit costs.

    pip install -e ".[bench]"
    python benchmarks/scaling.py [--rows 1000000] [--rounds 3] [--quick]

Fits Friedman's first function of five of the columns, with noise of a tenth of its deviation.
Prints, in one run:

- seconds and peak memory of a fit against rows (up to `--rows`), columns and nodes, and the
  exponents of the seconds: 1 is proportional;
- at the most rows, seconds and test RMSE as multiples of those of LightGBM with 300 trees;
- nanoseconds per candidate neuron of the scan, on one core;
- seconds of the first fit in a fresh process, imports aside, without and with a cache of compiled
  code, and of the second fit in the same process.

Every fit has a process of its own, with two threads. Before it come the data and a tiny fit that
loads and compiles; memory is what the fit takes at its peak above what the process holds then, also
as a multiple of the data's size. Seconds are the best of `--rounds` fits, ours and theirs alike: on
busy cores, threads that wait for each other may stall for minutes. A line is marked where the
slowest took more than twice as long. `--quick` is a first look, with few rows and nodes.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_JOBS = 2
NOISE = 0.5
TEST_ROWS = 50_000
ROW = "{:>10}{:>9}{:>7}{:>10}{:>11}{:>9}{:>10}"


def problem(n, d, seed):
    """Rows and noisy values of Friedman's first function, without large intermediate arrays."""
    stream = np.random.default_rng(seed)
    X = stream.random((n, d))
    y = stream.standard_normal(n)
    y *= NOISE
    for start in range(0, n, 10_000):
        x = X[start : start + 10_000].T
        y[start : start + 10_000] += 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2
        y[start : start + 10_000] += 10 * x[3] + 5 * x[4]
    return X, y


def estimator(method, n_nodes):
    if method == "lightgbm":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=300, n_jobs=N_JOBS, verbose=-1)
    from greedynet import GreedyNetRegressor

    return GreedyNetRegressor(n_nodes=n_nodes, n_jobs=N_JOBS)


def fresh(what, *values, **environment):
    """What a function of this file, by name, returns in a process of its own."""
    code = [sys.executable, __file__, "--inside", json.dumps([what, *values])]
    run = subprocess.run(code, env=os.environ | environment, stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def measure(rounds, method, n, d, n_nodes):
    """Seconds of each fit, bytes the first takes and bytes of the data, and test RMSE."""
    # As many columns as later: a search may have its own code for some numbers of them.
    estimator(method, 5).fit(*problem(200, d, seed=1))
    X, y = problem(n, d, seed=2)
    model = estimator(method, n_nodes)
    before = memory("VmRSS")
    seconds = [timed_fit(model, X, y)]
    taken = memory("VmHWM") - before
    seconds += [timed_fit(model, X, y) for _ in range(rounds - 1)]
    X_test, y_test = problem(TEST_ROWS, d, seed=3)
    rmse = np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))
    return seconds, taken, X.nbytes + y.nbytes, rmse


def timed_fit(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def memory(entry):
    """Bytes this process holds (VmRSS) or has held at most (VmHWM).

    getrusage would count the parent's as well.
    """
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if entry in line).split()[1])


def first_fits():
    """Seconds of the first fit of this process, and of the second."""
    X, y = problem(300, 5, seed=1)
    X = X[:, :3]
    model = estimator("greedynet", None)
    return [timed_fit(model, X, y) for _ in range(2)]


def scan_cost():
    """Print nanoseconds per candidate neuron on one core, from 1,000 rows to 1,000,000.

    Beside an affine term one pass scores `u` and `-u`, so a row is two candidates. A step of the
    search takes the newest column off and scans; both count.
    """
    from greedynet.activations import ReLU
    from greedynet.search.scans import make_group

    stream = np.random.default_rng(0)
    print("\nthe scan, nanoseconds per candidate neuron on one core")
    print("{:>10}{:>10}{:>10}{:>10}".format("rows", "scan", "column", "together"))
    for n in (1_000, 10_000, 100_000, 1_000_000):
        X, m = stream.standard_normal((n, 5)), max(1, 2**16 // n)
        group = make_group(ReLU(), X, np.empty(0), mirrored=True)(stream.standard_normal((m, 5)))
        residual, column = stream.standard_normal((2, 1, n))
        column = np.ascontiguousarray(column.T / np.linalg.norm(column), dtype=group.precision)
        look = best_of(group.scan, residual, 10, 1e-5)
        take = best_of(group.take_off, column / 1_000, 1)
        look, take = (1e9 * seconds / (2 * m * n) for seconds in (look, take))
        print(f"{n:>10}{look:>10.2f}{take:>10.2f}{look + take:>10.2f}")


def best_of(function, *arguments, rounds=5):
    """Return the least seconds of some calls; the first, which may compile, does not count."""
    function(*arguments)
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def sweep(name, sizes, cases, rounds):
    """Print a line for each case and the exponent of the seconds; return the last case's result."""
    print(ROW.format("rows", "columns", "nodes", "seconds", "peak MiB", "/ data", "rmse"))
    results = [print_case(rounds, "greedynet", *case) for case in cases]
    slope, _ = np.polyfit(np.log(sizes), np.log([seconds for seconds, *_ in results]), 1)
    print(f"  seconds grow as {name} to the power of {slope:.2f}\n", flush=True)
    return results[-1]


def print_case(rounds, method, n, d, n_nodes):
    """Print the figures of one case, and return its seconds, bytes and test RMSE."""
    seconds, taken, size, rmse = fresh("measure", rounds, method, n, d, n_nodes)
    best, worst = min(seconds), max(seconds)
    figures = f"{best:.2f}", f"{taken / 2**20:,.0f}", f"{taken / size:.2f}", f"{rmse:.4f}"
    nodes = n_nodes if method == "greedynet" else "-"
    mark = f"  slowest {worst:.2f} s" if worst > 2 * best else ""
    print(ROW.format(f"{n:,}", d, nodes, *figures) + mark, flush=True)
    return best, taken, rmse


def against_lightgbm(ours, rows, n_nodes, rounds):
    if importlib.util.find_spec("lightgbm") is None:
        print('LightGBM is left out: pip install -e ".[bench]"\n')
        return
    print("LightGBM with 300 trees")
    theirs = print_case(rounds, "lightgbm", rows, 10, n_nodes)
    seconds, taken, rmse = np.divide(ours, theirs)
    print(
        f"  ours / theirs: seconds {seconds:.2f}, peak memory {taken:.2f}, test rmse {rmse:.3f} "
        f"(the noise is {NOISE})\n",
        flush=True,
    )


def growth(rows, n_nodes, rounds):
    """Against rows, with LightGBM at the most of them, then against columns and nodes."""
    sizes = sorted({max(1_000, rows * share // 100) for share in (1, 10, 30, 100)})
    ours = sweep("rows", sizes, [(n, 10, n_nodes) for n in sizes], rounds)
    against_lightgbm(ours, sizes[-1], n_nodes, rounds)
    moderate = max(1_000, rows // 10)
    columns = [5, 10, 20, 50]
    sweep("columns", columns, [(moderate, d, n_nodes) for d in columns], rounds)
    widths = [n_nodes // 4, n_nodes // 2, n_nodes, 2 * n_nodes]
    sweep("nodes", widths, [(moderate, 10, width) for width in widths], rounds)


def cold_and_warm():
    """The first fit of a process that has to compile, and of one that finds the code compiled."""
    print("first fit, 300 rows, 3 columns, width chosen: seconds, and of the second fit")
    with tempfile.TemporaryDirectory() as folder:
        for state in ("empty cache", "filled cache"):
            first, second = fresh("first_fits", NUMBA_CACHE_DIR=folder)
            print(f"  {state:14}{first:8.2f}{second:8.2f}    ratio {first / second:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="fits of which the best is taken")
    parser.add_argument("--quick", action="store_true", help="20,000 rows and 20 nodes")
    parser.add_argument("--inside", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        what, *values = arguments.inside
        print(json.dumps({"measure": measure, "first_fits": first_fits}[what](*values)))
        return
    rows, n_nodes = (20_000, 20) if arguments.quick else (arguments.rows, 100)
    growth(rows, n_nodes, arguments.rounds)
    scan_cost()
    cold_and_warm()


if __name__ == "__main__":
    main()
