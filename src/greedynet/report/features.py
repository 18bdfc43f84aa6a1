"""Importance of every column, and its effect at every stop of the slider."""

from collections.abc import Callable
from typing import Any

import numpy as np

from greedynet.activations import activate
from greedynet.model.network import Network
from greedynet.report.growth import Stops
from greedynet.report.page import limits, packed, rounded
from greedynet.report.subject import ShownClasses, Subject, SubjectRows
from greedynet.support.types import Float64
from greedynet.tables.scores import rmse
from greedynet.views.effects import effect_inputs

REPEATS = 5
MOST_EFFECTS, MOST_BARS = 12, 30
GRID = 25
# Each value of each column is evaluated on all of them, at every stop.
EFFECT_ROWS = 300


def importances(subject: Subject) -> Float64:
    """Return the permutation importance of every column, `(n_columns, REPEATS)`.

    It is the increase of the RMSE, or for classes of the log-loss, when the column is shuffled.
    """
    rows = subject.shown
    assert rows is not None
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(rows)) for _ in range(REPEATS)]
    predict = _predictor(subject.network, rows.X)
    base = _error(subject, rows, predict(rows.X, []))
    worse = np.zeros((len(subject.columns.inputs), REPEATS))
    for c, features in enumerate(subject.places()):
        for r, order in enumerate(orders):
            shuffled = rows.X.copy()
            shuffled[:, features] = rows.X[order][:, features]
            worse[c, r] = _error(subject, rows, predict(shuffled, features)) - base
    return worse


def importance_section(subject: Subject, worse: Float64) -> dict[str, Any]:
    """Return the columns in decreasing order of importance."""
    mean = worse.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    names = subject.columns.labels
    return {
        "columns": [
            {
                "name": names[c],
                "mean": rounded(float(mean[c])),
                "low": rounded(float(worse[c].min())),
                "high": rounded(float(worse[c].max())),
            }
            for c in order[:MOST_BARS]
        ],
        "left": max(0, len(order) - MOST_BARS),
        "unit": "log-loss" if subject.classes is not None else "RMSE",
        "repeats": REPEATS,
    }


def effects_section(subject: Subject, stops: Stops, worse: Float64) -> list[dict[str, Any]]:
    """Return the effects of the most important columns at every stop."""
    rows = subject.shown
    assert rows is not None
    classes, X = subject.classes is not None, rows.sample(EFFECT_ROWS).X
    inputs, order = effect_inputs(subject.columns), np.argsort(-worse.mean(axis=1), kind="stable")
    found, tables = [], []
    for c in order[:MOST_EFFECTS]:
        for part in inputs[c]:
            values = part.values(rows.X, GRID)
            at = {"x": rounded(values)} if part.labels is None else {"levels": list(part.labels)}
            effect = stops.effects(X, part.at, values, classes=classes)
            tables.append(_displayed(subject, effect))
            found.append({"name": part.name, **at})
    kept = [table[stops.kept] for table in tables]
    pack, axis = ((0.0, 1.0),) * 2 if classes else (limits(*kept, margin=m) for m in (0.5, 0.1))
    for part, table in zip(found, tables, strict=True):
        part["values"] = packed(table, *pack, bits=8 if classes else 16)
        part["y"] = rounded(axis)
    return found


def _displayed(subject: Subject, effect: Float64) -> Float64:
    """Return the part of an effect that the page shows: the classes, or one output."""
    if subject.classes is not None:
        return ShownClasses.of(subject).merged(effect)
    return effect[:, :, subject.output : subject.output + 1]


def _predictor(network: Network, X: Float64) -> Callable[[Float64, list[int]], Float64]:
    """Return a function of rows that differ from `X` in some features only, and of these."""
    inner, before = network.inner_weights, network.neuron_inputs(X)
    sums = before @ inner.T + network.biases

    def predict(rows: Float64, features: list[int]) -> Float64:
        after, at = network.neuron_inputs(rows), np.isin(network.lifted_from, features)
        moved = sums + (after[:, at] - before[:, at]) @ inner[:, at].T
        hidden = np.asarray(activate(network.activation, moved), dtype=np.float64)
        outputs = network.with_affine_term(hidden @ network.outer_weights, after)
        return network.outputs(outputs).reshape(len(rows), -1)

    return predict


def _error(subject: Subject, rows: SubjectRows, outputs: Float64) -> float:
    values = subject.values(outputs)
    if subject.classes is None:
        return rmse(values[:, 0] - rows.y)
    likely = values[np.arange(len(rows)), subject.class_index(rows.y)]
    return float(-np.mean(np.log(np.maximum(likely, np.finfo(np.float64).tiny))))
