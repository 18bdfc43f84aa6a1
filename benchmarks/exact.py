"""Exact questions: how long they take, and whether the answers agree with `predict`.

    python benchmarks/exact.py --data DIR [--questions 50] [--only NAME ...] [--layers 1 2]

Every CSV file in DIR (a header row, numbers, the target in the last column) is fitted once by
`GreedyNetRegressor(max_nodes=50)`, with one hidden layer and with two. Then come random questions,
`optimise(model, "max" or "min", where=...)`: each column is limited to a random part of its range
with probability 1/2, every tenth question is about the whole box.

Prints for each model: neurons, columns, median, 95 % quantile and largest of the processor seconds,
how many were not proven in two minutes, the largest relative disagreement between the value and
`predict` at the point; relative to the range of the predictions, the largest gap between value and
bound, and how far any of 2,000 random rows of a region lies beyond its bound; and the range over
the box beside that of the target.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from tabular import read

from greedynet import GreedyNetRegressor
from greedynet.exact import extremes, optimise

ROW = "{:10}{:>7}{:>9}{:>9}{:>8}{:>8}{:>8}{:>9}{:>11}{:>9}{:>9}   {}"
HEADER = ("data", "layers", "neurons", "columns", "median", "95 %", "max", "unproven")
HEADER += ("disagree", "gap", "beyond", "range")


def region(rng, box, whole):
    """Return random parts of the ranges of some columns."""
    if whole:
        return {}
    where = {}
    for j, (low, high) in enumerate(box.T):
        if rng.random() < 0.5:
            ends = np.sort(rng.uniform(low, high, 2))
            where[j] = (float(ends[0]), float(ends[1]))
    return where


def answers(network, n_questions):
    """Return seconds, whether proven, and disagreements of random questions."""
    rng, box, found = np.random.default_rng(0), network.input_range, []
    spread = np.ptp(network.predict(rng.uniform(*box, (2_000, box.shape[1]))))
    for i in range(n_questions):
        where = region(rng, box, i % 10 == 0)
        direction = ("max", "min")[i % 2]
        start = time.process_time()
        answer = optimise(network, direction, where, max_seconds=120)
        seconds = time.process_time() - start
        low, high = box.copy()
        for j, ends in where.items():
            low[j], high[j] = ends
        drawn = network.predict(rng.uniform(low, high, (2_000, len(low))))
        sign = 1 if direction == "max" else -1
        off = abs(network.predict(answer.point[None])[0] - answer.value) / max(abs(answer.value), 1)
        beyond = max(0.0, float((sign * drawn).max() - sign * answer.bound)) / spread
        found.append((seconds, answer.proven, off, answer.gap / spread, beyond))
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--only", nargs="*", default=["concrete", "energy", "yacht", "power"])
    parser.add_argument("--layers", nargs="*", type=int, default=[1, 2])
    given = parser.parse_args()
    print(ROW.format(*HEADER))
    seconds = []
    for name in given.only:
        X, y = read(given.data / f"{name}.csv")
        for layers in given.layers:
            model = GreedyNetRegressor(max_nodes=50, hidden_layers=layers).fit(X, y)
            network = model.network_
            found = answers(network, given.questions)
            seconds += found[:, 0].tolist()
            ends = extremes(network, max_seconds=240)
            text = (
                f"{ends.lowest.value:.4g} to {ends.highest.value:.4g} ({y.min():g} to {y.max():g})"
            )
            times = np.quantile(found[:, 0], [0.5, 0.95, 1])
            cells = [f"{t:.2f}" for t in times]
            cells += [
                f"{int((found[:, 1] == 0).sum())}",
                *(f"{found[:, k].max():.0e}" for k in (2, 3, 4)),
            ]
            print(ROW.format(name, layers, network.n_neurons, X.shape[1], *cells, text), flush=True)
    print(
        f"all {len(seconds)} questions: median {np.median(seconds):.2f} s, max {max(seconds):.2f} s"
    )


if __name__ == "__main__":
    main()
