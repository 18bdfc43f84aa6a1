"""Classes: accuracy, log-loss, size and fit time of the defaults against what users would pick.

    pip install -e ".[bench]"
    python benchmarks/classification.py [--folds 10] [--only NAME ...]

Ten stratified folds, `StratifiedKFold(10, shuffle=True, random_state=0)`, of scikit-learn's data
and some drawn ones. Ours is `GreedyNetClassifier(max_nodes=...)` on the columns as they come,
everything else at its default. The perceptrons have as many hidden units, once on the inputs as
they come and once scaled to unit variance, the logistic regression scaled inputs; LightGBM has its
defaults. Seconds are those of the process, of one fit.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from greedynet import GreedyNetClassifier


def spirals(n=600):
    """Two arms with a little noise."""
    rng = np.random.default_rng(0)
    t, label = np.sqrt(rng.random(n)) * 3 * np.pi, rng.integers(0, 2, n)
    X = np.column_stack([t * np.cos(t + np.pi * label), t * np.sin(t + np.pi * label)]) / 5
    return X + rng.normal(0, 0.08, X.shape), label


# Name -> data and the number of nodes.
PROBLEMS = {
    "digits": (lambda: load_digits(return_X_y=True), 150),
    "breast_cancer": (lambda: load_breast_cancer(return_X_y=True), 30),
    "iris": (lambda: load_iris(return_X_y=True), 30),
    "wine": (lambda: load_wine(return_X_y=True), 30),
    "moons": (lambda: make_moons(500, noise=0.3, random_state=0), 50),
    "spirals": (spirals, 50),
    "drawn": (
        lambda: make_classification(1_000, 20, n_informative=5, flip_y=0.05, random_state=0),
        50,
    ),
}


def methods(n_nodes):
    """What is compared, by name."""
    found = {
        "greedynet": GreedyNetClassifier(max_nodes=n_nodes),
        "mlp": MLPClassifier((n_nodes,), random_state=0),
        "mlp, scaled": make_pipeline(StandardScaler(), MLPClassifier((n_nodes,), random_state=0)),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)),
    }
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return found
    return {**found, "lightgbm": LGBMClassifier(verbose=-1, n_jobs=1, random_state=0)}


def measure(model, X, y, folds):
    """Mean accuracy, log-loss, nodes and seconds over the folds."""
    records = []
    for train, test in folds:
        start = time.process_time()
        model.fit(X[train], y[train])
        seconds = time.process_time() - start
        p = model.predict_proba(X[test])
        right = np.mean(model.predict(X[test]) == y[test])
        nodes = getattr(model, "n_nodes_", np.nan)
        records.append((right, log_loss(y[test], p, labels=np.unique(y)), nodes, seconds))
    return np.mean(records, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds")
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    options = parser.parse_args()
    row = "{:14} {:14}{:>10}{:>10}{:>8}{:>9}"
    print(row.format("data", "method", "accuracy", "log-loss", "nodes", "seconds"))
    for name in options.only:
        load, n_nodes = PROBLEMS[name]
        X, y = load()
        splitter = StratifiedKFold(10, shuffle=True, random_state=0)
        folds = list(splitter.split(X, y))[: options.folds]
        for label, model in methods(n_nodes).items():
            with warnings.catch_warnings():
                if label != "greedynet":
                    warnings.simplefilter("ignore")
                accuracy, loss, nodes, seconds = measure(model, X, y, folds)
            figures = (f"{accuracy:.4f}", f"{loss:.4f}", f"{nodes:.1f}", f"{seconds:.2f}")
            print(row.format(name, label, *figures), flush=True)


if __name__ == "__main__":
    main()
