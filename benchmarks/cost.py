"""Seconds of a fit against the numbers of rows, columns and nodes, with fitted exponents.

    python benchmarks/cost.py [--jobs 2] [--repeats 3]

A sum of twelve waves along random directions in the first four columns, with a tenth of noise:
every node is of use, and other columns are not. One number is varied at a time, from 4,000 rows, 8
columns and at most 50 nodes; printed are the medians of the seconds of the regressor and of the
classifier (whether the sum is positive), the nodes they keep, and the exponents `b` of `seconds ~
number^b`, by least squares of logarithms; for rows, without the last ones, of which samples are
drawn. Meaningful only if nothing else runs. A tiny fit comes first, so that compilation does not
count.
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
# With more rows, samples are drawn, and other laws hold.
MOST_FITTED = 16_000


def problem(rows, columns):
    rng = np.random.default_rng(0)
    of_use = min(4, columns)
    W = rng.standard_normal((12, of_use)) / np.sqrt(of_use)
    X = rng.uniform(-1, 1, (rows, columns))
    y = np.sin(4 * X[:, :of_use] @ W.T + np.arange(12)).sum(axis=1)
    return X, y + 0.1 * y.std() * rng.standard_normal(rows)


def seconds_and_nodes(make, at, repeats, jobs):
    X, y = problem(at["rows"], at["columns"])
    if make is GreedyNetClassifier:
        y = y > 0
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = make(max_nodes=at["nodes"], n_jobs=jobs).fit(X, y)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken)), model.n_nodes_


def exponent(numbers, taken):
    return np.polyfit(np.log(numbers), np.log(taken), 1)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    makes, how = (GreedyNetRegressor, GreedyNetClassifier), (options.repeats, options.jobs)
    for make in makes:
        seconds_and_nodes(make, {"rows": 1_200, "columns": 3, "nodes": 10}, 1, 1)
    for name, numbers in VARIED.items():
        print(f"\n{name:>10}   regressor, nodes   classifier, nodes")
        found = []
        for number in numbers:
            at = BASE | {name: number}
            (of_one, n_one), (of_other, n_other) = (seconds_and_nodes(m, at, *how) for m in makes)
            found.append((of_one, of_other))
            print(
                f"{number:>10,}{of_one:>12.2f}{n_one:>7}{of_other:>13.2f}{n_other:>7}", flush=True
            )
        fitted = [i for i, number in enumerate(numbers) if number <= MOST_FITTED]
        by = [exponent(np.take(numbers, fitted), np.take(t, fitted)) for t in np.transpose(found)]
        print(f"{'exponent':>10}{by[0]:>12.2f}{by[1]:>20.2f}")


if __name__ == "__main__":
    main()
