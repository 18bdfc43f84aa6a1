"""The limit of the width: does allowing more nodes ever hurt?

    pip install -e ".[bench]"
    python benchmarks/limits.py --data DIR [--splits 5] [--only NAME ...] [--jobs 2]

Test RMSE of `GreedyNetRegressor(max_nodes=...)` with 25, 50, 100 and 200 nodes, the default, on the
CSV files in DIR (a header row, numbers, the target in the last column) and on six tables that come
with scikit-learn and statsmodels. Splits are those of `tabular.py`, nine rows in ten to train on.

Prints for each table the mean error of each limit, the mean number of nodes, and the error of the
default relative to the best limit; *paired* is twice the standard error of the mean difference
between the two, relative to the error: below it, they do not differ.
"""

import argparse
import os
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from tabular import read, standard_splits

LIMITS = (25, 50, 100, 200)
ROW = "{:12}" + 4 * "{:>10}" + "{:>8}{:>11}{:>9}"


def packaged():
    """Return six tables that come with packages, by name."""
    import statsmodels.datasets as tables
    from sklearn.datasets import load_diabetes, load_iris, load_wine

    iris, wine = load_iris().data, load_wine().data
    found = {
        "diabetes": load_diabetes(return_X_y=True),
        "iris": (iris[:, :3], iris[:, 3]),
        "wine": (wine[:, 1:], wine[:, 0]),
    }
    for name in ("fair", "star98", "anes96"):
        data = getattr(tables, name).load_pandas()
        target = np.asarray(data.endog, dtype=float).reshape(len(data.endog), -1)[:, 0]
        found[name] = (np.asarray(data.exog, dtype=float), target)
    return found


def errors_of(table, split):
    """Return the errors and numbers of nodes of all limits on one split."""
    from greedynet import GreedyNetRegressor

    (X, y), (train, test) = table, split
    found = []
    for max_nodes in LIMITS:
        model = GreedyNetRegressor(max_nodes=max_nodes, n_jobs=1).fit(X[train], y[train])
        error = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
        found.append((error, model.n_nodes_))
    return found


def print_row(name, found):
    errors, nodes = np.moveaxis(np.array(found), 2, 0)
    means = errors.mean(axis=0)
    best = int(np.argmin(means))
    paired = 2 * np.std(errors[:, -1] - errors[:, best]) / np.sqrt(len(errors)) / means[best]
    shown = [f"{error:.4g}" for error in means]
    print(
        ROW.format(
            name, *shown, f"{nodes[:, -1].mean():.0f}", f"{means[-1] / means[best]:.3f}",
            f"{paired:.3f}",
        ),
        flush=True,
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of files")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    tables = {path.stem: read(path) for path in sorted(arguments.data.glob("*.csv"))} | packaged()
    print(ROW.format("table", *LIMITS, "nodes", "200/best", "paired"))
    with Pool(arguments.jobs) as pool:
        for name in arguments.only or tables:
            splits = list(standard_splits(len(tables[name][1]), arguments.splits))
            print_row(name, pool.map(partial(errors_of, tables[name]), splits, chunksize=1))


if __name__ == "__main__":
    # Every split has a core of its own.
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
