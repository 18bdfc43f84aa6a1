"""Diamonds: prices of 53,940 diamonds, a real table with typing errors, against LightGBM.

    pip install -e ".[bench]" plotnine
    python benchmarks/diamonds.py [--splits 3] [--rows N] [--jobs 2]

The table is that of the package plotnine. Some lengths are 0 or ten times too large. Cut, colour
and clarity become indicators, 26 inputs in all. Splits are random, 70 % of the rows to train on.
Prints for each split, and on average, the root mean squared error on the other rows, the expected
one that the fit tells and their ratio, the error of LightGBM with its defaults and the ratio of
ours to it, the nodes, and the seconds of both fits.
"""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

from greedynet import GreedyNetRegressor

TITLES = ("ours", "told", "true/told", "lightgbm", "ours/lgbm", "nodes", "seconds", "lgbm s")


def diamonds():
    """Return inputs and prices."""
    package = find_spec("plotnine")
    if package is None:
        raise SystemExit("The table is part of the package plotnine: pip install plotnine")
    table = pd.read_csv(Path(package.origin).parent / "data" / "diamonds.csv")
    inputs = pd.get_dummies(table.drop(columns="price"))
    return inputs.to_numpy(dtype=float), table["price"].to_numpy(dtype=float)


def timed(model, X, y, X_new, y_new):
    """Return the error on new rows, and the seconds of the fit."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return float(np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))), seconds


def row(X, y, seed, n_rows, n_jobs):
    """Return the figures of one split."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, new = np.split(order, [round(0.7 * len(y))])
    data = X[train[:n_rows]], y[train[:n_rows]], X[new], y[new]
    model = GreedyNetRegressor(n_jobs=n_jobs)
    ours, seconds = timed(model, *data)
    trees, seconds_trees = timed(LGBMRegressor(n_jobs=n_jobs, verbose=-1), *data)
    told = model.expected_error_
    return ours, told, ours / told, trees, ours / trees, model.n_nodes_, seconds, seconds_trees


def print_row(name, figures):
    print(f"{name:6}" + "".join(f"{figure:11.4g}" for figure in figures), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, help="the first so many training rows only")
    parser.add_argument("--jobs", type=int, help="threads of both methods; all cores by default")
    arguments = parser.parse_args()
    X, y = diamonds()
    print(f"{'split':6}" + "".join(f"{title:>11}" for title in TITLES))
    rows = []
    for seed in range(arguments.splits):
        rows.append(row(X, y, seed, arguments.rows, arguments.jobs))
        print_row(str(seed), rows[-1])
    print_row("mean", np.mean(rows, axis=0))


if __name__ == "__main__":
    main()
