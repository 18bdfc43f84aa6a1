"""Cases of `fingerprints.py`: fits in memory, and what all cases share.

A case is a function that returns parts, arrays and texts by name; `CASES` has all of them.
"""

import hashlib
import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, ShuffleSplit

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.losses import Fit, Huber, Quantile
from greedynet.paper import GreedyShallowNetwork, load_example
from greedynet.search import Dictionary

CASES = {}
WEIGHTS = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept", "input_range")
PATH = ("indices", "n_nodes", "training_errors", "held_out_errors")
FINISHED = ("best_n_nodes", "kept_error")


def case(name):
    """Enter a function that returns parts into the table."""

    def enter(function):
        assert name not in CASES, name
        CASES[name] = function
        return function

    return enter


def fitting(name, **how):
    """Enter a fit into the table."""
    case(name)(partial(fitted, **how))


def fitted(kind, X, y=None, weight=None, *, new=None, told=None, **parameters):
    """Fit and return the parts; `told` are more arguments of `fit`, `new` rows to predict."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = (X, y) if weight is None else (X, y, weight)
        model = kind(**parameters).fit(*rows, **(told or {}))
    fewer = [str(w.message) for w in caught if w.category is greedynet.FewerNodesWarning]
    return parts_of(model, X if new is None else new) | {"warnings": "\n".join(fewer)}


def trained(told, **parameters):
    """Fit, train the network on, and return the parts and the warnings of the fit."""
    from greedynet.train import train

    start = GreedyNetRegressor(**parameters).fit(X, NOISY, **told)
    return parts_of(train(start, X, NOISY, **told, epochs=40), X) | {"warnings": ""}


def parts_of(model, X):
    """All that a fitted model came to, but for the seconds it took."""
    rows, path, network = X[:: max(1, len(X) // 20)][:20], model.path_, model.network_
    widths = [path.network_at(int(n)).predict(np.asarray(rows)) for n in path.n_nodes]
    parts = {name: getattr(network, name) for name in WEIGHTS}
    parts |= {f"grown: {name}": getattr(path.network, name) for name in WEIGHTS}
    parts |= {f"path: {name}": getattr(path, name) for name in (*PATH, *FINISHED)}
    parts |= {"widths": np.stack(widths), "describe": network.describe()}
    parts |= {"n_nodes": str(model.n_nodes_), "stop": model.stop_reason_.name}
    parts |= {"names": str(network.feature_names)}
    if getattr(model, "training_", None) is not None:
        parts["losses"] = model.training_.loss_history
    if not hasattr(model, "classes_"):
        return parts | {"predictions": model.predict(rows)}
    parts |= {"classes": model.classes_, "labels": model.predict(rows)}
    parts |= {"logits": model.decision_function(rows), "logs": model.predict_log_proba(rows)}
    return parts | {"predictions": model.predict_proba(rows)}


def joined(cases):
    """The parts of several fits as those of one case."""
    return {f"{name}: {part}": v for name, parts in cases.items() for part, v in parts.items()}


def digest(part):
    """The first 16 digits of a digest of an array, a text, or anything that shows itself."""
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        head, data = f"{part.dtype.str} {part.shape}", np.ascontiguousarray(part).tobytes()
    else:
        head, data = type(part).__name__, repr(part).encode()
    return hashlib.sha256(head.encode() + data).hexdigest()[:16]


# Data


def problem(n, d, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    y = np.sin(3 * X[:, 0]) + np.abs(X[:, -1] - 0.2) + X[:, 0] * X[:, d // 2]
    return {"X": X, "y": y + noise * rng.standard_normal(n)}


X, CLEAN = problem(300, 3).values()
NOISY = problem(300, 3, noise=0.3)["y"]
HELD = {f"{name}_val": values for name, values in problem(120, 3, 0.3, seed=1).items()}
TWO = np.column_stack([CLEAN, NOISY**2])
ROW_WEIGHTS = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], 300)
FRAME = pd.DataFrame(X, columns=["size", "age", "distance"])
PAIR, TRIPLE = (NOISY > 0.5).astype(int), np.digitize(NOISY, [0.0, 1.0])
TEXT = np.array(["low", "middle", "top"])[TRIPLE]
HELD_CLASSES = HELD | {"y_val": np.digitize(HELD["y_val"], [0.0, 1.0])}
MANY, OF_MANY = problem(40_000, 3, noise=0.3, seed=3).values()
BANDS = np.array(["far", "near", "rare"])[np.digitize(OF_MANY, [0.5, 2.4])]
DOUBLE = [*range(200), *range(100), *range(50)]
LINE = np.linspace(-1, 1, 200)[:, None]
POINTS = np.random.default_rng(4).standard_normal((60, 4))
PLANTED = np.maximum(X @ POINTS[:3, :3].T + POINTS[:3, 3], 0).sum(axis=1)
PAPER = {"kind": GreedyShallowNetwork, "points": load_example(1).sphere, "max_nodes": 12}
PAPER |= {"X": load_example(1).X_train, "y": load_example(1).y_train}
regression = partial(fitting, kind=GreedyNetRegressor, X=X, y=NOISY)
classification = partial(fitting, kind=GreedyNetClassifier, X=X, y=TRIPLE, max_nodes=8)


def dictionary(name, *, max_nodes=16, **how):
    """Enter a fit with a dictionary; some of the parameters are its own."""
    own = {k: how.pop(k) for k in Dictionary().get_params() if k in how}
    regression(name, search=Dictionary(**own), max_nodes=max_nodes, **how)


# Objects of a user's own, as in docs/extending.md


class Softsign:
    name, scales = "softsign", (1.0, 2.0, 4.0, 8.0, 16.0)
    calls_left = float("inf")  # of the class: it is not what a fit is asked for

    def value(self, z):
        Softsign.calls_left -= 1
        if Softsign.calls_left == 0:
            raise KeyboardInterrupt
        return z / (1 + np.abs(z))

    def slope(self, z):
        return 1 / (1 + np.abs(z)) ** 2


class Bent:
    name, degree = "bent", 1

    def value(self, z):
        return np.maximum(z, 0.2 * z)

    def slope(self, z):
        return np.where(z > 0, 1.0, 0.2)


@dataclass(frozen=True)
class Expectile:
    share: float
    name: str = "expectile"
    arguments: dict = field(default_factory=dict)

    def row_weights(self, misses, weights):
        sides = np.where(misses > 0, self.share, 1 - self.share)
        return sides if weights is None else sides * weights[:, None]

    def size(self, misses, weights):
        return float(np.sqrt(np.sum(self.row_weights(misses, weights) * misses**2)))

    def fit(self, columns, Y, weights, start=None):
        found, misses = np.zeros((columns.shape[1], Y.shape[1])), Y
        for _ in range(50):
            v = self.row_weights(misses, weights)
            for j, root in enumerate(np.sqrt(v).T):
                found[:, j] = np.linalg.lstsq(root[:, None] * columns, root * Y[:, j])[0]
            misses = Y - columns @ found
        return Fit(found, misses, v * misses / (self.size(misses, weights) or 1.0))


# Numbers: the data

regression("noisy")
regression("clean", y=CLEAN)
regression("one input, clean", X=LINE, y=np.cos(9 * LINE[:, 0]) * np.exp(LINE[:, 0]))
regression("one input, noisy", X=X[:, :1])
regression("eight inputs", **problem(500, 8, 0.2))
regression("two outputs", y=TWO, max_nodes=16)
regression("one output in a column", y=NOISY[:, None], max_nodes=12)
regression("weights", weight=ROW_WEIGHTS)
regression("averaged", max_nodes=30, **problem(900, 3, 1.0))
regression("duplicate rows", X=X[DOUBLE], y=NOISY[DOUBLE], weight=ROW_WEIGHTS[DOUBLE])
regression("float32", X=X.astype(np.float32), max_nodes=16)
regression("constant columns", X=np.insert(X, [0, 3], [7.0, 0.0], axis=1), max_nodes=16)
regression("other units", X=X * [1e-6, 1, 1e5] + [0, 50, 1e6], y=1e4 + 1e3 * NOISY)
regression("whole numbers", X=np.round(5 * X).astype(int), max_nodes=16)
regression("constant target", y=np.full(300, 3.5))
regression("tiny", X=X[:20], y=CLEAN[:20])
regression("two rows", X=X[:2], y=NOISY[:2])
regression("more columns than rows", X=problem(25, 40)["X"], y=NOISY[:25])
regression("frame", X=FRAME, max_nodes=12)
regression("a share held out", max_nodes=8, **problem(11_000, 1, 0.2))

# Numbers: the parameters

regression("n_nodes", n_nodes=9)
regression("n_nodes, noisy", n_nodes=24)
regression("n_nodes, few rows", X=X[:6], y=NOISY[:6], n_nodes=20)
regression("as grown", correct=False)
regression("cv", cv=5)
regression("cv, as grown", cv=KFold(4, shuffle=True, random_state=1), correct=False)
regression("cv, pairs", cv=[*KFold(3).split(X)], max_nodes=12)
regression("held out", cv=ShuffleSplit(1, test_size=0.25, random_state=0))
regression("every node", select="last", max_nodes=12)
regression("validation", told=HELD)
regression("validation, weights", told=HELD | {"sample_weight_val": ROW_WEIGHTS[:120]})
regression("tol", y=CLEAN, tol=0.1, select="last")
regression("alpha", alpha=1e-2, max_nodes=16)
regression("alpha, as grown", alpha=1e-2, correct=False)
regression("random_state", random_state=7)
regression("n_jobs=1", n_jobs=1, max_nodes=30)
regression("n_jobs=2", n_jobs=2, max_nodes=30)
for name, held in (("refine", {}), ("refine, validation", HELD)):
    case(name)(partial(trained, told=held, max_nodes=8))

# Dictionaries

dictionary("dictionary, n_points", n_points=800)
dictionary("dictionary, min_active", min_active=40)
dictionary("dictionary, points", points=POINTS)
dictionary("dictionary, exact", y=PLANTED, points=POINTS, tol=0)
dictionary("dictionary, exhausted", points=np.eye(4)[:3], n_nodes=9, max_nodes=None)
fitting("dictionary, paper", **PAPER)
dictionary("dictionary, oga", n_points=800, rule="oga")
dictionary("dictionary, small memory", n_points=3000, memory_budget=300_000)
fitting("dictionary, ridgelet", reduction=0.001, **PAPER)
dictionary("dictionary, ridgelet, two inputs", X=X[:, :2], n_points=800, reduction=0.05)
dictionary("dictionary, float32", X=X.astype(np.float32), n_points=800)
dictionary("dictionary, two outputs", y=TWO, n_points=800, weight=ROW_WEIGHTS)
dictionary("dictionary, cv", n_points=400, cv=3)
dictionary("dictionary, tanh", n_points=800, activation="tanh", told=HELD)

# Activations and losses

ACTIVATIONS = ("relu", "relu2", "relu3", "leaky_relu", "abs", "tanh", "sigmoid", "gelu")
ACTIVATIONS += ("softplus", "sin", "gaussian")
for name in ACTIVATIONS:
    regression(f"activation {name}", activation=name, max_nodes=9)
for name in ("relu2", "leaky_relu", "abs", "tanh", "gelu", "sin"):
    classification(f"activation {name}, classes", activation=name, max_nodes=6)
regression("own activation", activation=Softsign(), max_nodes=8)
regression("own activation, homogeneous", activation=Bent(), max_nodes=8)
classification("own activation, classes", activation=Bent(), max_nodes=6)
regression("own loss", loss=Expectile(0.9), max_nodes=10)
regression("loss as an object", loss=Huber(), max_nodes=10)

LOSSES = {name: {"loss": name} for name in ("absolute_error", "huber", "chebyshev", 1.5, 2.0, 3.0)}
LOSSES |= {f"quantile {q}": {"loss": Quantile(q)} for q in (0.1, 0.5, 0.9)}
WAYS = {
    "corrected": {},
    "as grown": {"correct": False},
    "weights": {"weight": ROW_WEIGHTS},
    "validation": {"told": HELD},
    "held out": {"cv": ShuffleSplit(1, test_size=0.3, random_state=0)},
    "two outputs": {"y": TWO},
    "cv": {"cv": 3},
    "n_nodes": {"n_nodes": 7},
    "dictionary": {"search": Dictionary(n_points=400)},
    "tanh": {"activation": "tanh", "max_nodes": 5},
}


def every_loss(**way):
    how = {"kind": GreedyNetRegressor, "X": X, "y": NOISY, "max_nodes": 8, **way}
    return joined({name: fitted(**how, **loss) for name, loss in LOSSES.items()})


for name, way in WAYS.items():
    case(f"every loss, {name}")(partial(every_loss, **way))

# Classes

classification("two classes", y=PAIR)
classification("three classes", max_nodes=None)
classification("text classes, weights", y=TEXT, weight=ROW_WEIGHTS)
classification("truth values, frame", X=FRAME, y=PAIR > 0)
classification("balanced", y=TEXT, class_weight="balanced")
classification("class_weight", y=TEXT, class_weight={"low": 3.0, "top": 0.5})
classification("classes, validation", told=HELD_CLASSES)
classification("classes, held out", cv=ShuffleSplit(1, test_size=0.3, random_state=0))
classification("classes, as grown", correct=False)
classification("classes, as grown, validation", correct=False, told=HELD_CLASSES)
classification("classes, n_nodes", n_nodes=6)
classification("classes, alpha", alpha=1e-3)
classification("classes, dictionary", search=Dictionary(n_points=400))
classification("classes, dictionary, as grown", search=Dictionary(POINTS), correct=False)
classification("rare class", y=np.isin(NOISY, np.sort(NOISY)[-8:]).astype(int))
classification("separable classes", y=(X[:, 0] > 0).astype(int))
classification("classes, tiny", X=X[:12], y=PAIR[:12])
classification("classes, n_jobs=1", n_jobs=1)
classification("classes, n_jobs=2", n_jobs=2)
