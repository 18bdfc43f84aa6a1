"""A rare class among very many rows: samples that keep its rows beside plain ones.

    python benchmarks/rareclasses.py [--rows 1000000] [--boosting]

Two classes in eight columns; the logit is `2 sin(2 x1) + 2.5 (x2 + x3 - 1)_+ - 1.5 |x4| + shift`.
Prints log-loss and average precision on as many new rows, for plain samples (as they are drawn
where no class is rare) and for those that keep rare rows, without and with
`class_weight="balanced"`; of the true probabilities; and, with `--boosting`, of scikit-learn's
HistGradientBoostingClassifier on all rows.
"""

import argparse
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, log_loss

from greedynet import GreedyNetClassifier
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.settings import FitSettings
from greedynet.rows.sampling import SamplingSettings

NODES = 30
SHIFTS = (-9.0, -6.0)


def problem(n, shift, seed):
    """Inputs, classes, and the true probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    z = 2 * np.sin(2 * X[:, 0]) + 2.5 * np.maximum(X[:, 1] + X[:, 2] - 1, 0)
    p = 1 / (1 + np.exp(1.5 * np.abs(X[:, 3]) - z - shift))
    return X, (rng.random(n) < p).astype(int), p


def show(name, y, p, seconds=None):
    took = "" if seconds is None else f"{seconds:8.1f} s"
    print(f"{name:36}{log_loss(y, p):10.5f}{average_precision_score(y, p):8.3f}{took}", flush=True)


def fitted(name, model, train, test):
    start = time.perf_counter()
    model.fit(*train)
    show(name, test[1], model.predict_proba(test[0])[:, 1], time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--boosting", action="store_true")
    options = parser.parse_args()
    keeping = SamplingSettings().rare_share
    for shift in SHIFTS:
        X, y, _ = problem(options.rows, shift, seed=1)
        T, t, truth = problem(options.rows, shift, seed=2)
        print(
            f"{options.rows:,} rows, {y.mean():.2%} of the rare class: log-loss, average precision"
        )
        for how in (None, "balanced"):
            for name, rare in (("plain sample", 0.0), ("rare rows kept", keeping)):
                sampling = FitSettings(sampling=SamplingSettings(rare_share=rare))
                model = GreedyNetClassifier(max_nodes=NODES, class_weight=how)
                with settings_context(EstimatorSettings(fit=sampling)):
                    fitted(name + (", balanced" if how else ""), model, (X, y), (T, t))
        if options.boosting:
            fitted("boosting, all rows", HistGradientBoostingClassifier(), (X, y), (T, t))
        show("true probabilities", t, truth)


if __name__ == "__main__":
    main()
