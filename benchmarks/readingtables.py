"""Reading tables: the time beside DuckDB's own, a fit beside that of arrays, and one row.

    python benchmarks/readingtables.py [--rows 2000000] [--columns 10] [--repeat 3]

Writes a CSV of numbers, and reports ratios of one run, of seconds of processors, which other
processes on the machine change little: to read and survey the file, and to have its rows as a
matrix, over DuckDB's own reading (typed columns as arrays of NumPy); a fit of these rows over one
of the arrays; and the milliseconds of predicting one row, given as a mapping and as a data frame.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from largetables import write

from greedynet import GreedyNetRegressor, fit_table
from greedynet.tables import fit as fits
from greedynet.tables.labelled import read_rows
from greedynet.tables.readers import open_table
from greedynet.tables.roles import NO_ROLES
from greedynet.tables.totals import leave_out_totals


def seconds(function):
    """Return what a function gives, and the seconds of processors that it takes."""
    start = time.process_time()
    return function(), time.process_time() - start


def surveyed(path):
    table = open_table(path)
    table.read_numbers(table.names)
    leave_out_totals(table)
    how = {"ignore": [], "text": [], "use": [], "classes": False, "missing": "learn"}
    return table, fits._surveyed(table, "y", NO_ROLES, dates=None, **how)[0]


def rows_of(table, types):
    return read_rows(types.inputs, types.target, table, "learn")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write(path, options.rows, options.columns)
        ratios = []
        for _ in range(options.repeat):
            query = f"from read_csv('{path}')"
            _, own = seconds(lambda q=query: duckdb.connect().execute(q).fetchnumpy())
            (table, types), survey = seconds(lambda: surveyed(path))
            rows, read = seconds(lambda t=table, y=types: rows_of(t, y))
            ratios.append((survey / own, (survey + read) / own))
            print(f"DuckDB {own:.2f} s, surveyed {survey:.2f} s, rows {read:.2f} s", flush=True)
        X, y = np.array(rows.X), np.array(rows.y)
        _, of_arrays = seconds(lambda: GreedyNetRegressor().fit(X, y))
        _, of_rows = seconds(lambda: GreedyNetRegressor().fit(rows.X, rows.y))
        model, whole = seconds(lambda: fit_table(path, "y"))
        print(f"surveyed over DuckDB {np.median([r[0] for r in ratios]):.2f}, ", end="")
        print(f"rows over DuckDB {np.median([r[1] for r in ratios]):.2f}")
        print(f"fit of rows over fit of arrays {of_rows / of_arrays:.2f}, ", end="")
        print(f"fit_table over fit of arrays {whole / of_arrays:.2f} ({of_arrays:.1f} s)")
        one = {"x0": [1.0], "x1": [2.0], "kind": ["red"]}
        one |= {name: [0.5] for name in model.columns.names if name not in one}
        for row in (one, pd.DataFrame(one)):
            took = []
            for _ in range(50):
                start = time.perf_counter()
                model.predict(row)
                took.append(time.perf_counter() - start)
            print(f"one row, {type(row).__name__}: {1e3 * np.median(took):.2f} ms")


if __name__ == "__main__":
    main()
