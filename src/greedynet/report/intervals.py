"""How far to trust the predictions: intervals in the charts, their coverage, rows outside."""

import warnings
from typing import Any

import numpy as np

from greedynet.model.uncertainty.seen import outside_sentence
from greedynet.report.packing import packed
from greedynet.report.subject import HELD_OUT, Rows, Subject
from greedynet.support.errors import FewHeldOutRowsWarning
from greedynet.support.phrases import number, percent
from greedynet.support.types import Float64

COVERAGE = 0.9
_NAME = f"{100 * COVERAGE:.0f} %"


def interval_ends(subject: Subject, X: Float64) -> tuple[Float64, Float64] | None:
    """Return the intervals of the output that is shown; None if the model has none."""
    if getattr(subject.table.estimator, "intervals_", None) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewHeldOutRowsWarning)
        try:
            ends = subject.table.predict_interval(X, COVERAGE)
        except FewHeldOutRowsWarning:
            return None
    low, high = (part.reshape(len(X), -1)[:, subject.output] for part in ends)
    return low, high


def packed_ends(ends: tuple[Float64, Float64], low: float, high: float) -> dict[str, Any]:
    """Return intervals for the page, clipped to the limits of the chart."""
    return {"name": f"{_NAME} interval", "ends": packed(np.array(ends), low, high)}


def coverage_sentence(subject: Subject, rows: Rows, label: str) -> str:
    """Return how many of the rows are within their intervals or sets, or an empty text."""
    if subject.classes is not None:
        return _sets_sentence(subject, rows, label)
    ends = interval_ends(subject, rows.X)
    if ends is None:
        return ""
    low, high = ends
    share = float(np.mean((low <= rows.y) & (rows.y <= high)))
    width = number(float(np.median(0.5 * high - 0.5 * low)))
    return (
        f"Its {_NAME} intervals, typically the prediction plus or minus {width}, contain "
        f"{percent(share)} of the {label}."
    )


def _sets_sentence(subject: Subject, rows: Rows, label: str) -> str:
    sets = getattr(subject.table.estimator, "sets_", None)
    if sets is None or not sets.scores.suffices(COVERAGE):
        return ""
    found = subject.table.predict_set(rows.X, COVERAGE)
    share = float(np.mean(found[np.arange(len(rows)), subject.class_index(rows.y)]))
    return (
        f"Its {_NAME} sets, of {number(float(found.sum(axis=1).mean()))} classes on average, "
        f"contain the class of {percent(share)} of the {label}."
    )


def outside_text(subject: Subject, rows: Rows, label: str) -> str:
    """Return how many rows are outside the training data, and what this means."""
    if getattr(subject.table.estimator, "seen_", None) is None:
        return ""
    found = subject.table.outside(rows.X)
    counts = dict(zip(found.names, found.columns.sum(axis=0).tolist(), strict=True))
    n_outside = int(found.rows.sum())
    said = outside_sentence(len(rows), n_outside, counts)
    if label == HELD_OUT:
        said = said.replace(" row", " held-out row", 1)
    if n_outside == 0:
        return said
    wrong = "intervals may be too narrow" if subject.classes is None else "sets may be too small"
    return (
        f"{said} There the network continues what it has learned elsewhere: its predictions are "
        f"guesses, and its {wrong}. greedynet predict --outside marks such rows."
    )
