"""Real tables: error, size and fit time of the defaults against what users would pick instead.

    pip install -e ".[bench]"
    python benchmarks/tabular.py --data DIR [--splits 20] [--only NAME ...] [--methods NAME ...]

Every CSV file in DIR is one problem: a header row, numbers, the target in the last column. Each is
split as in the literature, nine rows in ten to train on: `RandomState(1).choice(n, n,
replace=False)`, drawn anew for each split. Methods take turns on every split; one that fails on a
split is reported with the reason, and its figures are those of the other splits.

Prints for each file and method, over the splits: mean and standard deviation of the test RMSE, the
worst split as a multiple of the mean, mean number of nodes, mean seconds of a fit, and these as a
multiple of the seconds of scikit-learn's MLPRegressor of 50 units with early stopping. Where a
figure is published for the same splits, it is printed with them. A line says where the mean of the
seconds is more than twice their median: on busy cores, threads that wait for each other may stall.

Ours is `GreedyNetRegressor(max_nodes=50)` on the columns as they come, everything else at its
default. The others have inputs, and where their fit depends on it the target, scaled to unit
variance, and the number of the split as their seed. Fits of tiny problems come before all timing,
so that compilation does not count. Warnings of the others are silenced, ours are not.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import OrthogonalMatchingPursuitCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetRegressor

# Networks of one hidden layer of 50 ReLU units, tuned (Gal and Ghahramani), on the same splits.
PUBLISHED = {"concrete": 4.83, "energy": 0.539, "power": 4.01, "yacht": 0.666}
OURS = "greedynet"
YARDSTICK = "mlp50"
ROW = "{:16} {:20}{:>9}{:>9}{:>12}{:>8}{:>9}{:>9}"


@dataclass(frozen=True)
class Method:
    """How to make an estimator from the number of nodes and a seed, and to count its nodes."""

    build: Callable
    nodes: Callable | None = None


@dataclass
class Record:
    """What one method did on the splits of one file."""

    errors: list = field(default_factory=list)
    seconds: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    failures: Counter = field(default_factory=Counter)


class RandomReLU(TransformerMixin, BaseEstimator):
    """ReLU neurons with weights and biases uniform on the sphere."""

    def __init__(self, n_neurons=2_000, random_state=0):
        self.n_neurons = n_neurons
        self.random_state = random_state

    def fit(self, X, y=None):
        points = np.random.RandomState(self.random_state).randn(self.n_neurons, X.shape[1] + 1)
        self.points_ = points / np.linalg.norm(points, axis=1, keepdims=True)
        return self

    def transform(self, X):
        return np.maximum(X @ self.points_[:, :-1].T + self.points_[:, -1], 0.0)


def scaled(*steps):
    """Estimator that sees inputs and target with mean 0 and variance 1."""
    model = make_pipeline(StandardScaler(), *steps)
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def ours(max_nodes, seed):
    return GreedyNetRegressor(max_nodes=max_nodes)


def do_it_yourself(max_nodes, seed):
    pursuit = OrthogonalMatchingPursuitCV(max_iter=max_nodes, fit_intercept=True)
    return make_pipeline(StandardScaler(), RandomReLU(random_state=seed), pursuit)


def perceptron(width, early_stopping):
    def build(max_nodes, seed):
        return scaled(
            MLPRegressor(
                hidden_layer_sizes=(width,), early_stopping=early_stopping, random_state=seed
            )
        )

    return Method(build, lambda model: width)


def plain_perceptron(max_nodes, seed):
    """Return the perceptron as most write it, with scaled inputs and the target as it comes."""
    network = MLPRegressor(hidden_layer_sizes=(50,), early_stopping=True, random_state=seed)
    return make_pipeline(StandardScaler(), network)


def projection_pursuit(max_nodes, seed):
    from skpp import ProjectionPursuitRegressor

    return scaled(ProjectionPursuitRegressor(random_state=seed))


def swim(max_nodes, seed):
    from swimnetworks import Dense, Linear

    hidden = Dense(
        layer_width=max_nodes, activation="relu", parameter_sampler="relu", random_seed=seed
    )
    return scaled(hidden, Linear())


def lightgbm(max_nodes, seed):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=300, random_state=seed, verbose=-1)


METHODS = {
    OURS: Method(ours, lambda model: model.n_nodes_),
    "diy": Method(do_it_yourself, lambda model: np.count_nonzero(model[-1].coef_)),
    YARDSTICK: perceptron(50, early_stopping=True),
    "mlp50-no-stopping": perceptron(50, early_stopping=False),
    "mlp50-plain-target": Method(plain_perceptron, lambda model: 50),
    "mlp200": perceptron(200, early_stopping=True),
    "projection-pursuit": Method(projection_pursuit),
    "swimnetworks": Method(swim, lambda model: model.regressor_[1].layer_width),
    "lightgbm": Method(lightgbm),
}


def available(names):
    """The methods that can be imported; a line for each of the others."""
    kept = []
    for name in names:
        try:
            METHODS[name].build(max_nodes=1, seed=0)
            kept.append(name)
        except ImportError as error:
            print(f'{name} is left out ({error}): pip install -e ".[bench]"')
    return kept


def read(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return table[:, :-1], table[:, -1]


def standard_splits(n, n_splits):
    stream = np.random.RandomState(1)
    for _ in range(n_splits):
        order = stream.choice(range(n), n, replace=False)
        yield np.split(order, [round(0.9 * n)])


def run(X, y, names, n_splits, max_nodes):
    """A record for each method, all on the same splits."""
    records = {name: Record() for name in names}
    for seed, (train, test) in enumerate(standard_splits(len(y), n_splits)):
        for name, record in records.items():
            with warnings.catch_warnings():
                if name != OURS:
                    warnings.simplefilter("ignore")
                model = METHODS[name].build(max_nodes, seed)
                try:
                    error, seconds = fit_once(model, X[train], y[train], X[test], y[test])
                except Exception as problem:
                    reason = str(problem).strip().partition("\n")[0]
                    record.failures[f"{type(problem).__name__}: {reason}"] += 1
                    continue
            count = METHODS[name].nodes
            record.errors.append(error)
            record.seconds.append(seconds)
            record.nodes.append(np.nan if count is None else count(model))
    return records


def fit_once(model, X, y, X_test, y_test):
    """Test RMSE, and seconds of the fit."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    error = np.sqrt(np.mean((np.ravel(model.predict(X_test)) - y_test) ** 2))
    if not np.isfinite(error):
        raise ArithmeticError("the predictions are not finite")
    return error, seconds


def print_rows(file, records):
    yardstick = records.get(YARDSTICK, Record()).seconds
    for name, record in records.items():
        if record.errors:
            print(ROW.format(file, name, *figures(record, yardstick)))
            mean, median = np.mean(record.seconds), np.median(record.seconds)
            if mean > 2 * median:
                print(f"{file:16} {name:20}  some fits stalled: median {median:.3f} seconds")
        for reason, count in record.failures.items():
            n_splits = len(record.errors) + record.failures.total()
            print(f"{file:16} {name:20}  failed on {count} of {n_splits} splits: {reason}")
    if file in PUBLISHED:
        print(ROW.format(file, "published", f"{PUBLISHED[file]:.4g}", *"-----"))
    print(flush=True)


def figures(record, yardstick):
    """The row's figures as text."""
    mean, nodes, seconds = (np.mean(x) for x in (record.errors, record.nodes, record.seconds))
    return (
        f"{mean:.4g}",
        f"{np.std(record.errors):.3g}",
        f"{np.max(record.errors) / mean:.2f}",
        "-" if np.isnan(nodes) else f"{nodes:.1f}",
        f"{seconds:.3f}",
        f"{seconds / np.mean(yardstick):.2f}" if yardstick else "-",
    )


def warm_up():
    """Compile what compiles, for one column and for several."""
    stream = np.random.RandomState(0)
    for d in (1, 3):
        X = stream.uniform(-1, 1, (60, d))
        GreedyNetRegressor(max_nodes=5).fit(X, np.sin(3 * X).sum(axis=1))


def arguments_of(parser):
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of files")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="files, without .csv")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME",
        help=f"some of {', '.join(METHODS)}",
    )  # fmt: skip
    parser.add_argument(
        "--max-nodes", type=int, default=50, help="of all but the mlps, whose width is their name"
    )
    arguments = parser.parse_args()
    files = {path.stem: path for path in sorted(arguments.data.glob("*.csv"))}
    names = arguments.only or list(files)
    if not files or not set(names) <= set(files):
        parser.error(f"{arguments.data} has the files {sorted(files)}, not {names or 'any'}")
    return arguments, {name: files[name] for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments, files = arguments_of(parser)
    methods = available(arguments.methods)
    warm_up()
    titles = ("rmse", "std", "worst/mean", "nodes", "seconds", f"/ {YARDSTICK}")
    print(f"{arguments.splits} splits, at most {arguments.max_nodes} nodes")
    print(ROW.format("file", "method", *titles))
    for name, path in files.items():
        X, y = read(path)
        print_rows(name, run(X, y, methods, arguments.splits, arguments.max_nodes))


if __name__ == "__main__":
    main()
