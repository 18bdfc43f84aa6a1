"""The sections of the page: the table of them, and the data that their scripts draw.

A section is an entry of `SECTIONS`, and a script `web/<name>.js` whose function `<name>Section`
fills the element of the section from `data.<name>`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from greedynet.report.growth import Stops, growth_section, picture_section, row_scores
from greedynet.report.neurons import columns_section, neurons_section
from greedynet.report.page import Section, limits, packed, rounded
from greedynet.report.subject import ShownClasses, Subject, SubjectRows, row_label
from greedynet.support.types import Float64
from greedynet.tables.scores import rmse
from greedynet.views.effects import effect_inputs

REPEATS = 5
MOST_EFFECTS, MOST_BARS = 12, 30
GRID, _BINS = 25, 10
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
    base = _error(subject, rows)
    worse = np.zeros((len(subject.columns.inputs), REPEATS))
    for c, features in enumerate(subject.places()):
        for r, order in enumerate(orders):
            shuffled = rows.X.copy()
            shuffled[:, features] = rows.X[order][:, features]
            worse[c, r] = _error(subject, replace(rows, X=shuffled)) - base
    return worse


def importance_section(content: "Content") -> dict[str, Any] | None:
    """Return the columns in decreasing order of importance; None without rows."""
    if content.subject.shown is None:
        return None
    mean = content.importances.mean(axis=1)
    order, names = np.argsort(-mean, kind="stable"), content.subject.columns.labels
    return {
        "columns": [{"name": names[c], "mean": rounded(float(mean[c]))} for c in order[:MOST_BARS]],
        "left": max(0, len(order) - MOST_BARS),
        "unit": "log-loss" if content.subject.classes is not None else "RMSE",
        "repeats": REPEATS,
    }


def effects_section(content: "Content") -> list[dict[str, Any]]:
    """Return the effects of the most important columns at every stop."""
    subject, stops, rows = content.subject, content.stops, content.subject.shown
    assert rows is not None
    classes, X = subject.classes is not None, rows.sample(EFFECT_ROWS).X
    order = np.argsort(-content.importances.mean(axis=1), kind="stable")
    inputs = effect_inputs(subject.columns)
    found, tables = [], []
    for c in order[:MOST_EFFECTS]:
        for part in inputs[c]:
            values = part.values(rows.X, GRID)
            at = {"x": rounded(values)} if part.labels is None else {"levels": list(part.labels)}
            effect = stops.effects(X, part.at, values, classes=classes)
            at_output = slice(subject.output, subject.output + 1)
            shown = ShownClasses.of(subject).merged(effect) if classes else effect[..., at_output]
            tables.append(shown)
            found.append({"name": part.name, **at})
    kept = [table[stops.kept] for table in tables]
    pack, axis = ((0.0, 1.0),) * 2 if classes else (limits(*kept, margin=m) for m in (0.5, 0.1))
    for part, table in zip(found, tables, strict=True):
        part["values"] = packed(table, *pack, bits=8 if classes else 16)
        part["y"] = rounded(axis)
    return found


def _error(subject: Subject, rows: SubjectRows) -> float:
    values = subject.predict(rows)
    if subject.classes is None:
        return rmse(values[:, 0] - rows.y)
    likely = values[np.arange(len(rows)), subject.class_index(rows.y)]
    return float(-np.mean(np.log(np.maximum(likely, np.finfo(np.float64).tiny))))


@dataclass(frozen=True, eq=False)
class Content:
    """A model with its rows, the stops of the slider, and what several sections share."""

    subject: Subject
    stops: Stops

    @cached_property
    def importances(self) -> Float64:
        """The permutation importance of every column, `(n_columns, n_repeats)`."""
        return importances(self.subject)


def errors_section(subject: Subject) -> dict[str, Any] | None:
    """Return residuals and predictions; for classes, the confusion matrix and the calibration."""
    rows = subject.shown
    if rows is None:
        return None
    values = subject.predict(rows)
    if subject.classes is None:
        found = values[:, 0]
        return {"kind": "residuals", "found": rounded(found), "residual": rounded(rows.y - found)}
    shown = ShownClasses.of(subject)
    wanted, found = subject.class_index(rows.y), values.argmax(axis=1)
    labels = np.arange(len(shown.names))
    counts = confusion_matrix(shown.place[wanted], shown.place[found], labels=labels)
    return {
        "kind": "classes",
        "counts": counts.tolist(),
        "calibration": calibration(values.max(axis=1), found == wanted),
    }


def calibration(confidence: Float64, correct: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Return the accuracy of the network, for groups of rows by its confidence.

    `confidence` is the probability of the predicted class, `correct` whether it was the true one.
    """
    place = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return [
        {
            "confidence": rounded(float(confidence[place == b].mean())),
            "accuracy": rounded(float(correct[place == b].mean())),
            "rows": int(np.sum(place == b)),
        }
        for b in range(_BINS)
        if np.any(place == b)
    ]


# The sections, in their order. Those of rows are computed for held-out and for training rows, if
# both are known.
SECTIONS = (
    Section(
        "growth", "How the network grew", lambda c: growth_section(c.subject, c.stops), "growth"
    ),
    Section(
        "columns", "What it makes of each column", lambda c: columns_section(c.subject), "multiples"
    ),
    Section("neurons", "The neurons", lambda c: neurons_section(c.subject), "tall table"),
    Section("importance", "Importance of the inputs", importance_section, "table", of_rows=True),
    Section(
        "errors", "Prediction errors", lambda c: errors_section(c.subject), "pair", of_rows=True
    ),
)


def section_data(subject: Subject) -> dict[str, Any]:
    """Return the data that the scripts draw, with None for sections that are not available.

    If rows were held out, all that depends on rows is about them; `other` holds the same about the
    other rows, but for what is equal in the picture.
    """
    content = Content(subject, Stops.of(subject))
    of_rows, other = _data_of_rows(content), None
    if subject.held_out is not None and subject.rows is not None:
        other = _data_of_rows(replace(content, subject=replace(subject, held_out=None)))
        if other["picture"] is not None:
            pairs = other["picture"].items()
            other["picture"] = {k: v for k, v in pairs if v != of_rows["picture"].get(k)}
    return {
        "target": subject.target,
        "classes": None if subject.classes is None else ShownClasses.of(subject).names,
        **{one.name: one.data(content) for one in SECTIONS if not one.of_rows},
        **of_rows,
        "other": other,
    }


def _data_of_rows(content: Content) -> dict[str, Any]:
    """Return what depends on the rows that are shown."""
    subject, stops = content.subject, content.stops
    data: dict[str, Any] = {
        "picture": picture_section(subject, stops),
        "rowScores": row_scores(subject, stops),
        "rows": None,
        "effects": None,
    }
    data |= {one.name: one.data(content) for one in SECTIONS if one.of_rows}
    if subject.shown is None:
        return data
    rows = subject.inspected
    assert rows is not None
    label = row_label(subject, rows)
    data["rows"] = {"all": len(rows), "shown": len(subject.shown), "label": label}
    columns = subject.columns.inputs
    if len(columns) > 2 or not all(column.is_number for column in columns):
        data["effects"] = effects_section(content)
    return data
