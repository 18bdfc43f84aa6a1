"""Judgement of other losses: Huber, absolute values and quantiles on random problems.

    pip install -e ".[bench]"
    python benchmarks/judgement_losses.py --half odd [--seeds 600] [--cells 20000] [--out FILE]
    python benchmarks/judgement_losses.py --half even          # to tune constants
    python benchmarks/judgement_losses.py --read FILE ...      # only the tables of earlier runs

Every seed of `randomproblems.draw` is one problem, cut to its first 1,000 rows to save time, and
the losses take turns: Huber, absolute values, and the quantiles 0.1, 0.5 and 0.9. Constants of the
library are tuned on the even seeds and judged on the odd ones. Errors are the mean of the loss on
2,000 new rows, noise included; for Huber's loss the mean absolute error, because its threshold is
another one for every fit. Ours is `GreedyNetRegressor(loss=...)`; the others are the constant that
is best for the loss on the training rows, a line for the same loss with a small penalty on
standardised inputs (HuberRegressor, QuantileRegressor), and LightGBM with the same loss.

Prints how often ours is worse than bounds relative to the others, the true error relative to the
expected one that the fit tells, and seconds; for all problems and for each loss. `--out` appends a
line of JSON for each problem.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from randomproblems import draw
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import HuberRegressor, QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetRegressor
from greedynet.losses import Quantile, get_loss
from greedynet.losses.base import mean_size

OURS = "greedynet"
LOSSES = (("huber", None), ("absolute_error", None), *(("quantile", q) for q in (0.1, 0.5, 0.9)))
MAX_ROWS = 1_000
MIN_ROWS_TOLD = 50
# Errors below this fraction of the constant's are the same: the problem is reproduced.
EXACT = 1e-9


def loss_of(seed):
    """Return the loss whose turn it is: all of them on even seeds, and all on odd ones."""
    return LOSSES[seed // 2 % len(LOSSES)]


def lightgbm(name, quantile, y):
    from lightgbm import LGBMRegressor

    if name == "huber":
        # Its threshold is a number: as ours, from the median distance to the median.
        delta = 1.345 * 1.4826 * float(np.median(np.abs(y - np.median(y)))) or 1.0
        return LGBMRegressor(objective="huber", alpha=delta, n_jobs=1, verbose=-1)
    alpha = 0.5 if quantile is None else quantile
    return LGBMRegressor(objective="quantile", alpha=alpha, n_jobs=1, verbose=-1)


def line(name, quantile):
    if name == "huber":
        model = HuberRegressor(alpha=1.0, max_iter=500)
    else:
        model = QuantileRegressor(quantile=0.5 if quantile is None else quantile, alpha=0.01)
    scaled = make_pipeline(StandardScaler(), model)
    return TransformedTargetRegressor(scaled, transformer=StandardScaler())


def judge(seed, *, boosting=True):
    """Return the errors of all methods on the problem of a seed."""
    warnings.filterwarnings("ignore")
    problem, (name, quantile) = draw(seed), loss_of(seed)
    X, y = problem.X[:MAX_ROWS], problem.y[:MAX_ROWS]
    loss = get_loss(name) if quantile is None else Quantile(quantile)

    def error(predictions):
        return mean_size(loss, (problem.y_new - predictions)[:, None], None)

    record = {
        "seed": seed,
        "loss": name if quantile is None else f"{name} {quantile}",
        "inputs": problem.inputs,
        "target": problem.target,
        "noise": problem.noise,
        "noise_kind": problem.noise_kind,
        "shape": list(X.shape),
        "constant": error(loss.fit(np.ones((len(y), 1)), y[:, None], None).weights[0, 0]),
    }
    model = GreedyNetRegressor(loss=loss, n_jobs=1)
    start = time.perf_counter()
    record[OURS] = error(model.fit(X, y).predict(problem.X_new))
    record["seconds"] = time.perf_counter() - start
    record |= {"told": model.expected_error_, "nodes": model.n_nodes_}
    record["kind"] = None if model.ladder_ is None else model.ladder_.kind
    rivals = {"line": line(name, quantile)}
    if boosting:
        rivals["lightgbm"] = lightgbm(name, quantile, y)
    for rival, made in rivals.items():
        record[rival] = error(made.fit(X, y).predict(problem.X_new))
    return record


def measures(records):
    """Return the figures of the table."""
    ours, constant, line, boosted = (
        np.array([r.get(name, np.inf) for r in records])
        for name in (OURS, "constant", "line", "lightgbm")
    )
    noise = np.array([r["target"] == "pure_noise" for r in records])
    enough = np.array([r["shape"][0] >= MIN_ROWS_TOLD for r in records])
    expected = np.array([r["told"] for r in records], dtype=float)
    least = EXACT * constant
    told = (np.maximum(ours, least) / np.maximum(expected, least))[enough]
    share = lambda where: 100 * float(np.mean(where)) if len(where) else float("nan")  # noqa: E731
    # Errors of problems that are reproduced are rounding.
    best = np.maximum(np.min([constant, line, boosted], axis=0), least)
    ours, ratio = np.maximum(ours, least), ours / constant
    return {
        "problems": len(records),
        "> 1.1 constant, %": share(ratio > 1.1),
        "> 1.25 min(constant, line), %": share(
            ours > 1.25 * np.maximum(np.minimum(constant, line), least)
        ),
        "worst / constant": float(ratio.max()),
        "noise > 1.1 constant, %": share(ratio[noise] > 1.1),
        "worst noise / constant": float(ratio[noise].max(initial=0.0)),
        "median / best rival": float(np.median(ours / best)),
        "true / told in 0.7-1.5, %": share((told > 0.7) & (told < 1.5)),
        "true / told > 3, %": share(told > 3),
        "median seconds": float(np.median([r["seconds"] for r in records])),
        "total seconds": float(np.sum([r["seconds"] for r in records])),
    }


def print_measures(records):
    groups = defaultdict(list)
    for record in records:
        groups[record["loss"]].append(record)
    columns = {"all": measures(records)} | {name: measures(groups[name]) for name in sorted(groups)}
    print(f"{'':32}" + "".join(f"{name:>13}" for name in columns))
    for row in columns["all"]:
        print(f"{row:32}" + "".join(f"{found[row]:13.3g}" for found in columns.values()))


def print_offenders(records):
    print("\nproblems beyond a bound:")
    for r in records:
        least = EXACT * r["constant"]
        beyond = r[OURS] > min(1.1 * r["constant"], 1.25 * max(r["line"], least))
        told = max(r[OURS], least) / max(r["told"], least)
        if beyond or (r["shape"][0] >= MIN_ROWS_TOLD and told > 3):
            size = "x".join(map(str, r["shape"]))
            relative = " ".join(
                f"{name} {r[name] / r['constant']:.3g}" for name in (OURS, "line", "lightgbm")
            )
            print(
                f"  {r['seed']:5d} {r['loss']:12} {size:9} {r['inputs']} {r['target']} {r['noise']}"
                f" {r['kind']} ({r['nodes']}): {relative}, true / told {told:.3g}"
            )


def read(paths):
    lines = [line for path in paths for line in Path(path).read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda r: r["seed"])


def fits(seed, cells):
    return cells is None or draw(seed).X[:MAX_ROWS].size <= cells


def measured(seeds, out):
    records = []
    for seed in seeds:
        records.append(judge(seed))
        if out is not None:
            with Path(out).open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["even", "odd", "both"], default="odd")
    parser.add_argument("--seeds", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cells", type=int, help="leave out larger tables")
    parser.add_argument("--out")
    parser.add_argument("--read", nargs="+")
    arguments = parser.parse_args()
    if arguments.read:
        records = read(arguments.read)
    else:
        kept = {"even": (0,), "odd": (1,), "both": (0, 1)}[arguments.half]
        seeds = range(arguments.first, arguments.seeds)
        chosen = [seed for seed in seeds if seed % 2 in kept and fits(seed, arguments.cells)]
        records = measured(chosen, arguments.out)
    print_measures(records)
    print_offenders(records)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
