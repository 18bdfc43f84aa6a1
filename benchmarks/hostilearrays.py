"""Arrays and parameters at the edge of the possible: `draw(seed)` makes a fit, `verdict` tries it.

Promised is that a fit either raises a ValueError or TypeError that names an argument, or gives a
model whose predictions are finite, for the rows of the fit and for others; and that no warning
escapes except those of the library. Every seed is one combination of inputs, outputs, weights and
parameters, of up to 30 rows and 5 columns; most have one or two things about them that are extreme.
"""

import re
from dataclasses import dataclass, field

import numpy as np
from promises import BrokenPromiseError, no_other_warnings

from greedynet import GreedyNetClassifier, GreedyNetRegressor, load
from greedynet.losses import Quantile
from greedynet.search import Dictionary

REFUSED, ANSWERED = "refused", "answered"
MOST_ROWS, MOST_COLUMNS = 30, 4


@dataclass
class Attempt:
    """A fit: the estimator, the arguments of `fit`, and inputs for which to predict."""

    model: object
    arguments: dict = field(repr=False)
    new: list = field(repr=False)


# Numbers


def _powers(rng, shape, most):
    return rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.integers(-most, most, shape)


NUMBERS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "few values": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "binary": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "constant": lambda rng, shape: np.full(shape, rng.choice([0.0, 1.0, -7e9, 1e300, 1e-310])),
    "nearly constant": lambda rng, shape: 1e9 + rng.choice([0.0, 1e-6], shape, p=[0.9, 0.1]),
    "offset": lambda rng, shape: rng.normal(size=shape) + rng.choice([1e6, 1e12, -1e15]),
    "huge": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(100, 307),
    "tiny": lambda rng, shape: rng.normal(size=shape) * 10.0 ** float(rng.integers(-320, -100)),
    "largest": lambda rng, shape: np.clip(3 * rng.normal(size=shape), -1, 1) * 1.7e308,
    "all scales": lambda rng, shape: _powers(rng, shape, 300),
    "some scales": lambda rng, shape: _powers(rng, shape, 30),
    "heavy tails": lambda rng, shape: rng.standard_cauchy(shape) ** 3,
    "one outlier": lambda rng, shape: np.where(
        np.arange(np.prod(shape)).reshape(shape) == 0, 1e250, rng.normal(size=shape)
    ),
    "denormal": lambda rng, shape: rng.integers(0, 5, shape) * 5e-324,
    "zeros": lambda rng, shape: np.zeros(shape),
}
USUAL = ["normal", "uniform", "few values", "binary"]


def _numbers(rng, shape):
    usual = rng.random() < 0.6
    return NUMBERS[rng.choice(USUAL if usual else list(NUMBERS))](rng, shape)


def _inputs(rng, n):
    columns = [_numbers(rng, n) for _ in range(rng.integers(1, MOST_COLUMNS + 1))]
    if rng.random() < 0.1:
        columns.append(columns[0].copy())
    X = np.column_stack(columns)
    if rng.random() < 0.2:
        X = X[rng.integers(0, max(1, n // 3), n)]  # many equal rows
    return X


def _outputs(rng, n, X):
    kind = rng.random()
    if kind < 0.3:
        with np.errstate(all="ignore"):
            y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=n)
        return np.where(np.isfinite(y), y, 0.0)
    return _numbers(rng, n) if kind < 0.85 else np.column_stack([_numbers(rng, n) for _ in "ab"])


def _labels(rng, n, X):
    n_classes = int(rng.choice([1, 2, 2, 2, 3, 3, 5, 12], p=[0.02, *[0.14] * 7]))
    rank = np.argsort(np.argsort(X[:, 0] + 0.0)) if rng.random() < 0.5 else rng.permutation(n)
    codes = rank * n_classes // n
    if rng.random() < 0.2:
        codes = np.where(rng.random(n) < 0.9, 0, codes)
    names = [
        np.arange(n_classes),
        np.arange(n_classes) * rng.choice([1.0, 2.0**40, 1e300], p=[0.6, 0.3, 0.1]),
        np.array([f"class {i}" for i in range(n_classes)]),
        np.array(["a" * i for i in range(n_classes)], dtype=object),
        -np.arange(n_classes).astype(np.int8),
    ]
    return names[rng.integers(len(names))][codes]


def _weights(rng, n):
    kind = rng.choice(["none"] * 6 + ["ones", "counts", "all scales", "uniform", "one", "bad"])
    return {
        "none": lambda: None,
        "ones": lambda: np.ones(n),
        "counts": lambda: rng.integers(0, 4, n),
        "all scales": lambda: 10.0 ** rng.integers(-300, 300, n),
        "uniform": lambda: rng.random(n) * 10.0 ** rng.integers(-300, 300),
        "one": lambda: np.where(np.arange(n) == 0, 1.0, rng.choice([0.0, 1e-200])),
        "bad": lambda: [-np.ones(n), np.zeros(n), np.ones(n + 1), np.full(n, np.nan), "x"][
            rng.integers(5)
        ],
    }[kind]()


# What is not a matrix of finite numbers


def _spoiled(rng, array):
    """Return an array that should be refused, or is an unusual form of a good one."""
    array = np.atleast_1d(array)
    kind = rng.integers(12)
    if kind == 0:
        return array.tolist()
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return array.astype(rng.choice([np.float32, np.float16, np.longdouble]))
    if kind == 3 and array.dtype.kind == "f":
        spoiled = np.array(array)
        spoiled.flat[rng.integers(array.size)] = rng.choice([np.nan, np.inf, -np.inf])
        return spoiled
    if kind == 4:
        spoiled = array.astype(object)
        spoiled.flat[rng.integers(array.size)] = [10**400, "x", None, [1, 2], 1 + 2j][
            rng.integers(5)
        ]
        return spoiled
    if kind == 5:
        return np.ma.masked_array(array, mask=rng.random(array.shape) < 0.1)
    if kind == 6:
        return array[:0]
    if kind == 7:
        return array[..., None]
    if kind == 8:
        return array.astype(complex) if array.dtype.kind == "f" else array[0]
    if kind == 9:
        return array.astype("datetime64[s]") if array.dtype.kind == "i" else array.ravel()
    if kind == 10:
        return [3, None, "text", {}, object()][rng.integers(5)]
    return array.astype(object)


# Parameters


def _dictionaries():
    """Return dictionaries with one parameter changed."""
    changed = {
        "n_points": [1, 50],
        "min_active": [1, 10**9],
        "memory_budget": [1, 1e300],
        "rule": ["oga"],
        "reduction": ["ridgelet"],
    }
    return [Dictionary(**{name: value}) for name, values in changed.items() for value in values]


QUANTILES = [Quantile(0.9), Quantile(1e-12)]
COMMON = {
    "n_nodes": [1, 2, 3, 5, 1000],
    "max_nodes": [1, 2, 4],
    "hidden_layers": [2, "auto"],
    "select": ["1se", "last", 0, 0.05, 1e300],
    "cv": [2, 3, 50],
    "extrapolate": [True],
    "max_seconds": [1e-9, 1e300],
    "search": ["dictionary", *_dictionaries()],
    "correct": [False],
    "alpha": [0, 0.1, 1e-300, 1e300],
    "activation": ["relu2", "relu3", "tanh", "gelu", "sin", "gaussian", "leaky_relu"],
    "random_state": [7, 2**32 - 1],
}
OF_NUMBERS = {
    "tol": [0, 0.5, 1e300],
    "loss": ["absolute_error", "huber", "chebyshev", "quantile", 1.5, 1.0001, 50.0, *QUANTILES],
}
OF_CLASSES = {"class_weight": ["balanced", {0: 1.0, 1: 1e300}, {0: 0.0}, {"class 1": 2.0}, {}]}
BAD = [None, -1, 0, 1.5, 10**400, -(10**400), float("nan"), float("inf"), "x", [], {}, True, b"x"]


def _parameters(rng, table):
    found = {"max_nodes": int(rng.integers(3, 8)), "n_jobs": 1}
    for name in rng.permutation(list(table))[: rng.integers(0, 4)]:
        values = table[name]
        found[str(name)] = values[rng.integers(len(values))]
    if found.get("n_nodes") is not None:
        found["max_nodes"] = None
    if rng.random() < 0.08:
        found[str(rng.choice(list(table)))] = BAD[rng.integers(len(BAD))]
    return found


def draw(seed):
    """Return the attempt of a seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, MOST_ROWS + 1)) if rng.random() < 0.5 else int(rng.integers(8, 14))
    classes = bool(rng.random() < 0.35)
    X = _inputs(rng, n)
    y = _labels(rng, n, X) if classes else _outputs(rng, n, X)
    arguments = {"X": X, "y": y, "sample_weight": _weights(rng, n)}
    if rng.random() < 0.1:
        arguments |= {"X_val": X[::2], "y_val": y[::2]}
    if rng.random() < 0.05:
        arguments["groups"] = rng.integers(0, 4, n)
    if rng.random() < 0.12:
        which = str(rng.choice([name for name in arguments if arguments[name] is not None]))
        arguments[which] = _spoiled(rng, arguments[which])
    kind = GreedyNetClassifier if classes else GreedyNetRegressor
    table = COMMON | (OF_CLASSES if classes else OF_NUMBERS)
    with np.errstate(all="ignore"):
        beyond = np.nan_to_num(X * 10.0 ** rng.integers(0, 300))
    new = [X, rng.normal(size=X.shape), beyond]
    if rng.random() < 0.05:
        new.append(_spoiled(rng, X))
    return Attempt(kind(**_parameters(rng, table)), arguments, new)


# What becomes of it


# An argument in backticks, or as scikit-learn writes it.
NAMED = re.compile(
    r"`\w+[`=]|'\w+' parameter of|\b([Xy]|[Xy]_val|(sample|class)_weight|n_samples)\b"
)


def verdict(attempt, path):
    """Fit and predict; return what came of it, or raise what is wrong."""
    with no_other_warnings():
        model = _or_named(lambda: attempt.model.fit(**attempt.arguments))
        if model is None:
            return REFUSED
        for X in attempt.new:
            _or_named(lambda X=X: _use(model, X))
        # The rows that were learned from have predictions, whatever else.
        X = attempt.arguments["X"]
        wanted = _or_named(lambda: model.predict(X))
        if wanted is None:
            raise BrokenPromiseError("the rows of the fit have no predictions")
        if wanted is not None and _or_named(lambda: model.save(path) or True):
            np.testing.assert_array_equal(load(path).predict(X), wanted)
    return ANSWERED


def _or_named(call):
    """Return what the call returns; None if it raises an error that names an argument."""
    try:
        return call()
    except (TypeError, ValueError, FileNotFoundError) as error:
        if NAMED.search(str(error)) and not isinstance(error, np.linalg.LinAlgError):
            return None
        raise


def _use(model, X):
    """Return the predictions, which must be finite numbers or known classes."""
    found = model.predict(X)
    if isinstance(model, GreedyNetClassifier):
        p = model.predict_proba(X)
        if not np.isfinite(p).all() or np.abs(p.sum(axis=1) - 1).max(initial=0) > 1e-9:
            raise BrokenPromiseError("probabilities do not add up to 1")
        if model.sets_ is not None:
            model.predict_set(X)
    else:
        if not np.isfinite(found).all():
            raise BrokenPromiseError("predictions are not finite")
        if model.intervals_ is not None:
            low, high = model.predict_interval(X)
            if not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
                raise BrokenPromiseError("intervals are not finite")
    model.outside(X)
    return found
