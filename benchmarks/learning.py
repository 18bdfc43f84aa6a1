"""Is the verdict of a learning curve right? Random problems, with twice the rows as the judge.

    python benchmarks/learning.py --seeds 0:120 --out learning.jsonl
    python benchmarks/learning.py --seeds 61:120:2      # odd ones
    python benchmarks/learning.py --read learning.jsonl

Of each problem, `n` rows are given to `learning_curve`, and a network is fitted to them and to
twice as many. More rows would help if this lowers the error on 2,000 new rows by more than 2 %.
Even seeds are for tuning the constants of the verdict, odd ones for judging it.
"""

import argparse
import json

import numpy as np
from randomproblems import draw

from greedynet import GreedyNetRegressor
from greedynet.tables.learning import LearningCurve, learning_curve

HELPS = 0.02


def judge(seed, n_jobs=1):
    """Return the errors of the curve of a problem, and the gain by twice as many rows."""
    rng = np.random.default_rng([seed, 18])
    n, d = (round(float(np.exp(rng.uniform(*np.log(ends))))) for ends in ((100, 600), (1, 12)))
    problem = draw(seed, (2 * n, d))
    table = {f"x{j}": problem.X[:n, j] for j in range(d)} | {"y": problem.y[:n]}
    curve = learning_curve(table, "y", n_jobs=n_jobs)
    errors = [error(problem, rows, n_jobs) for rows in (n, 2 * n)]
    return {
        "seed": seed,
        "target": problem.target,
        "rows": n,
        "columns": d,
        "sizes": curve.sizes.tolist(),
        "held_out": curve.held_out.tolist(),
        "gain": 1.0 - errors[1] / errors[0],
    }


def error(problem, n_rows, n_jobs):
    """Return the error on new rows of a network of some of the rows."""
    model = GreedyNetRegressor(n_jobs=n_jobs).fit(problem.X[:n_rows], problem.y[:n_rows])
    return float(np.sqrt(np.mean((model.predict(problem.X_new) - problem.y_new) ** 2)))


def verdict(record):
    """Return what the curve of a record says."""
    held_out = np.array(record["held_out"])
    curve = LearningCurve(np.array(record["sizes"]), held_out, held_out, "rmse")
    said = curve.sentence()
    if "would probably help" in said:
        return "would help"
    return "may be chance" if "may be chance" in said else "may hardly help"


def print_verdicts(records):
    """Print how often each verdict was right."""
    for name, remainder in (("even seeds", 0), ("odd seeds", 1)):
        print(name)
        chosen = [record for record in records if record["seed"] % 2 == remainder]
        for said in ("would help", "may be chance", "may hardly help"):
            gains = [record["gain"] for record in chosen if verdict(record) == said]
            helped, median = sum(gain > HELPS for gain in gains), np.median(gains or [np.nan])
            print(f"  {said:18} {len(gains):3d}, helped {helped:3d}, median gain {median:.1%}")


def main():
    """Measure, or read what was measured, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:60", help="first:end, or first:end:step")
    parser.add_argument("--out", help="file of records, a line for each problem")
    parser.add_argument("--read", help="print the verdicts of these records")
    arguments = parser.parse_args()
    if arguments.read:
        with open(arguments.read) as lines:
            print_verdicts([json.loads(line) for line in lines])
        return
    records = []
    for seed in range(*map(int, arguments.seeds.split(":"))):
        records.append(judge(seed))
        if arguments.out:
            with open(arguments.out, "a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    print_verdicts(records)


if __name__ == "__main__":
    main()
