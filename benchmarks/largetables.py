"""Tables larger than memory: the memory and the time of `fit_table`, beside the size of the file.

    python benchmarks/largetables.py [--rows 250000,500000,1000000] [--columns 10] [--kind csv]

Writes tables of numbers and one category as CSV, or as Parquet with `--kind parquet`, and fits each
of them twice, in processes of their own: in memory, and in blocks (`memory_limit=0`). Prints the
size of the file and of its matrix of numbers, and for both ways the most memory that the process
held above what it held before, that memory over the size of the matrix, the seconds and the error.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
from scaling import memory

from greedynet import fit_table

CHUNK = 100_000


def parts(n, d):
    """Yield a table in parts: a ridge function of the first columns, with a category and noise."""
    for i, start in enumerate(range(0, n, CHUNK)):
        rng = np.random.default_rng(i)
        m = min(CHUNK, n - start)
        X = rng.integers(-9999, 9999, (m, d)) / 1000
        kind = rng.integers(0, 3, m)
        y = np.abs(X[:, 0] + X[:, 1]) + kind * X[:, 2] + rng.normal(size=m)
        columns = {f"x{j}": X[:, j] for j in range(d)}
        columns["kind"] = np.array(["red", "green", "blue"])[kind]
        yield pyarrow.table({**columns, "y": np.round(y, 4)})


def write(path, n, d):
    csv = path.suffix == ".csv"
    writer = None
    for part in parts(n, d):
        if writer is None:
            new = pyarrow.csv.CSVWriter if csv else pyarrow.parquet.ParquetWriter
            writer = new(path, part.schema)
        writer.write_table(part)
    writer.close()


def inside(path, in_blocks, nodes):
    """What is measured, in a process of its own."""
    limit = 0 if in_blocks else 1e15
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / path.name
        write(small, 50_000, 3)
        fit_table(small, "y", max_nodes=nodes, memory_limit=limit)  # loads what is loaded once
    held = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    start = time.perf_counter()
    model = fit_table(path, "y", max_nodes=nodes, memory_limit=limit)
    seconds = time.perf_counter() - start
    rmse = model.about["training"]["rmse"]
    return {"peak": memory("VmHWM") - held, "seconds": seconds, "rmse": rmse}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="250000,500000,1000000")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--kind", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--in-blocks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(inside(options.inside, options.in_blocks, options.nodes)))
        return
    print("rows        file MB  matrix MB   way         peak MB  / matrix   seconds     RMSE")
    with tempfile.TemporaryDirectory() as folder:
        for n in map(int, options.rows.split(",")):
            path = Path(folder) / f"table.{options.kind}"
            write(path, n, options.columns)
            matrix = 8 * n * (options.columns + 4)
            for way in ([], ["--in-blocks"]):
                call = [sys.executable, __file__, "--inside", str(path), *way]
                call += ["--nodes", str(options.nodes)]
                out = subprocess.run(call, stdout=subprocess.PIPE, check=True)
                found = json.loads(out.stdout)
                name = "in blocks" if way else "in memory"
                print(
                    f"{n:<11,} {path.stat().st_size / 1e6:7.1f} {matrix / 1e6:10.1f}   {name:10} "
                    f"{found['peak'] / 1e6:8.1f} {found['peak'] / matrix:9.2f} "
                    f"{found['seconds']:9.1f} {found['rmse']:8.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
