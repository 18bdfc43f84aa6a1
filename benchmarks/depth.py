"""One hidden layer, two, and the choice between them: error, size and time on real tables.

    python benchmarks/depth.py --data DIR [--splits 20] [--only NAME ...] [--max-nodes N ...]

Every CSV file in DIR is one problem, split as in `tabular.py`: nine rows in ten to train on. Prints
for each file, number of nodes and `hidden_layers`, over the splits: mean test RMSE, the worst split
as a multiple of it, how often two layers were chosen, the means of the nodes, of the parameters and
of the multiplications of a prediction, and the seconds of a fit, also as a multiple of those of one
layer on the same splits. `--jobs` splits are fitted at once, each on one thread.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

LAYERS = (1, 2, "auto")
ROW = "{:12}{:>6}{:>7}{:>9}{:>13}{:>6}{:>7}{:>8}{:>8}{:>8}{:>7}"
NAMES = ["file", "nodes", "layers", "RMSE", "worst/mean", "two", "nodes", "params", "mults"]
NAMES += ["s", "ratio"]


def split(path, number):
    """Training and test rows of a split."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    draw = np.random.RandomState(1)
    for _ in range(number + 1):
        order = draw.choice(len(table), len(table), replace=False)
    train, test = np.split(table[order], [round(0.9 * len(table))])
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


def multiplications(network):
    counted = getattr(network, "n_multiplications", None)
    if counted is not None:
        return counted
    linear = 0 if network.linear_weights is None else network.linear_weights.size
    return network.inner_weights.size + network.outer_weights.size + linear


def fitted(job):
    """Error, whether two layers were chosen, sizes and seconds of one fit."""
    from greedynet import GreedyNetRegressor

    path, max_nodes, layers, number = job
    X, y, X_new, y_new = split(path, number)
    model = GreedyNetRegressor(max_nodes=max_nodes, hidden_layers=layers, n_jobs=1)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    network = model.network_
    error = np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))
    deep = network.ramps is not None
    sizes = (network.n_nodes, network.n_parameters, multiplications(network))
    return error, deep, *sizes, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--max-nodes", type=int, nargs="*", default=[200, 50])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    paths = [p for p in sorted(given.data.glob("*.csv")) if not given.only or p.stem in given.only]
    print(ROW.format(*NAMES))
    with ProcessPoolExecutor(given.jobs) as pool:
        for path, max_nodes in product(paths, given.max_nodes):
            first = None
            for layers in LAYERS:
                jobs = [(path, max_nodes, layers, number) for number in range(given.splits)]
                found = np.array(list(pool.map(fitted, jobs)), dtype=float)
                mean = found.mean(axis=0)
                first = first or mean[-1]
                worst = found[:, 0].max() / mean[0]
                sizes = [f"{value:.0f}" for value in mean[2:5]]
                cells = [f"{mean[0]:.4g}", f"{worst:.2f}", f"{mean[1]:.0%}", *sizes]
                times = [f"{mean[-1]:.2f}", f"{mean[-1] / first:.1f}"]
                print(ROW.format(path.stem, max_nodes, layers, *cells, *times), flush=True)


if __name__ == "__main__":
    main()
