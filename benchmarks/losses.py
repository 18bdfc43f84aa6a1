"""Other losses: wrong rows, quantiles, largest errors, and what a fit costs.

    pip install -e ".[bench]"
    python benchmarks/losses.py

1. The paper's example 1 with 2 of its 50 training values replaced by gross outliers, ten draws: the
   test error as a multiple of the same loss's on clean data, and, for comparison, that of the
   squared loss on the 48 right rows alone.
2. Quantiles 0.1, 0.5 and 0.9 of heteroscedastic data: share of 10,000 fresh rows below, and the
   pinball loss next to that of scikit-learn's gradient boosting.
3. The largest training error with `loss="chebyshev"` as a share of that with the squared loss, at
   equal width, on examples 1 to 4.
4. Seconds of a fit as a multiple of the squared loss's, 1,000 rows with four columns.
"""

import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from greedynet import GreedyNetRegressor
from greedynet.losses import Quantile
from greedynet.paper import load_example

N_DRAWS = 10


def relative_error(model, example):
    miss = model.predict(example.X_test) - example.y_test
    return np.linalg.norm(miss) / np.linalg.norm(example.y_test)


def outliers():
    example = load_example(1)
    X, y = example.X_train, example.y_train
    validation = {"X_val": example.X_val, "y_val": example.y_val}

    def error(loss, X, y):
        return relative_error(GreedyNetRegressor(loss=loss).fit(X, y, **validation), example)

    losses = ("squared_error", "absolute_error", "huber")
    clean = {loss: error(loss, X, y) for loss in losses}
    print("clean test errors:", {loss: f"{e:.2e}" for loss, e in clean.items()})
    ratios = []
    for seed in range(N_DRAWS):
        rng = np.random.default_rng(seed)
        at = rng.choice(len(y), round(len(y) / 20), replace=False)
        wrong = y.copy()
        wrong[at] += rng.choice([-1, 1], len(at)) * rng.uniform(5, 20, len(at)) * y.std()
        right = np.setdiff1d(np.arange(len(y)), at)
        ratios.append(
            [error("squared_error", X[right], y[right]) / clean["squared_error"]]
            + [error(loss, X, wrong) / clean[loss] for loss in losses]
        )
    print("times the clean error, median and range over the draws:")
    for name, column in zip(("right rows only", *losses), np.transpose(ratios), strict=True):
        print(f"  {name:16} {np.median(column):8.2f}  [{column.min():.2f}, {column.max():.2f}]")


def pinball(y, prediction, quantile):
    miss = y - prediction
    return np.mean(np.maximum(quantile * miss, (quantile - 1) * miss))


def two_columns(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    spread = 0.2 + 0.3 * np.abs(X[:, 0])
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + spread * rng.standard_normal(n)


def one_column(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + (0.1 + 0.3 * np.abs(X[:, 0])) * rng.exponential(size=n)


def quantiles():
    print("quantiles: share of fresh rows below, pinball loss, nodes; boosting's share and loss")
    for draw in (two_columns, one_column):
        X_test, y_test = draw(10_000, 2)
        for n in (1_000, 3_000):
            X, y = draw(n, 1)
            for q in (0.1, 0.5, 0.9):
                model = GreedyNetRegressor(loss=Quantile(q)).fit(X, y)
                boosted = GradientBoostingRegressor(loss="quantile", alpha=q, random_state=0)
                ours, theirs = model.predict(X_test), boosted.fit(X, y).predict(X_test)
                figures = [(np.mean(y_test <= p), pinball(y_test, p, q)) for p in (ours, theirs)]
                (share, loss), (their_share, their_loss) = figures
                print(
                    f"  {draw.__name__:12} {n:5} rows, {q}: {share:.3f} {loss:.4f} "
                    f"({model.n_nodes_:2}); {their_share:.3f} {their_loss:.4f}",
                    flush=True,
                )


def largest_errors():
    print("largest training error, chebyshev / squared:")
    for number in range(1, 5):
        example = load_example(number)
        X, y = example.X_train, example.y_train
        for n_nodes in (10, 30):
            found = [
                np.abs(GreedyNetRegressor(n_nodes, loss=loss).fit(X, y).predict(X) - y).max()
                for loss in ("chebyshev", "squared_error")
            ]
            shown = f"{found[0]:.2e} / {found[1]:.2e} = {found[0] / found[1]:.2f}"
            print(f"  example {number}, {n_nodes} nodes: {shown}")


def costs():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1_000, 4))
    y = np.sin(3 * X[:, 0] + X[:, 1]) + 0.2 * rng.standard_normal(len(X))
    seconds = {}
    for loss in ("squared_error", "absolute_error", "huber", 1.5, "chebyshev"):
        start = time.process_time()
        GreedyNetRegressor(loss=loss).fit(X, y)
        seconds[loss] = time.process_time() - start
    print(
        "time of a fit / squared_error:",
        {k: f"{s / seconds['squared_error']:.1f}" for k, s in seconds.items()},
    )


def main():
    outliers()
    quantiles()
    largest_errors()
    costs()


if __name__ == "__main__":
    main()
