"""How far to trust predictions, in words: intervals, bounds, and their range in the data's box."""

import warnings
from typing import Any

import numpy as np

from greedynet.activations import degree_of
from greedynet.exact import Extremes, Optimum, extremes
from greedynet.exact.answers import row_text
from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty.outside import outside_sentence
from greedynet.report.page import packed
from greedynet.report.subject import HELD_OUT, Subject, SubjectRows
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


def coverage_sentence(subject: Subject, rows: SubjectRows, label: str) -> str:
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


def _sets_sentence(subject: Subject, rows: SubjectRows, label: str) -> str:
    sets = getattr(subject.table.estimator, "sets_", None)
    if sets is None or not sets.scores.suffices(COVERAGE):
        return ""
    found = subject.table.predict_set(rows.X, COVERAGE)
    share = float(np.mean(found[np.arange(len(rows)), subject.class_index(rows.y)]))
    return (
        f"Its {_NAME} sets, of {number(float(found.sum(axis=1).mean()))} classes on average, "
        f"contain the class of {percent(share)} of the {label}."
    )


def outside_text(subject: Subject, rows: SubjectRows, label: str) -> str:
    """Return how many rows are outside the training data, and what this means."""
    if getattr(subject.table.estimator, "training_sample_", None) is None:
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
        f"{said} There its predictions are guesses, and its {wrong}: greedynet predict --outside "
        "marks such rows."
    )


def bounds_sentence(subject: Subject) -> str:
    """Return what no prediction leaves; or an empty text."""
    bounds = subject.network.bounds
    if bounds is None:
        return ""
    what, more = "No prediction leaves its bounds", ""
    if subject.classes is not None:
        ends = np.array([bounds.low[0], bounds.high[0]])
        low, high = probabilities(ends[:, None])[:, 1].tolist()
        what = f"The log-odds of {subject.classes[1]} never leave their bounds"
        more = f", which are probabilities from {percent(low)} to {percent(high)}"
    return f"{what}, {bounds.sentence()}{more}, also far from the training rows."


def box_sentence(subject: Subject) -> str:
    """Return what inputs beyond the training rows count as; or an empty text."""
    network = subject.network
    if network.is_constant:
        return ""
    if network.box is None:
        return "Inputs are not clipped: beyond the training rows, predictions extrapolate."
    if network.reach > 0:
        return (
            "A value beyond all training rows is clipped where it lies farther out than "
            f"{network.reach:.0%} of their range, in every column: held-out rows outside the "
            "data's box were clearly better predicted that way."
        )
    return (
        "A value beyond all training rows counts as the nearest one among them, in every column: "
        "outside the data's box, predictions are those at its edge."
    )


# Time for both ends, after which the sentence says what is not certain.
_SECONDS = 8.0
# Of the range that was seen: a prediction that far outside it deserves a warning.
_FAR = 0.5
_SHOWN = 8


def reach_sentences(subject: Subject) -> str:
    """Return from where to where the network predicts inside the data's box; or an empty text."""
    network = subject.network
    if subject.classes is not None or degree_of(network.activation) != 1:
        return ""
    if network.input_range is None or network.is_constant:
        return ""
    if any(column.levels is None and column.n_features > 1 for column in subject.columns.inputs):
        return ""  # such as dates, whose features depend on each other
    several = network.n_outputs > 1
    found = extremes(
        subject.table, output=subject.output if several else None, max_seconds=_SECONDS
    )
    said = [
        f"Inside the data's box, with every column between the smallest and the largest value of "
        f"the training rows, it predicts from {number(found.lowest.value)} to "
        f"{number(found.highest.value)}{_doubt(found)}.",
        *_warnings(subject, found),
    ]
    return " ".join(said)


def _doubt(found: Extremes) -> str:
    if found.proven:
        return ""
    low, high = number(found.lowest.bound), number(found.highest.bound)
    return f", as far as was found in {_SECONDS:g} seconds, and certainly from {low} to {high}"


def _warnings(subject: Subject, found: Extremes) -> list[str]:
    """Return a warning for each end that is far beyond all values of the rows."""
    values = [rows.y for rows in (subject.rows, subject.held_out) if rows is not None]
    if not values:
        return []
    low, high = float(np.min(np.concatenate(values))), float(np.max(np.concatenate(values)))
    margin = _FAR * (high - low)
    far = [
        end
        for end, beyond in (
            (found.lowest, found.lowest.value < low - margin),
            (found.highest, found.highest.value > high + margin),
        )
        if beyond
    ]
    if not far:
        return []
    seen = f"The values of {subject.target} go from {number(low)} to {number(high)} only."
    places = "; and ".join(f"{number(end.value)} at {_place(end)}" for end in far)
    return [
        f"{seen} In parts of the box with few training rows, the network predicts values far "
        f"beyond these: {places}. Be careful with new rows that are unlike the training rows: "
        "greedynet predict --outside marks them, greedynet ask finds the range of any part of the "
        "box, and a fit with --bounds seen predicts nothing beyond what was seen."
    ]


def _place(end: Optimum) -> str:
    more = ", ..." if len(end.row) > _SHOWN else ""
    return row_text(dict(list(end.row.items())[:_SHOWN])) + more
