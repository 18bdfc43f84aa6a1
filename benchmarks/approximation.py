"""How well functions without noise are approximated, as grown and corrected, at given widths.

    python benchmarks/approximation.py [--nodes 32 64 128] [--rows 16384] [--only "sines, d=3"]

Products of `sin(pi x_i)` in three and four dimensions, and a Gaussian `exp(-|x|^2)` in ten, on
scrambled Sobol points of the unit cube. The error is that of 20,000 uniform points, relative in the
`L2` norm; corrected, it must not be larger than as grown. Seconds are CPU time of one thread.
"""

import argparse
import time

import numpy as np
from scipy.stats import qmc

from greedynet import GreedyNetRegressor

TEST_ROWS = 20_000


def sines(X):
    return np.prod(np.sin(np.pi * X), axis=1)


def gaussian(X):
    return np.exp(-np.sum(X**2, axis=1))


CASES = {"sines, d=3": (sines, 3), "sines, d=4": (sines, 4), "Gaussian, d=10": (gaussian, 10)}


def relative_error(model, f, d):
    X = np.random.default_rng(1).uniform(size=(TEST_ROWS, d))
    truth = f(X)
    return np.linalg.norm(model.predict(X) - truth) / np.linalg.norm(truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--rows", type=int, default=16_384)
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    few = np.random.default_rng(0).uniform(size=(200, 3))
    GreedyNetRegressor(n_nodes=20).fit(few, sines(few))  # compiles
    print(
        f"{'function':<16}{'nodes':>6}{'as grown':>10}{'s':>7}{'corrected':>11}{'s':>7}{'ratio':>7}"
    )
    for name in options.only:
        f, d = CASES[name]
        X = qmc.Sobol(d, seed=0).random(options.rows)
        for nodes in options.nodes:
            line, errors = f"{name:<16}{nodes:>6}", []
            for correct in (False, True):
                start = time.process_time()
                model = GreedyNetRegressor(n_nodes=nodes, correct=correct, n_jobs=1).fit(X, f(X))
                seconds = time.process_time() - start
                errors.append(relative_error(model, f, d))
                line += f"{errors[-1]:>{10 + correct}.2e}{seconds:>7.1f}"
            print(f"{line}{errors[1] / errors[0]:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
