"""Seconds of default fits, beside LightGBM and scikit-learn's perceptron, with their errors.

    pip install -e ".[bench]"
    python benchmarks/time.py --data DIR [--only NAME ...] [--repeats 3] [--jobs 2]

DIR holds concrete.csv and power.csv: a header row, numbers, the target in the last column; a tenth
of the rows is held out. The other problems are drawn here, with 20,000 new rows. Methods take
turns, `--repeats` times; printed are the medians of the seconds, ours relative to the others', and
the root mean squared errors relative to the standard deviation of the new targets. Others: LightGBM
with its defaults, and `MLPRegressor(early_stopping=True)`, which has 100 units, on scaled inputs
and targets. Meaningful only if nothing else runs. A tiny fit comes first, so that compilation does
not count.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetRegressor

OURS = "greedynet"
NEW_ROWS = 20_000


def of_file(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    order = np.random.RandomState(1).permutation(len(table))
    train, new = np.split(table[order], [round(0.9 * len(table))])
    return train[:, :-1], train[:, -1], new[:, :-1], new[:, -1]


def drawn(n, inputs, target, noise):
    rng = np.random.default_rng(0)
    X = inputs(rng, n + NEW_ROWS)
    y = target(X)
    y = y + noise * y.std() * rng.standard_normal(len(y))
    return X[:n], y[:n], X[n:], y[n:]


def friedman():
    X, y = make_friedman1(10_000 + NEW_ROWS, noise=1.0, random_state=0)
    return X[:10_000], y[:10_000], X[10_000:], y[10_000:]


def rough():
    """A sum of steps and waves along random directions: many neurons are of use."""
    rng = np.random.default_rng(1)
    W = rng.standard_normal((12, 10)) / np.sqrt(10)
    return drawn(
        40_000,
        lambda draw, n: draw.uniform(-1, 1, (n, 10)),
        lambda X: np.sin(6 * X @ W.T).sum(axis=1) + 2 * (X @ W[:4].T > 0.2).sum(axis=1),
        0.2,
    )


def sparse_line(n, d):
    def inputs(rng, n):
        return rng.standard_normal((n, d))

    return drawn(n, inputs, lambda X: X[:, :5].sum(axis=1), 0.5)


def categories():
    """Six numbers, and four categories of five values each as indicators."""

    def inputs(rng, n):
        levels = rng.integers(0, 5, (n, 4))
        indicators = [np.eye(5)[levels[:, j]] for j in range(4)]
        return np.hstack([rng.standard_normal((n, 6)), *indicators])

    effects = np.random.default_rng(2).standard_normal(20)

    def target(X):
        of_numbers = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3])
        return of_numbers + X[:, 6:] @ effects + X[:, 6] * X[:, 0] + X[:, 12] * X[:, 1]

    return drawn(15_000, inputs, target, 0.3)


def problems(data):
    return {
        "concrete": lambda: of_file(data / "concrete.csv"),
        "power": lambda: of_file(data / "power.csv"),
        "friedman 10,000 x 10": friedman,
        "rough 40,000 x 10": rough,
        "sparse line 1,000 x 100": lambda: sparse_line(1_000, 100),
        "sparse line 2,000 x 200": lambda: sparse_line(2_000, 200),
        "categories 15,000 x 26": categories,
    }


def methods(jobs):
    from lightgbm import LGBMRegressor

    perceptron = make_pipeline(StandardScaler(), MLPRegressor(early_stopping=True))
    return {
        OURS: GreedyNetRegressor(n_jobs=jobs),
        "lightgbm": LGBMRegressor(verbose=-1, n_jobs=jobs),
        "perceptron": TransformedTargetRegressor(perceptron, transformer=StandardScaler()),
    }


def timed(model, X, y, X_new, y_new):
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2)) / np.std(y_new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="sklearn|lightgbm")
    few = np.random.default_rng(0).standard_normal((300, 3))
    GreedyNetRegressor().fit(few, np.abs(few).sum(axis=1))
    names = list(methods(options.jobs))
    print(f"{'problem':<26}{''.join(f'{name:>14}' for name in names)}", end="")
    print(f"{'/ lightgbm':>12}{'/ perceptron':>14}{'nodes':>7}  errors")
    for name, problem in problems(options.data).items():
        if options.only and not any(part in name for part in options.only):
            continue
        of_problem, tries = problem(), {method: [] for method in names}
        for _ in range(options.repeats):
            for method, model in (made := methods(options.jobs)).items():
                tries[method].append(timed(model, *of_problem))
        seconds, errors = (
            [np.median([found[k] for found in tries[method]]) for method in names] for k in (0, 1)
        )
        print(f"{name:<26}{''.join(f'{value:>14.2f}' for value in seconds)}", end="")
        print(f"{seconds[0] / seconds[1]:>12.1f}{seconds[0] / seconds[2]:>14.2f}", end="")
        print(
            f"{made[OURS].n_nodes_:>7}  {' '.join(f'{error:.4f}' for error in errors)}", flush=True
        )


if __name__ == "__main__":
    main()
