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

from greedynet.report.features import effects_section, importance_section, importances
from greedynet.report.growth import Stops, growth_section
from greedynet.report.neurons import columns_section, neurons_section
from greedynet.report.page import Section, rounded
from greedynet.report.pictures import picture_section, row_scores
from greedynet.report.ridgelets import ridgelet_section
from greedynet.report.subject import ShownClasses, Subject, row_label
from greedynet.support.types import Float64

_BINS = 10


@dataclass(frozen=True, eq=False)
class Content:
    """A model with its rows, the stops of the slider, and what several sections share."""

    subject: Subject
    stops: Stops

    @cached_property
    def importances(self) -> Float64:
        """The permutation importance of every column, `(n_columns, n_repeats)`."""
        return importances(self.subject)


def importance_of_rows(content: Content) -> dict[str, Any] | None:
    """Return the columns in decreasing order of importance; None without rows."""
    if content.subject.shown is None:
        return None
    return importance_section(content.subject, content.importances)


def errors_section(subject: Subject) -> dict[str, Any] | None:
    """Return residuals and predictions; for classes, the confusion matrix and the calibration."""
    rows = subject.shown
    if rows is None:
        return None
    values = subject.values(subject.network.predict(rows.X).reshape(len(rows), -1))
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

    Parameters
    ----------
    confidence : ndarray of shape (n_rows,)
        Probability of the predicted class.
    correct : ndarray of bool, of shape (n_rows,)
        Whether it was the true one.
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
    Section("importance", "Importance of the inputs", importance_of_rows, "table", of_rows=True),
    Section(
        "errors", "Prediction errors", lambda c: errors_section(c.subject), "pair", of_rows=True
    ),
    Section("ridgelets", "Ridgelet transform of the data", lambda c: ridgelet_section(c.subject)),
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
    rows = subject.rows if subject.held_out is None else subject.held_out
    assert rows is not None
    label = row_label(subject, rows)
    data["rows"] = {"all": len(rows), "shown": len(subject.shown), "label": label}
    columns = subject.columns.inputs
    if len(columns) > 2 or not all(column.is_number for column in columns):
        data["effects"] = effects_section(subject, stops, content.importances)
    return data
