"""Seconds of a fit against the numbers of rows, columns and nodes, with fitted exponents.

    python benchmarks/cost.py [--jobs 2] [--repeats 3]

A sum of twelve waves along random directions, with a tenth of noise: every node is of use. One
number is varied at a time, from 4,000 rows, 8 columns and at most 50 nodes; printed are the medians
of the seconds of the regressor and of the classifier (whether the wave is positive), and the
exponents `b` of `seconds ~ number^b`, by least squares of logarithms. Meaningful only if nothing
else runs. A tiny fit comes first, so that compilation does not count.
"""

import argparse
import time

import numpy as np

from greedynet import GreedyNetClassifier, GreedyNetRegressor

BASE = {"rows": 4_000, "columns": 8, "nodes": 50}
VARIED = {
    "rows": (500, 1_000, 2_000, 4_000, 8_000, 16_000, 64_000, 256_000),
    "columns": (2, 4, 8, 16, 32, 64, 128),
    "nodes": (12, 25, 50, 100, 200),
}


def problem(rows, columns):
    rng = np.random.default_rng(0)
    W = rng.standard_normal((12, columns)) / np.sqrt(columns)
    X = rng.uniform(-1, 1, (rows, columns))
    y = np.sin(4 * X @ W.T + np.arange(12)).sum(axis=1)
    return X, y + 0.1 * y.std() * rng.standard_normal(rows)


def seconds(make, at, repeats, jobs):
    X, y = problem(at["rows"], at["columns"])
    if make is GreedyNetClassifier:
        y = y > 0
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        make(max_nodes=at["nodes"], n_jobs=jobs).fit(X, y)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def exponent(numbers, taken):
    return np.polyfit(np.log(numbers), np.log(taken), 1)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    makes, how = (GreedyNetRegressor, GreedyNetClassifier), (options.repeats, options.jobs)
    for make in makes:
        seconds(make, {"rows": 1_200, "columns": 3, "nodes": 10}, 1, 1)
    for name, numbers in VARIED.items():
        print(f"\n{name:>10}  regressor  classifier")
        found = []
        for number in numbers:
            at = BASE | {name: number}
            found.append([seconds(make, at, *how) for make in makes])
            print(f"{number:>10,}{found[-1][0]:>11.2f}{found[-1][1]:>12.2f}", flush=True)
        by = [exponent(numbers, taken) for taken in np.transpose(found)]
        print(f"{'exponent':>10}{by[0]:>11.2f}{by[1]:>12.2f}")


if __name__ == "__main__":
    main()
