"""Shapes that hold: what they cost, what they gain, and whether they are ever violated.

    python benchmarks/shapes.py table --data DIR [--splits 10]
    python benchmarks/shapes.py targets [--seeds 3]
    python benchmarks/shapes.py violations [--fits 200]

`table`: concrete with cement and age increasing, nine rows in ten to train on: mean test RMSE
without a shape, with it, and with LightGBM under the same constraints.

`targets`: ten monotone functions with noise, of which three have steps or plateaus: root mean
squared error on 2,000 new rows without noise, over `--seeds` draws of 300 rows, without a shape,
with it, and with LightGBM under the same constraints, its number of trees, of leaves and its
learning rate chosen by five folds.

`violations`: fits to random rows, half of them of classes, with random constraints, many of them
contrary to the data: how many of the columns `greedynet.exact.is_monotone` proves, leaves open, or
contradicts; and the largest fall over 20,000 random pairs of rows, also outside the data.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from depth import split
from randomproblems import draw

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.exact import is_monotone

SIZES = ((100, 15), (300, 7), (300, 15), (300, 31))
RATES = (0.03, 0.1)
# With a shape, of problems with many more.
MOST_COLUMNS = 5


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


# name -> (number of columns, constraints, function of rows in [0, 1])
TARGETS = {
    "growth": (1, [1], lambda X: sigmoid(12 * X[:, 0] - 5)),
    "steps": (1, [1], lambda X: np.floor(4 * X[:, 0]) / 4),
    "additive": (
        4,
        [1, 1, -1, 0],
        lambda X: np.sqrt(X[:, 0]) + X[:, 1] ** 3 - np.exp(X[:, 2]) + np.sin(6 * X[:, 3]),
    ),
    "product": (3, [1, 1, 1], lambda X: 4 * X[:, 0] * X[:, 1] * (0.2 + X[:, 2])),
    "minimum": (3, [1, 1, 1], lambda X: 3 * X.min(axis=1)),
    "plateaus": (2, [1, 1], lambda X: sigmoid(20 * X[:, 0] - 6) + sigmoid(20 * X[:, 1] - 14)),
    "price": (
        5,
        [1, -1, 1, 0, 0],
        lambda X: np.log1p(9 * X[:, 0]) * (1.5 - X[:, 1]) + X[:, 2] * np.cos(3 * X[:, 3]) ** 2,
    ),
    "dose": (
        3,
        [1, 1, -1],
        lambda X: X[:, 0] ** 4 / (X[:, 0] ** 4 + (0.2 + 0.5 * X[:, 2]) ** 4) + 0.5 * X[:, 1],
    ),
    "oblique": (6, [1] * 6, lambda X: 2 * sigmoid(6 * (X.mean(axis=1) - 0.5) * 2)),
    "corners": (4, [1, 1, 1, 1], lambda X: 2 * np.maximum(X[:, 0] + X[:, 1] - 1, 0) + X[:, 2] ** 2),
}


def boosted(X, y, constraints):
    """LightGBM with constraints, its size chosen by folds."""
    from lightgbm import LGBMRegressor
    from sklearn.model_selection import cross_val_score

    def model(n, leaves, rate):
        return LGBMRegressor(
            n_estimators=n,
            num_leaves=leaves,
            learning_rate=rate,
            min_child_samples=10,
            monotone_constraints=constraints,
            monotone_constraints_method="advanced",
            n_jobs=1,
            verbose=-1,
        )

    settings = [(n, leaves, rate) for n, leaves in SIZES for rate in RATES]
    scores = [
        cross_val_score(model(*s), X, y, cv=5, scoring="neg_mean_squared_error").mean()
        for s in settings
    ]
    return model(*settings[int(np.argmax(scores))]).fit(X, y)


def rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def compared(X, y, constraints, X_new, y_new):
    """Errors without a shape, with it and of LightGBM, and the seconds of both fits."""
    errors, seconds = [], []
    for shape in (None, constraints):
        start = time.perf_counter()
        errors.append(rmse(GreedyNetRegressor(monotonic_cst=shape).fit(X, y), X_new, y_new))
        seconds.append(time.perf_counter() - start)
    return [*errors, rmse(boosted(X, y, constraints), X_new, y_new)], seconds


def table(path, n_splits):
    constraints, found, seconds = [1, 0, 0, 0, 0, 0, 0, 1], [], []
    for number in range(n_splits):
        X, y, X_new, y_new = split(path, number)
        errors, times = compared(X, y, constraints, X_new, y_new)
        found.append(errors)
        seconds.append(times)
        print(f"split {number}: " + "  ".join(f"{e:.3f}" for e in errors), flush=True)
    free, shaped, trees = np.mean(found, axis=0)
    times = np.mean(seconds, axis=0)
    print(f"concrete: free {free:.3f}, increasing {shaped:.3f} ({shaped / free - 1:+.1%}), ")
    print(f"LightGBM {trees:.3f}; time {times[1] / times[0]:.1f} x")


def targets(n_seeds):
    print(f"{'target':10}{'free':>9}{'shaped':>9}{'LightGBM':>10}   better than both")
    wins = 0
    for name, (d, constraints, function) in TARGETS.items():
        found = []
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            X, X_new = rng.random((300, d)), rng.random((2_000, d))
            clean = function(X)
            y = clean + 0.5 * clean.std() * rng.standard_normal(len(X))
            found.append(compared(X, y, constraints, X_new, function(X_new))[0])
        free, shaped, trees = np.mean(found, axis=0)
        won = shaped < min(free, trees)
        wins += won
        print(f"{name:10}{free:>9.4f}{shaped:>9.4f}{trees:>10.4f}   {'yes' if won else 'no'}")
    print(f"better than both on {wins} of {len(TARGETS)}")


def largest_fall(model, shape, rng):
    """The largest fall against a shape, over random pairs of rows, relative to the range."""
    outputs = model.decision_function if hasattr(model, "classes_") else model.predict
    low, high = model.network_.input_range
    margin = high - low
    worst = 0.0
    for column in np.flatnonzero(shape):
        X = rng.uniform(low - margin, high + margin, (20_000, len(low)))
        Z = X.copy()
        Z[:, column] += rng.uniform(0, margin[column], len(X))
        before, after = outputs(X), outputs(Z)
        size = max(np.ptp(before), 1e-300)
        worst = max(worst, float(np.max(shape[column] * (before - after)) / size))
    return worst


def violations(n_fits):
    counts, worst, deep = {True: 0, False: 0, None: 0}, 0.0, 0
    for seed in range(n_fits):
        rng = np.random.default_rng(seed)
        drawn = draw(seed)
        X, y = drawn.X[:400], drawn.y[:400]
        shape = rng.integers(-1, 2, X.shape[1])
        shape[rng.integers(X.shape[1])] = rng.choice([-1, 1])
        shape[rng.permutation(np.flatnonzero(shape))[MOST_COLUMNS:]] = 0
        layers = (None, 1, 2)[seed % 3]
        is_class = seed % 2 and np.ptp(y) > 0
        target = y > (y.min() + y.max()) / 2 if is_class else y
        kind = GreedyNetClassifier if is_class else GreedyNetRegressor
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(monotonic_cst=shape, hidden_layers=layers, max_nodes=40).fit(X, target)
        deep += model.network_.ramps is not None
        for column in np.flatnonzero(shape * np.ptp(X, axis=0)):
            answer = is_monotone(model, int(column), increasing=shape[column] > 0)
            counts[answer.holds] += 1
        worst = max(worst, largest_fall(model, shape, rng))
        if seed % 20 == 19:
            print(f"{seed + 1} fits: {counts}, largest fall {worst:.1e}", flush=True)
    print(
        f"{n_fits} fits, {deep} of two layers: {counts[True]} columns proven, {counts[None]} open, "
        f"{counts[False]} violated; largest fall {worst:.1e} of the range"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("table", "targets", "violations"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fits", type=int, default=200)
    options = parser.parse_args()
    if options.what == "table":
        table(options.data / "concrete.csv", options.splits)
    elif options.what == "targets":
        targets(options.seeds)
    else:
        violations(options.fits)


if __name__ == "__main__":
    main()
