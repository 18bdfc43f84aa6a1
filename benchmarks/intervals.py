"""Intervals: coverage, interval score and likelihood on new rows, against conformal LightGBM.

    pip install -e ".[bench]"
    python benchmarks/intervals.py tables --data DIR [--splits 20] [--only NAME ...] [--same-width]
    python benchmarks/intervals.py problems --half odd [--seeds 240] [--noise depends]
    python benchmarks/intervals.py quarters [--draws 20]
    python benchmarks/intervals.py classes --half odd [--seeds 120]

All intervals are asked to contain 90 % of new rows. Their score is the mean of

    (u - l) + 2 / 0.1 (l - y)_+ + 2 / 0.1 (y - u)_+,

which is smallest for the true quantiles. The likelihood is that of a normal distribution with the
deviations of `predict(X, return_std=True)`.

The other is LightGBM's quantile regression with its defaults, made conformal by MAPIE
(`ConformalizedQuantileRegressor`), a quarter of the training rows, at least 25, kept for that.
With `--same-width`, ours is fitted again with intervals of the same width everywhere.

`tables`: every CSV file in DIR, split as in `tabular.py`. `problems`: random problems of
`randomproblems.py`, whose noise is the same everywhere (`--noise same`) or not (`--noise depends`);
constants are tuned on the even seeds. `quarters`: noise that grows in one column, and the coverage
in each quarter of the range of this column. `classes`: coverage and size of sets of classes, and
what is missing from calibrated probabilities: by how much the log-loss on new rows would fall if
all logits were multiplied by the best factor for them.
"""

import argparse
import logging
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
from randomproblems import draw, draw_classes, draw_heteroscedastic
from scipy.special import logsumexp
from sklearn.model_selection import train_test_split
from tabular import read, standard_splits

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, EstimatorSettings, settings_context
from greedynet.model.uncertainty.intervals import IntervalSettings
from greedynet.model.uncertainty.local_size import SizeSettings

COVERAGE = 0.9
OURS, SAME_WIDTH, OTHER = "greedynet", "same width", "lightgbm + mapie"
# WGBoost's likelihoods on the same splits (Matsubara 2024).
PUBLISHED = {"concrete": 2.83, "energy": 0.53, "power": 2.60, "yacht": 0.16}
MOST_NUMBERS = 60_000
FACTORS = np.exp(np.linspace(-1.5, 1.5, 61))
MIN_ROWS = 50
# MAPIE refuses fewer rows for intervals of 90 %.
LEAST_CONFORMAL = 25
ROW = "{:14} {:18}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}"
TITLES = ("coverage", "lowest", "score", "nll", "rmse", "seconds")


def same_width():
    """Settings with which all errors are taken to have the same size."""
    settings: EstimatorSettings = ESTIMATOR_SETTINGS.current
    sizes = SizeSettings(min_rows=10**9)
    return settings_context(replace(settings, intervals=IntervalSettings(sizes=sizes)))


def interval_score(y, low, high):
    beyond = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float(np.mean(high - low + 2 / (1 - COVERAGE) * beyond))


def ours(X, y, X_new, y_new, context):
    """Figures of one fit: coverage, score, likelihood, error, seconds."""
    start = time.perf_counter()
    with context:
        model = GreedyNetRegressor(n_jobs=1).fit(X, y)
    seconds = time.perf_counter() - start
    low, high = model.predict_interval(X_new, COVERAGE)
    found, std = model.predict(X_new, return_std=True)
    normal = 0.5 * np.log(2 * np.pi * std**2) + 0.5 * ((y_new - found) / std) ** 2
    covered = np.mean((low <= y_new) & (y_new <= high))
    error = np.sqrt(np.mean((found - y_new) ** 2))
    score = interval_score(y_new, low, high)
    return covered, score, normal.mean(), error, seconds


def other(X, y, X_new, y_new, seed):
    """Figures of LightGBM and MAPIE, without a likelihood."""
    from lightgbm import LGBMRegressor
    from mapie.regression import ConformalizedQuantileRegressor

    start = time.perf_counter()
    n_kept = max(LEAST_CONFORMAL, len(y) // 4)
    kept = train_test_split(X, y, test_size=n_kept, random_state=seed)
    quantiles = LGBMRegressor(objective="quantile", alpha=0.5, n_jobs=1, verbose=-1)
    model = ConformalizedQuantileRegressor(quantiles, confidence_level=COVERAGE)
    model.fit(kept[0], kept[2]).conformalize(kept[1], kept[3])
    seconds = time.perf_counter() - start
    found, ends = model.predict_interval(X_new)
    low, high = ends[:, 0, 0], ends[:, 1, 0]
    covered = np.mean((low <= y_new) & (y_new <= high))
    error = np.sqrt(np.mean((found - y_new) ** 2))
    score = interval_score(y_new, low, high)
    return covered, score, np.nan, error, seconds


def measured(X, y, X_new, y_new, seed, names):
    """Figures of some methods on one problem."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.INFO)  # MAPIE tells of every fit
        found = {}
        for name in names:
            if name == OTHER:
                found[name] = other(X, y, X_new, y_new, seed)
            else:
                context = same_width() if name == SAME_WIDTH else nullcontext()
                found[name] = ours(X, y, X_new, y_new, context)
        return found


def print_rows(file, records, names):
    for name in names:
        values = np.array([record[name] for record in records])
        covered, score, nll, error, seconds = values.mean(axis=0)
        print(
            ROW.format(
                file, name, f"{covered:.3f}", f"{values[:, 0].min():.3f}", f"{score:.4g}",
                f"{nll:.3f}", f"{error:.4g}", f"{seconds:.2f}",
            )
        )  # fmt: skip
    if file in PUBLISHED:
        print(ROW.format(file, "published", "", "", "", PUBLISHED[file], "", ""))
    print(flush=True)


def tables(arguments, names):
    files = {path.stem: path for path in sorted(arguments.data.glob("*.csv"))}
    print(ROW.format("file", "method", *TITLES))
    for name in arguments.only or files:
        X, y = read(files[name])
        records = [
            measured(X[train], y[train], X[test], y[test], seed, names)
            for seed, (train, test) in enumerate(standard_splits(len(y), arguments.splits))
        ]
        print_rows(name, records, names)


def problems(arguments, names):
    """Coverage and scores relative to the other's, on random problems."""
    drawn = draw if arguments.noise == "same" else draw_heteroscedastic
    first = {"even": 0, "odd": 1}[arguments.half]
    found = []
    for seed in range(first, arguments.seeds, 2):
        problem = drawn(seed)
        if problem.X.size > MOST_NUMBERS or len(problem.y) < MIN_ROWS:
            continue
        new = problem.X_new, problem.y_new
        record = measured(problem.X, problem.y, *new, seed, names)
        found.append(record)
        if arguments.verbose:
            print(seed, problem.shape, problem.inputs, problem.target, problem.noise,
                  {name: np.round(values, 3).tolist() for name, values in record.items()},
                  flush=True)  # fmt: skip
    print(f"{len(found)} problems, {arguments.half} seeds, noise: {arguments.noise}")
    for name in names:
        covered = np.array([record[name][0] for record in found])
        ratio = np.array([record[name][1] / record[OURS][1] for record in found])
        ratio = ratio[np.isfinite(ratio) & (ratio > 0)]
        print(
            f"{name:18} coverage {covered.mean():.3f}, median {np.median(covered):.3f}, below 0.8: "
            f"{np.mean(covered < 0.8):.3f}, above 0.97: {np.mean(covered > 0.97):.3f}; score "
            f"relative to ours, geometric mean {np.exp(np.log(ratio).mean()):.3f}, median "
            f"{np.median(ratio):.3f}"
        )


def growing(rng, n):
    """One column, and noise that grows with it."""
    X = rng.uniform(0, 1, (n, 1))
    return X, np.sin(4 * X[:, 0]), 0.1 + X[:, 0]


def in_the_middle(rng, n):
    """Four columns, and noise that is largest in the middle of the first."""
    X = rng.uniform(-1, 1, (n, 4))
    return X, X[:, 0] + np.abs(X[:, 1]), 0.1 + np.exp(-8 * X[:, 0] ** 2)


def with_the_signal(rng, n):
    """Four columns, and noise that is proportional to the signal."""
    X = rng.uniform(0, 1, (n, 4))
    signal = np.exp(1.5 * X[:, 0] + 0.5 * X[:, 1])
    return X, signal, 0.2 * signal


def quarters(arguments, names):
    """Coverage where the noise is different, on a thousand training rows."""
    for problem in (growing, in_the_middle, with_the_signal):
        for name in names:
            found = []
            for seed in range(arguments.draws):
                rng = np.random.default_rng(seed)
                X, signal, size = problem(rng, 11_000)
                y = signal + size * rng.normal(size=len(signal))
                context = same_width() if name == SAME_WIDTH else nullcontext()
                with context:
                    model = GreedyNetRegressor(n_jobs=1).fit(X[:1000], y[:1000])
                low, high = model.predict_interval(X[1000:], COVERAGE)
                covered = (low <= y[1000:]) & (y[1000:] <= high)
                ranks = np.argsort(np.argsort(X[1000:, 0])) * 4 // 10_000
                found.append([covered[ranks == quarter].mean() for quarter in range(4)])
            print(f"{problem.__name__:18}{name:12} coverage by quarter, mean over draws: "
                  f"{np.mean(found, axis=0).round(3)}; lowest and highest of single draws: "
                  f"{np.min(found):.3f} {np.max(found):.3f}", flush=True)  # fmt: skip


def classes(arguments, names):
    """Sets of classes, and how well probabilities are calibrated."""
    first = {"even": 0, "odd": 1}[arguments.half]
    found = []
    for seed in range(first, arguments.seeds, 2):
        problem = draw_classes(seed)
        known = np.isin(problem.y_new, problem.y)
        if problem.X.size > MOST_NUMBERS or len(problem.y) < MIN_ROWS or not known.all():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GreedyNetClassifier(n_jobs=1).fit(problem.X, problem.y)
            sets = model.predict_set(problem.X_new, COVERAGE)
        labels = np.searchsorted(model.classes_, problem.y_new)
        rows = np.arange(len(labels))
        logits = model.predict_log_proba(problem.X_new)
        losses = [
            -np.mean((factor * logits - logsumexp(factor * logits, axis=1)[:, None])[rows, labels])
            for factor in (1.0, *FACTORS)
        ]
        right = np.mean(logits.argmax(axis=1) == labels)
        best = int(np.argmin(losses[1:]))
        found.append(
            (sets[rows, labels].mean(), right, sets.sum(axis=1).mean(), len(model.classes_),
             losses[0], losses[0] - min(losses), FACTORS[best])
        )  # fmt: skip
        if arguments.verbose:
            print(seed, problem.shape, np.round(found[-1], 3), flush=True)
    covered, right, size, n_classes, loss, excess, factor = np.array(found).T
    asked = np.maximum(COVERAGE, right)
    print(
        f"{len(found)} problems, {arguments.half} seeds: coverage {covered.mean():.3f}, where the "
        f"most likely class is right less often {covered[right < COVERAGE].mean():.3f}, coverage "
        f"minus the larger of {COVERAGE} and the accuracy {np.mean(covered - asked):+.3f}, below "
        f"0.8: {np.mean(covered < 0.8):.3f}; classes in a set {size.mean():.2f} of "
        f"{n_classes.mean():.2f}; log-loss {loss.mean():.3f}, of which lack of calibration: mean "
        f"{excess.mean():.4f}, median {np.median(excess):.4f}, largest {excess.max():.3f}; median "
        f"of the best factors {np.median(factor):.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["tables", "problems", "quarters", "classes"])
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of files")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="files, without .csv")
    parser.add_argument("--half", choices=["even", "odd"], default="odd")
    parser.add_argument("--seeds", type=int, default=240)
    parser.add_argument("--noise", choices=["same", "depends"], default="same")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--same-width", action="store_true")
    parser.add_argument("--without-other", action="store_true", help="leave LightGBM out")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    names = [OURS] + [SAME_WIDTH] * arguments.same_width
    if arguments.part == "quarters":
        quarters(arguments, names)
        return
    names += [OTHER] * (not arguments.without_other)
    parts = {"tables": tables, "problems": problems, "classes": classes}
    parts[arguments.part](arguments, names)


if __name__ == "__main__":
    main()
