"""Random problems with classes: is the classifier ever much worse than something simple?

    pip install -e ".[bench]"
    python benchmarks/judgement_classes.py [--seeds 400] [--part odd] [--out FILE]
    python benchmarks/judgement_classes.py --read FILE [FILE]

Problems of `randomproblems.draw_classes`: 40 to 3,000 rows, 1 to 200 columns, two to six classes,
many kinds of inputs and targets. Even seeds are for tuning, odd ones for judging. Log-losses are
those of 2,000 new rows: of `GreedyNetClassifier()`; of the shares of the classes; of a logistic
regression of standardised inputs, with `C=1` and with `C` chosen by cross-validation; and of a
random forest, its probabilities at least one in a thousand. *told* is `expected_error_`. Seconds
are those of the process.

`--out` appends one line per problem, so that an interrupted campaign goes on; `--read` summarises
such files without fitting anything.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from randomproblems import draw_classes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetClassifier

# The least probability of a forest, whose log-loss would be infinite.
LEAST = 1e-3
# Worse than the shares of the classes, and than logistic regression, by more than these factors.
OF_SHARES, OF_LOGISTIC = 1.05, 1.10


def loss_of(p, classes, y_new):
    """Mean log-loss of the new rows of known classes."""
    known = np.isin(y_new, classes)
    return log_loss(y_new[known], p[known], labels=classes)


def shares(y, n_new):
    """The shares of the classes, for each new row."""
    _, counts = np.unique(y, return_counts=True)
    return np.tile(counts / len(y), (n_new, 1))


def others(y):
    """What is compared, by name."""
    found = {"logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))}
    n_folds = min(5, np.unique(y, return_counts=True)[1].min())
    if n_folds >= 2:
        cv = LogisticRegressionCV(
            cv=int(n_folds), scoring="neg_log_loss", max_iter=2_000, l1_ratios=(0,),
            use_legacy_attributes=False,
        )  # fmt: skip
        found["logistic, chosen"] = make_pipeline(StandardScaler(), cv)
    return {**found, "forest": RandomForestClassifier(random_state=0)}


def measure(seed):
    """The record of one problem."""
    problem = draw_classes(seed)
    X, y, X_new, y_new = problem.X, problem.y, problem.X_new, problem.y_new
    classes = np.unique(y)
    record = {
        "seed": seed, "n": len(X), "d": X.shape[1], "classes": len(classes),
        "inputs": problem.inputs, "target": problem.target, "noise": problem.noise,
        "shares": loss_of(shares(y, len(X_new)), classes, y_new),
    }  # fmt: skip
    start = time.process_time()
    model = GreedyNetClassifier(n_jobs=1).fit(X, y)
    record["seconds"] = time.process_time() - start
    record["ours"] = loss_of(model.predict_proba(X_new), classes, y_new)
    told = getattr(model, "expected_error_", None)
    record["told"] = model.path_.finished_score if told is None else told
    record["nodes"] = int(model.n_nodes_)
    for name, other in others(y).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            p = other.fit(X, y).predict_proba(X_new)
        record[f"seconds, {name}"] = time.process_time() - start
        if name == "forest":
            p = np.clip(p, LEAST, None)
            p /= p.sum(axis=1, keepdims=True)
        record[name] = loss_of(p, classes, y_new)
    return record


def column(records, name):
    return np.array([record.get(name, np.nan) for record in records], dtype=float)


def summary(records, label):
    """Print how often we are much worse than something simple, and whether we said so."""
    ours, told, n = (column(records, name) for name in ("ours", "told", "n"))
    print(f"{label}: {len(records)} problems")
    worse = ours / column(records, "shares")
    often = np.mean(worse > OF_SHARES)
    print(f"  worse than {OF_SHARES} x shares: {often:.1%}, most {worse.max():.2f}")
    for name in ("logistic", "logistic, chosen", "forest"):
        ratio = ours / column(records, name)
        ratio = ratio[np.isfinite(ratio)]
        print(
            f"  over {name}: more than {OF_LOGISTIC} {np.mean(ratio > OF_LOGISTIC):.1%}, median "
            f"{np.median(ratio):.3f}, 90 % {np.quantile(ratio, 0.9):.3f}, most {ratio.max():.2f}"
        )
    ratio = (ours / told)[n >= 50]
    untold, ratio = np.sum(~np.isfinite(ratio)), ratio[np.isfinite(ratio)]
    marks = (0.01, 0.05, 0.5, 0.95, 0.99)
    shown = ", ".join(f"{q:.0%} {np.quantile(ratio, q):.2f}" for q in marks)
    inside, above = np.mean((ratio >= 0.7) & (ratio <= 1.5)), np.mean(ratio > 3)
    print(f"  true / told, {len(ratio)} problems of 50 rows or more ({untold} not told): {shown};")
    print(f"    0.7 to 1.5 {inside:.1%}, above 3 {above:.1%}")
    t = column(records, "seconds")
    print(f"  seconds: median {np.median(t):.2f}, most {t.max():.1f}, in all {t.sum():.0f}")
    names = ("ours", "shares", "logistic", "logistic, chosen", "forest")
    means = ", ".join(f"{name} {np.nanmean(column(records, name)):.4f}" for name in names)
    print(f"  mean log-loss: {means}")


def by_target(records):
    """Print a line for each kind of target."""
    row = "  {:14}{:>5}{:>8}{:>8}{:>10}{:>10}{:>8}{:>10}{:>10}"
    heads = ("n", "ours", "shares", "logistic", "chosen", "forest", "> shares", "> logist")
    print(row.format("target", *heads))
    for target in sorted({record["target"] for record in records}):
        part = [record for record in records if record["target"] == target]
        names = ("ours", "shares", "logistic", "logistic, chosen", "forest")
        means = [f"{np.nanmean(column(part, name)):.3f}" for name in names]
        ours = column(part, "ours")
        over = (
            np.sum(ours > OF_SHARES * column(part, "shares")),
            np.sum(ours > OF_LOGISTIC * column(part, "logistic")),
        )
        print(row.format(target, len(part), *means, *over))


def compared(records, before):
    """Print the ratio to an earlier campaign, problem by problem."""
    earlier = {record["seed"]: record for record in before}
    common = [record for record in records if record["seed"] in earlier]
    ratio = column(common, "ours") / [earlier[r["seed"]]["ours"] for r in common]
    slower = column(common, "seconds") / [earlier[r["seed"]]["seconds"] for r in common]
    mean = np.exp(np.log(ratio).mean())
    low, high = np.quantile(ratio, [0.05, 0.95])
    print(f"now / before, {len(common)} problems: log-loss geometric mean {mean:.4f},")
    print(f"  5 % {low:.3f}, 95 % {high:.3f}; seconds median {np.median(slower):.2f}")


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=400, help="seeds below this number")
    parser.add_argument("--first", type=int, default=0, help="seeds from this number on")
    parser.add_argument("--part", choices=["even", "odd", "all"], default="odd")
    parser.add_argument("--out", type=Path, help="file of records, one line for each problem")
    parser.add_argument("--read", nargs="+", type=Path, help="records, and earlier ones")
    options = parser.parse_args()
    if options.read:
        records, *before = (read(path) for path in options.read)
    else:
        records, before = read(options.out) if options.out and options.out.exists() else [], []
        known = {record["seed"] for record in records}
        step, first = (1, 0) if options.part == "all" else (2, int(options.part == "odd"))
        for seed in range(options.first // step * step + first, options.seeds, step):
            if seed in known or len(np.unique(draw_classes(seed).y)) < 2:
                continue
            records.append(measure(seed))
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
    for label, kept in (("even", 0), ("odd", 1)):
        part = [record for record in records if record["seed"] % 2 == kept]
        if part:
            summary(part, label)
            by_target(part)
            if before:
                compared(part, before[0])


if __name__ == "__main__":
    main()
