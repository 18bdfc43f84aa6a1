"""A million rows in memory: seconds and test error beside LightGBM.

    pip install -e ".[bench]"
    python benchmarks/million.py [--rows 1000000]

Ten columns, a smooth function of seven of them with a kink, noise of 0.1; at most 100 nodes for
ours, 300 trees for LightGBM, two threads each, one after the other. The error is the root mean
square distance from the function without noise, on 20,000 other rows.
"""

import argparse
import time

import numpy as np
from lightgbm import LGBMRegressor

from greedynet import GreedyNetRegressor


def function(X):
    x = X.T
    smooth = np.sin(3 * x[0] + x[1]) + x[2] * x[3] + np.exp(-2 * x[4] ** 2)
    return smooth + 0.5 * np.abs(x[5] + x[6])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n = parser.parse_args().rows
    stream = np.random.default_rng(0)
    X = stream.uniform(-1, 1, (n, 10))
    y = function(X) + 0.1 * stream.normal(size=n)
    T = stream.uniform(-1, 1, (20_000, 10))
    GreedyNetRegressor(max_nodes=10).fit(X[:300, :3], y[:300])  # loads and compiles
    for model in (
        GreedyNetRegressor(max_nodes=100, n_jobs=2),
        LGBMRegressor(n_estimators=300, n_jobs=2, verbose=-1),
    ):
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        rmse = np.sqrt(np.mean((model.predict(T) - function(T)) ** 2))
        nodes = f", {model.n_nodes_} nodes" if hasattr(model, "n_nodes_") else ""
        print(f"{type(model).__name__}{nodes}: {seconds:.1f} s, RMSE {rmse:.4f}")


if __name__ == "__main__":
    main()
