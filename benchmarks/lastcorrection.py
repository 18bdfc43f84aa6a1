"""What the last correction on all rows brings: test errors and seconds without and with it.

    python benchmarks/lastcorrection.py [--rows 200000]

Networks of given width on ten columns, the same fits with `n_tries_on_all_rows` at 0 and at its
default, one after the other. Test rows are 50,000 others.
"""

import argparse
import time

import numpy as np
from scaling import problem

from greedynet import GreedyNetRegressor
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.settings import CorrectionSettings, FitSettings

D = 10
TEST_ROWS = 50_000


def smooth(noise):
    def draw(n, seed):
        stream = np.random.default_rng(seed)
        X = stream.normal(size=(n, D))
        y = np.sin(X[:, 0] + X[:, 1]) + 0.3 * X[:, 2] ** 2 + np.tanh(X @ np.linspace(-0.5, 0.5, D))
        return X, y + noise * stream.normal(size=n)

    return draw


CASES = [
    ("Friedman, noise 0.5", lambda n, seed: problem(n, D, seed), 50),
    ("smooth, noise 1", smooth(1.0), 50),
    ("smooth, no noise", smooth(0.0), 50),
    ("smooth, no noise", smooth(0.0), 100),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    tries = CorrectionSettings().n_tries_on_all_rows
    GreedyNetRegressor(n_nodes=5).fit(*problem(300, D, seed=1))
    print(f"{'target':<22}{'nodes':>6}{'without':>10}{'s':>6}{'with':>10}{'s':>6}")
    for name, draw, nodes in CASES:
        X, y = draw(rows, 2)
        T, truth = draw(TEST_ROWS, 3)
        line = f"{name:<22}{nodes:>6}"
        for n in (0, tries):
            squares = CorrectionSettings(n_tries_on_all_rows=n)
            start = time.perf_counter()
            with settings_context(EstimatorSettings(fit=FitSettings(correction=squares))):
                model = GreedyNetRegressor(n_nodes=nodes, n_jobs=2).fit(X, y)
            seconds = time.perf_counter() - start
            rmse = np.sqrt(np.mean((model.predict(T) - truth) ** 2))
            line += f"{rmse:>10.5f}{seconds:>6.1f}"
        print(line)


if __name__ == "__main__":
    main()
