"""Checkpoints: killed fits come to the same network, and what writing the file costs.

    python benchmarks/checkpoints.py [--kills 40] [--seed 0] [--fits default,classes]
    python benchmarks/checkpoints.py --cost [--repeats 2]

Runs about twenty kinds of fits, each in processes of its own that are killed with SIGKILL at random
moments, `--kills` times in all, and begun again until one of them ends. Network, path, candidates
and expected error must be the same to the last bit as those of a fit that nobody kills. Prints for
each kind its seconds, the number of kills, how often a checkpoint was found, and the fits that
ended with other bits; the exit code is 1 if there are any.

`--cost` prints instead, for larger fits on one thread: the seconds, the processor time with a
checkpoint over that without (the best of `--repeats` each, in turn), the share of the time that
went into writing, how often the file was written, and its size at the last write.
"""

import argparse
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scaling import problem

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators import checkpoint
from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.search import Dictionary

OFTEN = CheckpointSettings(seconds=0.01, pause=0.0)


# Fits: a checkpoint -> a fitted model


@cache
def data(n_rows):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n_rows)


def regression(n_rows=150, validated=False, in_blocks=False, **parameters):
    def fit(file):
        X, y = data(n_rows)
        model = GreedyNetRegressor(**{"n_jobs": 1, "max_nodes": 10, **parameters})
        with greedynet.checkpoint(file):
            if validated:
                return model.fit(X[50:], y[50:], X_val=X[:50], y_val=y[:50])
            if in_blocks:
                return model.fit([(X[i::3], y[i::3]) for i in range(3)])
            return model.fit(X, y)

    return fit


def classification(n_rows=100, **parameters):
    def fit(file):
        X, y = data(n_rows)
        model = GreedyNetClassifier(**{"n_jobs": 1, "max_nodes": 5, **parameters})
        with greedynet.checkpoint(file):
            return model.fit(X, np.digitize(y, [-0.5, 0.5]))

    return fit


FITS = {
    "default": regression(),
    "in threads": regression(n_jobs=2),
    "n_nodes": regression(n_nodes=8),
    "X_val": regression(validated=True),
    "folds": regression(cv=3),
    "1se": regression(select="1se"),
    "last": regression(select="last"),
    "averages": regression(n_networks=3),
    "two layers": regression(hidden_layers=2, max_nodes=16),
    "one or two layers": regression(hidden_layers="auto", max_nodes=16),
    "monotone": regression(monotonic_cst=[1, 0, 0], max_nodes=6),
    "absolute_error": regression(loss="absolute_error", max_nodes=6),
    "chebyshev": regression(loss="chebyshev", max_nodes=5),
    "tanh": regression(activation="tanh", max_nodes=6),
    "as grown": regression(correct=False, max_nodes=20),
    "absolute as grown": regression(loss="absolute_error", correct=False, max_nodes=8),
    "dictionary": regression(search=Dictionary(n_points=1_000), max_nodes=15),
    "many rows": regression(20_000, max_nodes=8),
    "blocks": regression(20_000, in_blocks=True, max_nodes=8),
    "classes": classification(),
    "classes as grown": classification(correct=False),
    "classes, two layers": classification(hidden_layers=2, max_nodes=12, alpha=1e-2),
}


def numbers(thing):
    """Yield all numbers and texts in an object, in its order, except times."""
    if isinstance(thing, np.ndarray):
        yield np.ascontiguousarray(thing).tobytes()
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from numbers(part)
    elif is_dataclass(thing):
        for field in fields(thing):
            if field.name != "seconds":
                yield from numbers(getattr(thing, field.name))
    else:
        yield repr(thing).encode()


def bits(model):
    """Return a digest of network, path, candidates and expected error."""
    found = hashlib.sha256()
    for part in numbers([model.network_, model.path_, model.ladder_, model.expected_error_]):
        found.update(part)
    return found.hexdigest()


# Kills


@cache
def undisturbed(name, settings):
    """Return the bits and the seconds of a fit that nobody kills; compiled code is loaded."""
    with settings_context(settings):
        FITS[name](None)
        start = time.perf_counter()
        return bits(FITS[name](None)), time.perf_counter() - start


def fitted_in_process(name, file, settings, kill_after=None):
    """Fit in a process of its own; return its bits, or None if it was killed before the end."""
    reading, writing = os.pipe()
    pid = os.fork()  # compiled code is loaded already
    if pid == 0:
        status = 1
        try:
            with settings_context(settings):
                os.write(writing, bits(FITS[name](file)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(reading) as pipe:
        found = pipe.read()
    os.waitpid(pid, 0)
    return found or None


def killed_and_resumed(name, folder, chance, n_kills, settings):
    """Kill a fit some times and let it end; return kills, checkpoints found, and if it is the same.

    Parameters
    ----------
    name : str
    folder : Path
        Empty, for the checkpoint.
    chance : random.Random
        Draws the moments.
    n_kills : int
        A fit that ends before it is killed ends the attempt.
    settings : EstimatorSettings
        Of all fits, except when they write.
    """
    wanted, seconds = undisturbed(name, settings)
    often = EstimatorSettings(fit=settings.fit, checkpoint=OFTEN)
    file, found, n_done, n_resumed = folder / "checkpoint", None, 0, 0
    while found is None and n_done < n_kills:
        n_resumed += file.exists()
        found = fitted_in_process(name, file, often, kill_after=chance.uniform(0, 1.2 * seconds))
        n_done += found is None
    if found is None:
        n_resumed += file.exists()
        found = fitted_in_process(name, file, often)
    if list(folder.iterdir()):
        raise AssertionError(f"{name}: {list(folder.iterdir())} are left")
    return n_done, n_resumed, found == wanted


def kills(names, n_kills, seed):
    """Kill fits of all kinds in turn, print what became of them; return the number of faults."""
    chance, settings = random.Random(seed), EstimatorSettings()
    found = {name: [0, 0, 0] for name in names}
    n_done = 0
    while n_done < n_kills:
        for name in names:
            if n_done >= n_kills:
                break
            with tempfile.TemporaryDirectory() as folder:
                wanted = min(chance.choice([1, 2, 3]), n_kills - n_done)
                killed, resumed, same = killed_and_resumed(
                    name, Path(folder), chance, wanted, settings
                )
            n_done += killed
            more = [killed, resumed, not same]
            found[name] = [a + b for a, b in zip(found[name], more, strict=True)]
    print(f"{'fit':20} seconds  kills  resumed  other bits")
    for name, (killed, resumed, other) in found.items():
        if killed or other:
            seconds = undisturbed(name, settings)[1]
            print(f"{name:20} {seconds:7.2f} {killed:6} {resumed:8} {other:11}", flush=True)
    return sum(other for *_, other in found.values())


# Cost


def noted(file, model, X, y):
    with greedynet.checkpoint(file):
        return model.fit(X, y)


def large_regression(n, **parameters):
    X, y = problem(n, 10, seed=0)
    return lambda file: noted(file, GreedyNetRegressor(n_jobs=1, **parameters), X, y)


def large_classification(**parameters):
    X, y = problem(4_000, 10, seed=0)
    labels = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
    return lambda file: noted(file, GreedyNetClassifier(n_jobs=1, **parameters), X, labels)


LARGE_FITS = {
    "corrected": lambda: large_regression(6_000, max_nodes=120),
    "sampled": lambda: large_regression(100_000, max_nodes=120),
    "dictionary": lambda: large_regression(
        2_000, search=Dictionary(n_points=20_000), max_nodes=100
    ),
    "absolute_error": lambda: large_regression(4_000, loss="absolute_error", max_nodes=60),
    "classes": lambda: large_classification(max_nodes=40),
}


def cost(fit, repeats, folder):
    """Return what a checkpoint costs, as a line."""
    sizes, writing, write = [], [], checkpoint.write_tree

    def measured(path, *rest):
        start = time.perf_counter()
        write(path, *rest)
        writing.append(time.perf_counter() - start)
        sizes.append(path.stat().st_size)

    checkpoint.write_tree = measured
    seconds, began = [[], []], time.perf_counter()
    for _ in range(repeats):
        for which, file in enumerate((None, folder / "c")):
            start = time.process_time()
            fit(file)
            seconds[which].append(time.process_time() - start)
    share = 2 * sum(writing) / (time.perf_counter() - began)
    checkpoint.write_tree = write
    plain, noted = map(min, seconds)
    return (
        f"{plain:7.1f} {noted / plain:6.2f} {100 * share:6.1f} % {len(sizes) // repeats:7} "
        f"{max(sizes, default=0) / 1e6:6.2f} MB"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fits", help="names of fits, separated by commas")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    known = LARGE_FITS if arguments.cost else FITS
    names = list(known) if arguments.fits is None else arguments.fits.split(",")
    if not arguments.cost:
        sys.exit(kills(names, arguments.kills, arguments.seed) > 0)
    print("fit          seconds  ratio  writing  writes      size")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            line = cost(LARGE_FITS[name](), arguments.repeats, Path(folder))
            print(f"{name:12} {line}", flush=True)


if __name__ == "__main__":
    main()
