"""Classifiers to save and export: two and more classes, labels of every kind."""

from copy import copy
from functools import cache

import numpy as np

from greedynet import GreedyNetClassifier, Network

# Text that other languages could stumble over, and whole numbers to the ends of int64.
TEXT = ['no, "x"\n', "yäs ??/ \\", "%d {b} */", "日本", "zz"]
WHOLE = [-(2**63), -1, 0, 7, 2**63 - 1]

KINDS = {
    "text": np.array(TEXT),
    "objects": np.array(TEXT, dtype=object),
    "int64": np.array(WHOLE),
    "uint8": np.array([1, 2, 3, 200, 255], dtype=np.uint8),
    "float": np.array([-2.0, 0.0, 1.0, 5.0, 7.0]),
    "bool": np.array([False, True]),
}


def rows(n_rows: int = 120, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (n_rows, 2)) * [1, 10] + [0, 50]


def labels_of(X: np.ndarray, n_classes: int, kind: str) -> np.ndarray:
    """Return classes of equal size, in bands of `x1 (x2 - 50)`."""
    z = X[:, 0] * (X[:, 1] - 50)
    bands = np.digitize(z, np.quantile(z, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return np.sort(KINDS[kind])[:n_classes][bands]


@cache
def classifier(n_classes: int = 2, kind: str = "text", **parameters) -> GreedyNetClassifier:
    X = rows()
    # With a ridge that is given: choosing one takes most of a fit, and is no matter of a file.
    model = GreedyNetClassifier(**({"n_nodes": 6, "alpha": 1e-2} | parameters))
    return model.fit(X, labels_of(X, n_classes, kind))


def with_logits(weights: np.ndarray, n_classes: int) -> GreedyNetClassifier:
    """Return a classifier whose logits are `X @ weights`, exactly."""
    model = copy(classifier(n_classes))
    n_features, n_outputs = weights.shape
    model.n_features_in_ = n_features
    model.network_ = Network(
        np.zeros((0, n_features)),
        np.zeros(0),
        np.zeros((0, n_outputs)),
        linear_weights=weights,
        single_output=n_outputs == 1,
    )
    return model


def clear(model: GreedyNetClassifier, X: np.ndarray, margin: float) -> np.ndarray:
    """Whether rows are no ties: the best two probabilities differ by more than `margin`."""
    second, first = np.sort(model.predict_proba(X), axis=1)[:, -2:].T
    return first - second > margin
