"""Rows in order of time: folds at random against folds that go forward, with the future as judge.

    python benchmarks/forward.py --seeds 0:80

Of each drawn problem, 80 % of the rows are known and the last 20 % are the future. Printed for each
way to choose, by what changes in time: the error that was told over the true one, and the true
error. Time is one of the inputs. Networks have at most 12 nodes.
"""

import argparse
from unittest import mock

import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.tables import times

KINDS = ("nothing", "inputs drift", "noise is autocorrelated", "both")
# Share of the rows that only train, for folds that go forward; scikit-learn's has a sixth.
WAYS = {"random": None, "forward, from a sixth": 1 / 6, "forward, from a half": 0.5}
KNOWN, CORRELATION, NOISE = 0.8, 0.9, 0.4


def draw(seed):
    """Return what changes in time, the inputs with time as the last, and the target."""
    rng, kind = np.random.default_rng([seed, 19]), seed % len(KINDS)
    n, d = int(rng.integers(125, 500)), int(rng.integers(2, 6))
    X, noise = rng.normal(size=(n, d)), rng.normal(size=n)
    if kind in (1, 3):
        X = 3.0 * np.cumsum(X, axis=0) / np.sqrt(n)
    if kind in (2, 3):
        for i in range(1, n):
            noise[i] = CORRELATION * noise[i - 1] + np.sqrt(1 - CORRELATION**2) * noise[i]
    y = np.abs(X[:, 0]) + np.sin(2 * X[:, 1]) + NOISE * noise
    return KINDS[kind], np.column_stack([X, np.arange(n) / n]), y


def judge(X, y, only_training):
    """Return the error that was told, and that on the future."""
    n, cv = round(KNOWN * len(y)), None
    if only_training is not None:
        with mock.patch.object(times, "_ONLY_TRAINING", only_training):
            cv = times.forward_folds(X[:n, -1])
    model = GreedyNetRegressor(max_nodes=12, cv=cv).fit(X[:n], y[:n])
    return model.expected_error_, np.sqrt(np.mean((y[n:] - model.predict(X[n:])) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:80", help="first:last")
    first, last = map(int, parser.parse_args().seeds.split(":"))
    found = {}
    for seed in range(first, last):
        kind, X, y = draw(seed)
        for way, only_training in WAYS.items():
            found.setdefault((kind, way), []).append(judge(X, y, only_training))
    print(f"{'what changes':24} {'folds':22} told/true: 10 %  median  90 %  true error")
    for (kind, way), pairs in sorted(found.items(), key=lambda item: KINDS.index(item[0][0])):
        told, true = np.array(pairs).T
        low, middle, high = np.quantile(told / true, [0.1, 0.5, 0.9])
        error = np.exp(np.log(true).mean())
        print(f"{kind:24} {way:22} {low:15.2f} {middle:7.2f} {high:5.2f} {error:11.3f}")


if __name__ == "__main__":
    main()
