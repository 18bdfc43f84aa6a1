"""Smaller networks: nodes and error of each way to choose a network by `select`.

    python benchmarks/smaller.py --data DIR [--splits 5] [--only NAME ...]    # real tables
    python benchmarks/smaller.py --half even [--seeds 100] [--jobs 2]         # random problems

Real tables are CSV files in DIR, concrete, energy, power and yacht by default, on the first of the
splits of `tabular.py`: means of the test RMSE and of the nodes, and both relative to "best".

Random problems are those of `judgement.py`: the error on new rows and the nodes relative to "best",
as geometric means, the largest relative error, and the share of problems in which it is above 1.1.
"""

import argparse
import os
import warnings
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from randomproblems import draw
from tabular import read, standard_splits

from greedynet import GreedyNetRegressor

CHOICES = ("best", "1se", 0.02, 0.05, 0.1)
TABLES = ("concrete", "energy", "power", "yacht")
# Errors below this fraction of the mean's are the same: the problem is reproduced.
EXACT = 1e-9


def fitted(X, y, X_new, y_new, **options):
    """Return the error on new rows and the nodes for each choice, as an array of two columns."""
    rows = []
    for choice in CHOICES:
        model = GreedyNetRegressor(select=choice, **options).fit(X, y)
        rows.append((np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2)), model.n_nodes_))
    return np.array(rows)


def of_seed(seed):
    warnings.filterwarnings("ignore")
    problem = draw(seed)
    found = fitted(problem.X, problem.y, problem.X_new, problem.y_new, n_jobs=1)
    least = EXACT * np.sqrt(np.mean((problem.y_new - problem.y.mean()) ** 2))
    return np.maximum(found, [least, 1.0])


def of_table(path, n_splits):
    X, y = read(path)
    splits = standard_splits(len(y), n_splits)
    return np.mean([fitted(X[a], y[a], X[b], y[b]) for a, b in splits], axis=0)


def print_tables(paths, n_splits):
    print(f"{n_splits} splits")
    print(f"{'file':12}{'select':>8}{'rmse':>10}{'/ best':>8}{'nodes':>8}{'/ best':>8}")
    for path in paths:
        found = of_table(path, n_splits)
        for choice, (error, nodes), relative in zip(CHOICES, found, found / found[0], strict=True):
            figures = f"{error:10.4g}{relative[0]:8.3f}{nodes:8.1f}{relative[1]:8.2f}"
            print(f"{path.stem:12}{choice!s:>8}{figures}", flush=True)


def print_campaign(seeds, n_jobs):
    with Pool(n_jobs) as pool:
        found = np.array(list(pool.imap_unordered(of_seed, seeds)))
    errors, nodes = np.moveaxis(found / found[:, :1], -1, 0)
    print(f"{len(found)} problems, relative to {CHOICES[0]}")
    print(f"{'select':>8}{'error':>8}{'largest':>9}{'> 1.1, %':>10}{'nodes':>8}")
    for choice, error, n in zip(CHOICES, errors.T, nodes.T, strict=True):
        mean, mean_nodes = (np.exp(np.mean(np.log(ratio))) for ratio in (error, n))
        above = 100 * np.mean(error > 1.1)
        print(f"{choice!s:>8}{mean:8.3f}{error.max():9.2f}{above:10.1f}{mean_nodes:8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of files")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=TABLES)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--half", choices=["even", "odd"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if arguments.data is not None:
        print_tables([arguments.data / f"{name}.csv" for name in arguments.only], arguments.splits)
    if arguments.half is not None:
        first = ("even", "odd").index(arguments.half)
        print_campaign(range(first, arguments.seeds, 2), arguments.jobs)


if __name__ == "__main__":
    main()
