"""Empty cells: what is learned about them, against the mean and trees that take them natively.

    python benchmarks/missing.py --data DIR --out FILE [--splits 4] [--only NAME ...]

Tables: `concrete.csv` and `energy.csv` of DIR, and drawn ones: one with categories, Friedman's
function with five columns of noise, a straight line with much noise, and three classes of wine. In
5, 20 or 50 % of the cells of the inputs, drawn for each, the value is removed:

    at random    all cells alike;
    by value     with a probability that grows with the rank of the value among those of its column
                 (categories: of their number), from 0 to twice the share;
    by target    the same, with the rank of the target: here a gap says something about it.

A quarter of the rows is the test. Ours are `fit_table(missing="learn")` and `missing="mean"` with
at most 50 nodes; HistGradientBoosting has its defaults, NaN, and categories as such. Errors are
RMSE, for classes log-loss. Every fit is a line of FILE; those that are there are not repeated. The
table at the end has the mean errors over the splits, and the errors of "learn" as a share of those
of "mean": geometric mean, and its standard error.
"""

import argparse
import json
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.preprocessing import OrdinalEncoder

HOW = ("at random", "by value", "by target")
SHARES = (0.05, 0.2, 0.5)
METHODS = ("learn", "mean", "trees")
ROW = "{:12}{:>10}{:>7}{:>10}{:>10}{:>10}{:>12}{:>8}"


def csv(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return {f"x{j}": column for j, column in enumerate(table[:, :-1].T)}, table[:, -1]


def named(X, y):
    return {f"x{j}": column for j, column in enumerate(X.T)}, y


def shops():
    """Sales by size, age, town and kind of a shop; towns differ in what size is worth."""
    rng = np.random.default_rng(1)
    n, towns = 800, np.array([f"t{j}" for j in range(8)])
    town, kind = rng.integers(8, size=n), rng.integers(3, size=n)
    size, age = rng.lognormal(0, 0.5, n), rng.uniform(0, 30, n)
    worth = rng.uniform(0.5, 2, 8)[town] * size + np.array([0, 1, -1.0])[kind]
    y = worth + 0.05 * np.abs(age - 12) + rng.normal(0, 0.3, n)
    kinds = np.array(["food", "books", "shoes"])
    return {"size": size, "age": age, "town": towns[town], "kind": kinds[kind]}, y


def line():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 8))
    return named(X, X @ rng.normal(size=8) + rng.normal(0, 2, 200))


def problems(folder):
    return {
        "concrete": lambda: csv(folder / "concrete.csv"),
        "energy": lambda: csv(folder / "energy.csv"),
        "shops": shops,
        "friedman": lambda: named(*make_friedman1(500, noise=1.0, random_state=0)),
        "line": line,
        "wine": lambda: named(*load_wine(return_X_y=True)),
    }


def ranks(values):
    """Ranks from 0 to 1, equal ones in random order."""
    codes = np.unique(values, return_inverse=True)[1]
    order = np.lexsort((np.random.default_rng(0).random(len(codes)), codes))
    found = np.empty(len(codes))
    found[order] = np.arange(len(codes)) / (len(codes) - 1)
    return found


def with_gaps(columns, y, how, share, seed):
    """Columns as objects, None in some cells."""
    rng, found = np.random.default_rng([seed, round(100 * share), HOW.index(how)]), {}
    for name, cells in columns.items():
        rank = {"at random": 0.5, "by value": ranks(cells), "by target": ranks(y)}[how]
        full = np.array(cells.tolist(), dtype=object)
        full[rng.random(len(full)) < 2 * share * rank] = None
        found[name] = full
    return found


def ours(missing, train, test, y, y_new, classes):
    from greedynet import fit_table

    model = fit_table(
        {**train, "target": y}, "target", missing=missing, classes=classes, max_nodes=50, n_jobs=1
    )
    if classes:
        p = model.predict_proba(test, missing="mean")
        return log_loss(y_new, p, labels=model.classes_), model.network.n_nodes
    error = np.sqrt(np.mean((model.predict(test, missing="mean") - y_new) ** 2))
    return error, model.network.n_nodes


def trees(train, test, y, y_new, classes):
    texts = [any(isinstance(cell, str) for cell in cells) for cells in train.values()]
    X, X_new = (np.column_stack(list(part.values())) for part in (train, test))
    coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    if any(texts):
        X[:, texts], X_new[:, texts] = (
            coder.fit_transform(X[:, texts]),
            coder.transform(X_new[:, texts]),
        )
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(categorical_features=np.array(texts), random_state=0)
    model.fit(X.astype(float), y)
    if classes:
        return log_loss(
            y_new, model.predict_proba(X_new.astype(float)), labels=model.classes_
        ), None
    return np.sqrt(np.mean((model.predict(X_new.astype(float)) - y_new) ** 2)), None


def measured(columns, y, how, share, split, method):
    classes = y.dtype.kind in "iu"
    gaps = with_gaps(columns, y, how, share, split)
    order = np.random.default_rng(split).permutation(len(y))
    new, old = np.split(order, [len(y) // 4])
    parts = [{name: cells[rows] for name, cells in gaps.items()} for rows in (old, new)]
    if method == "trees":
        return trees(*parts, y[old], y[new], classes)
    return ours(method, *parts, y[old], y[new], classes)


def show(records):
    print(ROW.format("table", "gaps", "share", *METHODS, "learn/mean", "s.e."))
    keys = dict.fromkeys((r["table"], r["how"], r["share"]) for r in records)
    for table, how, share in keys:
        of = {
            (r["method"], r["split"]): r["error"]
            for r in records
            if (r["table"], r["how"], r["share"]) == (table, how, share)
        }
        splits = [s for s in range(100) if all((m, s) in of for m in METHODS)]
        if not splits:
            continue
        errors = np.array([[of[m, s] for m in METHODS] for s in splits])
        ratios = np.log(errors[:, 0] / errors[:, 1])
        spread = f"{ratios.std(ddof=1) / len(ratios) ** 0.5:.3f}" if len(ratios) > 1 else ""
        means = [f"{error:.4g}" for error in errors.mean(axis=0)]
        print(ROW.format(table, how, share, *means, f"{np.exp(ratios.mean()):.3f}", spread))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    records = [json.loads(one) for one in lines]
    done = {tuple(r[k] for k in ("table", "how", "share", "split", "method")) for r in records}
    warnings.simplefilter("ignore")
    for split, (name, load) in product(range(given.splits), problems(given.data).items()):
        if given.only and name not in given.only:
            continue
        columns, y = load()
        for how, share, method in product(HOW, SHARES, METHODS):
            if (name, how, share, split, method) in done:
                continue
            error, nodes = measured(columns, y, how, share, split, method)
            record = {"table": name, "how": how, "share": share, "split": split, "method": method}
            records.append({**record, "error": float(error), "nodes": nodes})
            with given.out.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    show(sorted(records, key=lambda r: (r["table"], HOW.index(r["how"]), r["share"])))


if __name__ == "__main__":
    main()
