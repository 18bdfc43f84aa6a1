"""Corners: how far predictions reach in the box of the data, with and without a margin.

    python benchmarks/corners.py --data FOLDER [--margin 0.5] [--out FILE]   # 20 fits, and proofs
    python benchmarks/corners.py --half odd [--seeds 120] [--margin 0.25] [--out FILE]
    python benchmarks/corners.py --read FILE ...             # only the tables of earlier runs

FOLDER has concrete.csv, energy.csv and yacht.csv, with the target last. Each fit is done twice, as
it is and with the margin. The first command does this on the first splits of the three tables, with
one and two hidden layers, and on random problems with several columns (`randomproblems.draw`). It
asks `greedynet.exact` for the range of the predictions in the box, as a multiple of that of the
targets seen, with and without the margin; with it also of the network without its bounds, which
move to the ends of the margin whatever is beyond: what the penalty alone achieves. Where the
solver does not finish, the proven bound is in brackets. The second command compares errors on the
2,000 new rows of random problems, tuned on even seeds and judged on odd ones.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from randomproblems import draw
from tabular import read, standard_splits

from greedynet import GreedyNetRegressor
from greedynet.exact import extremes
from greedynet.model.any_network import with_bounds

TABLES = {
    ("concrete", "at most 50 nodes"): {"max_nodes": 50},
    ("concrete", "default"): {},
    ("concrete", "two layers"): {"max_nodes": 50, "hidden_layers": 2},
    ("energy", "at most 50 nodes"): {"max_nodes": 50},
    ("energy", "two layers"): {"max_nodes": 50, "hidden_layers": 2},
    ("yacht", "at most 50 nodes"): {"max_nodes": 50},
}
N_SPLITS = 2
# Random problems of more than two columns, whose default is a network with wild corners.
SEEDS = (0, 8, 12, 26, 27, 28, 39, 41)
MAX_SECONDS = 10.0
MAX_SIZE = 40_000


def rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def fits(folder):
    """Yield the name, the rows, new rows and the parameters of each fit."""
    for (name, kind), parameters in TABLES.items():
        X, y = read(folder / f"{name}.csv")
        for number, (train, test) in enumerate(standard_splits(len(X), N_SPLITS)):
            parts = X[train], y[train], X[test], y[test]
            yield f"{name} {number}, {kind}", *parts, parameters
    for seed in SEEDS:
        p = draw(seed)
        yield f"random {seed}, {p.inputs}, {p.target}", p.X, p.y, p.X_new, p.y_new, {}


def problems(half, n_seeds):
    for seed in range(half == "odd", n_seeds, 2):
        p = draw(seed)
        if p.X.size <= MAX_SIZE:
            yield f"random {seed}, {p.inputs}, {p.target}", p.X, p.y, p.X_new, p.y_new, {}


def reach_within(reach, margin):
    """Return the range that bounds at the ends of the margin leave at most."""
    return [min(ratio, 1 + 2 * margin) for ratio in reach]


def reach(network, y):
    """Return the range in the box as a multiple of the range seen: found, and proven bound."""
    found = extremes(network, max_seconds=MAX_SECONDS)
    seen = float(np.ptp(y))
    return [
        (found.highest.value - found.lowest.value) / seen,
        (found.highest.bound - found.lowest.bound) / seen,
    ]


def record(name, X, y, X_new, y_new, parameters, margin, *, exactly):
    """Fit twice, and return what is to be compared."""
    warnings.filterwarnings("ignore")
    models, seconds = [], []
    for with_margin in ({}, {"margin": margin}):
        start = time.process_time()
        models.append(GreedyNetRegressor(n_jobs=1, **parameters, **with_margin).fit(X, y))
        seconds.append(time.process_time() - start)
    before, after = (model.network_ for model in models)
    free = with_bounds(after, None)
    found = {
        "fit": name,
        "margin": margin,
        "neurons": [before.n_neurons, after.n_neurons],
        "errors": [rmse(model, X_new, y_new) for model in models],
        "clipped": rmse_within(models[0], X_new, y_new, y, margin),
        "told": [model.expected_error_ for model in models],
        "seconds": seconds,
        "at bounds": float(np.mean(after.predict(X_new) != free.predict(X_new))),
    }
    if exactly:
        found |= {"before": reach(before, y), "free": reach(free, y)}
        found["after"] = reach_within(found["free"], margin)
    return found


def rmse_within(model, X, y, seen, margin):
    """Return the error of a model whose predictions are only moved to the ends of the margin."""
    room = margin * np.ptp(seen)
    moved = np.clip(model.predict(X), seen.min() - room, seen.max() + room)
    return float(np.sqrt(np.mean((moved - y) ** 2)))


def ratio_text(pair):
    found, bound = pair
    return f"{found:.2f}" if bound - found < 0.01 else f"{found:.2f} (< {bound:.2f})"


def show(records):
    """Print a line for each fit with exact ranges, and the comparison of all errors."""
    exact = [r for r in records if "before" in r]
    if exact:
        print("| fit | neurons | range before | by the penalty | after | error | time |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
    for r in exact:
        ranges = [ratio_text(r[key]) for key in ("before", "free", "after")]
        neurons = " to ".join(map(str, r["neurons"]))
        error, took = r["errors"][1] / r["errors"][0], r["seconds"][1] / r["seconds"][0]
        print(f"| {r['fit']} | {neurons} | {' | '.join(ranges)} | x{error:.3f} | x{took:.1f} |")
    for key in ("before", "free", "after") if exact else ():
        values = np.array([r[key][0] for r in exact])
        print(f"range, {key}: median {np.median(values):.2f}, largest {values.max():.2f}")
    networks = [r for r in records if r["neurons"][0]]
    ratios = np.array([r["errors"][1] / r["errors"][0] for r in networks])
    clipped = np.array([r["clipped"] / r["errors"][0] for r in networks])
    told = np.array([r["errors"][1] / r["told"][1] for r in networks])
    changed = np.array([r["errors"][1] != r["clipped"] for r in networks])
    print(f"{len(records)} fits, {len(networks)} networks, {changed.sum()} corrected in corners")
    for name, values in (("with margin", ratios), ("only clipped", clipped)):
        mean = np.exp(np.mean(np.log(values)))
        print(
            f"error {name}, of that without: geometric mean {mean:.4f}, median "
            f"{np.median(values):.4f}, largest {values.max():.3f}, above 1.01 "
            f"{np.mean(values > 1.01):.0%}, below 0.99 {np.mean(values < 0.99):.0%}"
        )
    print(f"true error of the told one: median {np.median(told):.3f}")
    took = [r["seconds"][1] / r["seconds"][0] for r in networks]
    print(f"time: median x{np.median(took):.2f}, mean x{np.mean(took):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--half", choices=["even", "odd"])
    parser.add_argument("--seeds", type=int, default=120)
    parser.add_argument("--margin", type=float, default=0.25)
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--read", type=Path, nargs="+", default=[], metavar="FILE")
    arguments = parser.parse_args()
    records = [
        json.loads(line) for path in arguments.read for line in path.read_text().split("\n") if line
    ]
    todo = fits(arguments.data) if arguments.data else ()
    if arguments.half:
        todo = problems(arguments.half, arguments.seeds)
    for one in todo:
        found = record(*one, arguments.margin, exactly=arguments.data is not None)
        records.append(found)
        print(f"{found['fit']}: error x{found['errors'][1] / found['errors'][0]:.4f}", flush=True)
        if arguments.out:
            with open(arguments.out, "a") as file:
                file.write(json.dumps(found) + "\n")
    show(records)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
