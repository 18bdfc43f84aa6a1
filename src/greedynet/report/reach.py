"""The range of all predictions in the box of the data, beside what was seen."""

import numpy as np

from greedynet.activations import degree_of
from greedynet.exact import Extremes, Optimum, extremes
from greedynet.exact.answers import row_text
from greedynet.report.subject import Subject
from greedynet.support.phrases import number

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
    return f", as far as found in {_SECONDS:g} seconds, and surely within {low} to {high}"


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
        f"{seen} Where rows are few, the network is not held by them: it predicts {places}. "
        "Mind new rows that are unlike those of the training data; greedynet predict --outside "
        "marks them, greedynet ask finds the range of any part of the box, and a fit with "
        "--bounds seen predicts nothing beyond what was seen."
    ]


def _place(end: Optimum) -> str:
    more = ", ..." if len(end.row) > _SHOWN else ""
    return row_text(dict(list(end.row.items())[:_SHOWN])) + more
