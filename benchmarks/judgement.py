"""Judgement: defaults on random problems that nobody chose, against what users would pick instead.

    pip install -e ".[bench]"
    python benchmarks/judgement.py --half odd [--seeds 600] [--out FILE] [--figure FILE]
    python benchmarks/judgement.py --half even          # to tune constants
    python benchmarks/judgement.py --large --half odd   # 10,001 to 60,000 rows
    python benchmarks/judgement.py --read FILE ...      # only the tables of earlier runs

Every seed of `randomproblems.draw` is one problem: 20 to 5,000 rows, 1 to 200 columns, 16 kinds of
inputs, 14 targets, noise of 0 to 2 standard deviations with light and heavy tails. Constants of the
library are tuned on the even seeds and judged on the odd ones. Errors are root mean squared errors
on 2,000 new rows, noise included. Ours is `GreedyNetRegressor()`; the others are the mean, RidgeCV
and LassoCV on standardised inputs, a random forest and LightGBM with their defaults.

Prints how often ours is worse than bounds relative to the others, the error relative to the best
of the others, the true error relative to the expected one that the fit tells, and seconds; for all
problems, and for each kind of inputs and of targets. `--out` appends a line of JSON for each
problem. The expected error is judged where there are at least 50 rows and the noise has a variance.

`--large` takes the problems of `largeproblems.draw_large`, 240 unless `--seeds` says otherwise,
half with typing errors. The others are the mean, RidgeCV and LightGBM; "truth" is the error of the
function itself. Aims: none worse than 1.1 times the mean; at most 8 % worse than 1.25 times
LightGBM, and none worse than twice; a median of at most 1; a true error of 0.7 to 1.5 times the
expected one for 93 %, and of more than 3 times for none.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from largeproblems import draw_large
from randomproblems import draw
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetRegressor

OURS = "greedynet"
RIVALS = ("mean", "ridge", "lasso", "forest", "lightgbm")
LARGE_RIVALS = ("mean", "ridge", "lightgbm")
MIN_ROWS_TOLD = 50
# Errors below this fraction of the mean's are the same: the problem is reproduced.
EXACT = 1e-9


def rivals(problem):
    # On wide tables a third of the columns is tried at each split, to save time.
    share = 1.0 if problem.X.size < 100_000 else 0.33
    return large_rivals(problem) | {
        "lasso": make_pipeline(StandardScaler(), LassoCV(max_iter=2000)),
        "forest": RandomForestRegressor(100, random_state=0, max_features=share),
    }


def large_rivals(problem):
    from lightgbm import LGBMRegressor

    return {
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))),
        "lightgbm": LGBMRegressor(n_jobs=1, verbose=-1),
    }


def rmse(predictions, y):
    return float(np.sqrt(np.mean((predictions - y) ** 2)))


def timed(model, problem):
    start = time.perf_counter()
    model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    return rmse(model.predict(problem.X_new), problem.y_new), seconds


def judge(seed):
    """Return the errors of all methods on the problem of a seed."""
    problem = draw(seed)
    return judged(problem, rivals(problem))


def judge_large(seed):
    """Return the same for a large problem, with its typing errors and the least possible error."""
    problem = draw_large(seed)
    found = judged(problem, large_rivals(problem))
    least = rmse(problem.truth, problem.y_new)
    return found | {"slip": problem.slip, "place": problem.place, "truth": least}


def judged(problem, others):
    warnings.filterwarnings("ignore")
    record = {
        "seed": problem.seed,
        "inputs": problem.inputs,
        "target": problem.target,
        "noise": problem.noise,
        "noise_kind": problem.noise_kind,
        "shape": list(problem.shape),
        "mean": rmse(problem.y.mean(), problem.y_new),
    }
    model = GreedyNetRegressor(n_jobs=1)
    record[OURS], record["seconds"] = timed(model, problem)
    record |= {"told": model.expected_error_, "nodes": model.n_nodes_}
    record["kind"] = None if model.ladder_ is None else model.ladder_.kind
    for name, rival in others.items():
        record[name], record[f"seconds {name}"] = timed(rival, problem)
    return record


def share(where):
    """Return a share in per cent."""
    return 100 * float(np.mean(where)) if len(where) else float("nan")


def measures(records):
    """Return the figures of the table."""
    ours = np.array([r[OURS] for r in records])
    of = {name: np.array([r[name] for r in records]) for name in RIVALS}
    best = np.min([of[name] for name in RIVALS], axis=0)
    noise = np.array([r["target"] == "pure_noise" for r in records])
    # Noise of infinite variance has no root mean squared error that could be told.
    finite = np.array([r["noise_kind"] != "t2" or r["noise"] == 0 for r in records])
    enough = finite & np.array([r["shape"][0] >= MIN_ROWS_TOLD for r in records])
    expected = np.array([r["told"] for r in records], dtype=float)
    least = EXACT * of["mean"]
    told = (np.maximum(ours, least) / np.maximum(expected, least))[enough]
    ratio = ours / of["mean"]
    return {
        "problems": len(records),
        "> 1.1 mean, %": share(ratio > 1.1),
        "> 1.25 min(mean, ridge), %": share(ours > 1.25 * np.minimum(of["mean"], of["ridge"])),
        "> 3 forest, %": share(ours > 3 * of["forest"]),
        "worst / mean": float(ratio.max()),
        "noise > 1.1 mean, %": share(ratio[noise] > 1.1),
        "worst noise / mean": float(ratio[noise].max(initial=0.0)),
        "median / best rival": float(np.median(ours / best)),
        "true / told in 0.7-1.5, %": share((told > 0.7) & (told < 1.5)),
        "true / told > 3, %": share(told > 3),
        "median seconds": float(np.median([r["seconds"] for r in records])),
    }


def print_measures(found):
    for name, value in found.items():
        print(f"  {name:28} {value:10.3g}")


def grouped(records, trait):
    groups = defaultdict(list)
    for record in records:
        groups[record[trait]].append(record)
    return sorted(groups.items())


def print_groups(records, trait):
    print(f"\n{trait:18}{'n':>5}{'>1.1 mean':>11}{'>1.25 ridge':>13}{'worst/mean':>12}{'/best':>8}")
    for name, group in grouped(records, trait):
        found = measures(group)
        print(
            f"{name:18}{found['problems']:5d}{found['> 1.1 mean, %']:11.1f}"
            f"{found['> 1.25 min(mean, ridge), %']:13.1f}{found['worst / mean']:12.2f}"
            f"{found['median / best rival']:8.2f}"
        )


def print_offenders(records):
    print("\nproblems beyond a bound:")
    for r in records:
        bounds = (1.1 * r["mean"], 1.25 * min(r["mean"], r["ridge"]), 3 * r["forest"])
        if r[OURS] > min(bounds):
            relative = " ".join(f"{name} {r[name] / r['mean']:.2f}" for name in (OURS, *RIVALS[1:]))
            size = "x".join(map(str, r["shape"]))
            print(f"  {r['seed']:5d} {size:9} {r['inputs']} {r['target']} {r['noise']}: {relative}")


# Large problems


def large_measures(records):
    """Return the figures of the table."""
    column = lambda name: np.array([r[name] for r in records], dtype=float)  # noqa: E731
    ours, trees, mean = column(OURS), column("lightgbm"), column("mean")
    told, seconds = ours / column("told"), column("seconds")
    return {
        "problems": len(records),
        "> 1.1 mean, %": share(ours > 1.1 * mean),
        "> 1.25 lightgbm, %": share(ours > 1.25 * trees),
        "> 2 lightgbm, %": share(ours > 2 * trees),
        "worst / mean": float((ours / mean).max()),
        "worst / lightgbm": float((ours / trees).max()),
        "median / lightgbm": float(np.median(ours / trees)),
        "median / truth": float(np.median(ours / column("truth"))),
        "true / told in 0.7-1.5, %": share((told > 0.7) & (told < 1.5)),
        "largest true / told": float(told.max()),
        "median seconds": float(np.median(seconds)),
        "most seconds": float(seconds.max()),
        "median seconds / lightgbm": float(np.median(seconds / column("seconds lightgbm"))),
    }


LARGE_COLUMNS = {
    "n": "problems",
    ">1.1 mean": "> 1.1 mean, %",
    ">1.25 trees": "> 1.25 lightgbm, %",
    ">2 trees": "> 2 lightgbm, %",
    "/trees": "median / lightgbm",
    "told, %": "true / told in 0.7-1.5, %",
    "most/told": "largest true / told",
    "seconds": "median seconds",
}


def print_large_groups(records, trait):
    print(f"\n{trait:16}" + "".join(f"{title:>12}" for title in LARGE_COLUMNS))
    for name, group in grouped(records, trait):
        found = large_measures(group)
        print(f"{name:16}" + "".join(f"{found[of]:12.3g}" for of in LARGE_COLUMNS.values()))


def print_large_offenders(records):
    print("\nproblems beyond a bound:")
    for r in records:
        told = r[OURS] / r["told"]
        worse = r[OURS] > min(1.1 * r["mean"], 1.25 * r["lightgbm"])
        if worse or not 0.7 < told < 1.5:
            methods = (OURS, *LARGE_RIVALS[1:], "truth")
            relative = " ".join(f"{name} {r[name] / r['mean']:.2f}" for name in methods)
            traits = f"{r['inputs']} {r['target']} {r['noise']} {r['slip']} {r['place']}"
            size = "x".join(map(str, r["shape"]))
            print(f"  {r['seed']:4d} {size:9} {traits}: {relative} true/told {told:.2f}")


def print_large(records):
    print_measures(large_measures(records))
    for trait in ("inputs", "target", "slip", "place"):
        print_large_groups(records, trait)
    print_large_offenders(records)


def print_all(records):
    print_measures(measures(records))
    print_groups(records, "inputs")
    print_groups(records, "target")
    print_offenders(records)


def draw_figure(records, path):
    """Errors of all methods, sorted; and the true error against the expected one."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    share = np.linspace(0, 100, len(records))
    for name in (*RIVALS[1:], OURS):
        sizes = np.sort([r[name] / r["mean"] for r in records])
        ours = name == OURS
        left.plot(
            share, sizes, label=name, lw=2.5 if ours else 1.2, color="black" if ours else None
        )
    left.axhline(1.0, color="0.7", lw=0.8, zorder=0)
    left.set(yscale="log", ylim=(1e-3, 10), xlabel="percentile of problems")
    left.set(ylabel="error on new rows / error of the mean")
    left.legend(frameon=False)
    shown = [r for r in records if r["shape"][0] >= MIN_ROWS_TOLD and r["told"]]
    told = np.array([r["told"] / r["mean"] for r in shown])
    true = np.array([r[OURS] / r["mean"] for r in shown])
    right.fill_between([1e-4, 10], [0.7e-4, 7], [1.5e-4, 15], color="0.9", label="0.7 to 1.5")
    right.plot(told, true, ".", ms=4, color="black", alpha=0.6)
    right.set(xscale="log", yscale="log", xlim=(1e-3, 4), ylim=(1e-3, 8))
    right.set(xlabel="expected error told by the fit / error of the mean")
    right.set(ylabel="error on new rows / error of the mean")
    right.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=120)


def read(paths):
    lines = [line for path in paths for line in Path(path).read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda r: r["seed"])


def measured(judge, seeds, out, n_jobs):
    records = []
    # A process for each problem, whose memory is free afterwards.
    with Pool(n_jobs, maxtasksperchild=1) as pool:
        for record in pool.imap_unordered(judge, seeds):
            records.append(record)
            if out is not None:
                with Path(out).open("a") as file:
                    file.write(json.dumps(record) + "\n")
    return sorted(records, key=lambda r: r["seed"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["even", "odd", "both"], default="odd")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--read", nargs="+")
    parser.add_argument("--figure")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if arguments.read:
        records = read(arguments.read)
    else:
        default = 240 if arguments.large else 600
        seeds = range(arguments.first, arguments.seeds or default)
        kept = {"even": (0,), "odd": (1,), "both": (0, 1)}[arguments.half]
        chosen = [seed for seed in seeds if seed % 2 in kept]
        task = judge_large if arguments.large else judge
        records = measured(task, chosen, arguments.out, arguments.jobs)
    (print_large if "slip" in records[0] else print_all)(records)
    if arguments.figure:
        draw_figure(records, arguments.figure)


if __name__ == "__main__":
    # Every problem has a core of its own.
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
