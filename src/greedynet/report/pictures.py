"""The main picture of the growth section: the predictions of the network at every stop.

One input: the curve. Two: a map. More: predicted against actual, or the confusion matrix. Pictures
of one and two inputs need no rows; rows are drawn if there are any.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import degree_of
from greedynet.model.network import Network
from greedynet.report.growth import Stops
from greedynet.report.page import limits, packed, packed_bytes, rounded
from greedynet.report.subject import ShownClasses, Subject, SubjectRows
from greedynet.report.trust import interval_ends, packed_ends
from greedynet.support.types import Float64
from greedynet.tables.scores import rmse

CURVE_POINTS, MAP_POINTS = 241, 60
_CONFIDENCES = 16


def picture_section(subject: Subject, stops: Stops) -> dict[str, Any] | None:
    """Return the picture, or None if it needs rows and there are none."""
    columns = subject.columns.inputs
    numbers = all(column.is_number for column in columns)
    spans = _spans(subject)
    if numbers and len(columns) <= 2 and spans is not None:
        draw = _curve if len(columns) == 1 else _map
        return draw(subject, stops, spans) | _axes(subject, stops)
    rows = subject.shown
    if rows is None:
        return None
    return (
        _confusion(subject, stops, rows)
        if subject.classes is not None
        else (_scatter(subject, stops, rows))
    )


def row_scores(subject: Subject, stops: Stops) -> dict[str, Any] | None:
    """Return the score on the rows shown at every stop: accuracy for classes, else RMSE."""
    rows = subject.shown
    if rows is None:
        return None
    outputs = stops.outputs(rows.X)
    if subject.classes is not None:
        wanted = subject.class_index(rows.y)
        right = [np.mean(subject.values(f).argmax(axis=1) == wanted) for f in outputs]
        return {"name": "accuracy", "values": rounded([float(share) for share in right])}
    errors = outputs[:, :, subject.output] - rows.y
    return {"name": "RMSE", "values": rounded([rmse(part) for part in errors])}


def _spans(subject: Subject) -> Float64 | None:
    """Return the range of each input: in the rows, else in the training data."""
    given = [rows.X for rows in (subject.rows, subject.held_out) if rows is not None]
    if given:
        X = np.concatenate(given)
        return np.array([limits(column, margin=0.02) for column in X.T])
    known = subject.network.input_range
    return None if known is None else np.array([limits(ends) for ends in known.T])


def _curve(subject: Subject, stops: Stops, spans: Float64) -> dict[str, Any]:
    low, high = spans[0]
    x = np.linspace(low, high, CURVE_POINTS)
    outputs = stops.outputs(x[:, None])
    picture: dict[str, Any] = {"x": rounded([low, high], 7), "rows": None}
    rows = subject.shown
    if subject.classes is not None:
        shown = ShownClasses.of(subject)
        p = np.array([shown.merged(subject.values(f)) for f in outputs])
        picture |= {"kind": "probabilities", "values": packed(p, 0.0, 1.0, bits=8)}
        if rows is not None:
            at = shown.place[subject.class_index(rows.y)]
            picture["rows"] = {"x": rounded(rows.X[:, 0]), "at": at.tolist()}
        return picture
    values, ends = outputs[:, :, subject.output], interval_ends(subject, x[:, None])
    inside = [values[stops.kept], *(ends or ()), *([] if rows is None else [rows.y])]
    span = limits(*inside, margin=0.6)
    picture |= {
        "kind": "curve",
        "y": rounded(limits(*inside, margin=0.08)),
        "values": packed(values, *span),
        "intervals": None if ends is None else packed_ends(ends, *span),
    }
    if rows is not None:
        picture["rows"] = {"x": rounded(rows.X[:, 0]), "y": rounded(rows.y)}
    return picture


def _map(subject: Subject, stops: Stops, spans: Float64) -> dict[str, Any]:
    centres = [low + (high - low) * _middles(MAP_POINTS) for low, high in spans]
    x1, x2 = np.meshgrid(*centres)
    outputs = stops.outputs(np.column_stack([x1.ravel(), x2.ravel()]))
    picture: dict[str, Any] = {"x": rounded(spans, 7), "points": MAP_POINTS, "rows": None}
    rows = subject.shown
    places = None if rows is None else {"x": rounded(rows.X[:, 0]), "y": rounded(rows.X[:, 1])}
    if subject.classes is not None:
        shown = ShownClasses.of(subject)
        p = np.array([shown.merged(subject.values(f)) for f in outputs])
        picture |= {"kind": "areas", "values": packed_bytes(_class_bytes(p))}
        if rows is not None and places is not None:
            at = shown.place[subject.class_index(rows.y)]
            picture["rows"] = places | {"at": at.tolist()}
        return picture
    values = outputs[:, :, subject.output]
    low, high = limits(values[stops.kept]) if rows is None else limits(rows.y)
    picture |= {"kind": "map", "values": packed(values, low, high, bits=8)}
    if rows is not None and places is not None:
        picture["rows"] = places | {"value": rounded(rows.y)}
    return picture


def _middles(n: int) -> Float64:
    return (np.arange(n) + 0.5) / n


def _class_bytes(p: Float64) -> NDArray[np.uint8]:
    """Return the most probable class and its confidence in one byte: `16 class + level`."""
    n_classes = p.shape[-1]
    sure = (p.max(axis=-1) - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
    level = np.clip(np.floor(sure * _CONFIDENCES), 0, _CONFIDENCES - 1)
    return np.asarray(p.argmax(axis=-1) * _CONFIDENCES + level, dtype=np.uint8)


def _axes(subject: Subject, stops: Stops) -> dict[str, Any]:
    """Return the names, and the lines `a . x + b = 0` at every stop if neurons have a kink there.

    The kinks of two layers are no lines.
    """
    kinks = None
    if degree_of(subject.network.activation) is not None and subject.network.ramps is None:
        kinks = [_lines(network) for network in stops.networks]
    return {"names": list(subject.columns.labels), "kinks": kinks}


def _lines(network: Network) -> list[list[float]]:
    """Return the neurons `(a, b)`, divided by their largest weight."""
    rows = np.column_stack([network.inner_weights, network.biases])
    size = np.abs(rows[:, :-1]).max(axis=1, keepdims=True)
    found: list[list[float]] = rounded(rows / np.where(size > 0, size, 1.0), 6)
    return found


def _scatter(subject: Subject, stops: Stops, rows: SubjectRows) -> dict[str, Any]:
    values = stops.outputs(rows.X)[:, :, subject.output]
    low, high = limits(rows.y, values[stops.kept], margin=0.05)
    ends = interval_ends(subject, rows.X)
    return {
        "kind": "scatter",
        "intervals": None if ends is None else packed_ends(ends, low, high),
        "actual": rounded(rows.y),
        "values": packed(values, low, high),
        "names": list(subject.columns.labels),
    }


def _confusion(subject: Subject, stops: Stops, rows: SubjectRows) -> dict[str, Any]:
    shown = ShownClasses.of(subject)
    found = np.array([subject.values(f).argmax(axis=1) for f in stops.outputs(rows.X)])
    return {
        "kind": "confusion",
        "actual": shown.place[subject.class_index(rows.y)].tolist(),
        "found": packed_bytes(shown.place[found].astype(np.uint8)),
        "names": list(subject.columns.labels),
    }
