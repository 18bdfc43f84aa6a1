"""Data larger than the memory: a fit from a memory map, its memory, and its time beside reading.

    python benchmarks/outofcore.py [--rows 50000000] [--nodes 30] [--folder DIR] [--cold]

Writes Friedman's first function of five of ten columns, with noise, as float64 to a file in DIR
(a temporary folder by default; 50,000,000 rows are 4.4 GB), and fits a network of `--nodes` nodes
from two `numpy.memmap`s in a process of its own. Prints

- how often the fit read the file, its seconds, and the seconds of reading the file as often and
  doing nothing with it, by the same code, before and after the fit in the same process; and the
  ratio;
  with `--cold` the system forgets the file before every pass, as it must where files are larger
  than the memory;
- the most memory the process held during the fit, above and with what it held before;
- the test error on rows that are not in the file, beside that of a fit in memory on as many of the
  rows as fit there (`--in-memory 1000000`).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scaling import memory, problem

D = 10
CHUNK = 500_000
TEST_ROWS = 50_000


def write(folder, n):
    X = np.memmap(folder / "X.bin", dtype=np.float64, mode="w+", shape=(n, D))
    y = np.memmap(folder / "y.bin", dtype=np.float64, mode="w+", shape=(n,))
    for i, start in enumerate(range(0, n, CHUNK)):
        part = slice(start, min(n, start + CHUNK))
        X[part], y[part] = problem(part.stop - start, D, seed=10 + i)
    X.flush()
    y.flush()


def mapped(folder, n):
    X = np.memmap(folder / "X.bin", dtype=np.float64, mode="r", shape=(n, D))
    return X, np.memmap(folder / "y.bin", dtype=np.float64, mode="r", shape=(n,))


def forget(folder):
    """Let the system drop what it holds of the files in memory."""
    for name in ("X.bin", "y.bin"):
        file = os.open(folder / name, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def reading(X, y, before):
    """Seconds of one pass over the file that does nothing."""
    from greedynet.rows.blocks.readers import ArrayReader
    from greedynet.rows.blocks.source import ahead

    before()
    start = time.perf_counter()
    for _ in ahead(ArrayReader(X, y)):
        pass
    return time.perf_counter() - start


def inside(folder, n, nodes, cold):
    """What is measured, in a process of its own."""
    from greedynet import GreedyNetRegressor
    from greedynet.rows.blocks import source as stream

    X, y = mapped(folder, n)
    GreedyNetRegressor(n_nodes=5).fit(*problem(300, D, seed=1))
    passes = []
    fetch = stream.ahead

    def start_pass():
        """Return the seconds it took to forget, which are not the fit's."""
        start = time.perf_counter()
        if cold:
            forget(folder)
        return time.perf_counter() - start

    def counted(blocks):
        passes.append(start_pass())
        return fetch(blocks)

    before = [reading(X, y, start_pass), reading(X, y, start_pass)]
    stream.ahead = counted
    held = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    start = time.perf_counter()
    model = GreedyNetRegressor(n_nodes=nodes).fit(X, y)
    seconds = time.perf_counter() - start - sum(passes)
    peak = memory("VmHWM")
    stream.ahead = fetch
    T, truth = problem(TEST_ROWS, D, seed=3)
    return {
        "seconds": seconds,
        "passes": len(passes),
        "reading": [*before, reading(X, y, start_pass)],
        "held": held,
        "peak": peak,
        "rmse": float(np.sqrt(np.mean((model.predict(T) - truth) ** 2))),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--in-memory", type=int, default=1_000_000)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(inside(options.folder, options.rows, options.nodes, options.cold)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        if not (folder / "y.bin").exists():
            write(folder, options.rows)
        call = [sys.executable, __file__, "--inside", "--folder", str(folder)]
        call += ["--rows", str(options.rows), "--nodes", str(options.nodes)]
        call += ["--cold"] if options.cold else []
        out = subprocess.run(call, stdout=subprocess.PIPE, check=True)
        report(json.loads(out.stdout), options)


def report(found, options):
    size = 8 * (D + 1) * options.rows
    per_pass = float(np.median(found["reading"]))
    often = per_pass * found["passes"]
    how = "cold" if options.cold else "warm"
    print(f"{options.rows:,} rows x {D}, {size / 2**30:.1f} GiB, {options.nodes} nodes, {how}")
    print(f"fit {found['seconds']:.1f} s, {found['passes']} passes over the file")
    print(f"reading as often {often:.1f} s: ratio {found['seconds'] / often:.2f}")
    print(f"  (one pass {', '.join(f'{s:.2f}' for s in found['reading'])} s)")
    print(f"peak memory {found['peak'] / 2**20:.0f} MiB, before {found['held'] / 2**20:.0f} MiB")
    print(f"test RMSE {found['rmse']:.5f}")
    from greedynet import GreedyNetRegressor

    model = GreedyNetRegressor(n_nodes=options.nodes).fit(*problem(options.in_memory, D, seed=10))
    T, truth = problem(TEST_ROWS, D, seed=3)
    rmse = np.sqrt(np.mean((model.predict(T) - truth) ** 2))
    print(f"in memory, {options.in_memory:,} rows: test RMSE {rmse:.5f}")


if __name__ == "__main__":
    main()
