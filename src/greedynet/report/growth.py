"""The growth of the network: its errors, and the pictures that the slider changes.

A stop of the slider is a width of the path with its own network. One of them is the network that
was kept, which the rest of the page is about. The main picture shows the predictions at every stop:
of one input a curve, of two a map, of more predicted against actual or the confusion matrix.
Pictures of one and two inputs need no rows; rows are drawn if there are any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import degree_of
from greedynet.model.candidate import (
    BLEND,
    CLIPPED,
    LINE,
    NETWORK,
    ONE_LAYER,
    RAMPS,
    TWO_LAYERS,
    Ladder,
)
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.report.page import limits, packed, packed_bytes, rounded
from greedynet.report.subject import ShownClasses, Subject, SubjectRows
from greedynet.report.trust import interval_ends, packed_ends
from greedynet.support.phrases import number
from greedynet.support.types import Float64
from greedynet.tables.scores import rmse
from greedynet.views.effects import feature_effect

# Number of stops of the slider. On longer paths, the first half of the stops covers every width,
# and the second half is evenly spaced.
MOST_STOPS = 30

_FORMS = {
    ONE_LAYER: "one hidden layer",
    CLIPPED: "inputs clipped",
    TWO_LAYERS: "two hidden layers",
    RAMPS: "neurons that level off",
}


@dataclass(frozen=True, eq=False)
class Stops:
    """Networks along a path."""

    networks: list[Network]
    kept: int  # the position of the network that was kept
    widths: list[int]  # positions on the path; empty if the growth is not known

    @staticmethod
    def of(subject: Subject) -> "Stops":
        path = subject.path
        if path is None:
            return Stops([subject.network], 0, [])
        widths = some_widths(path)
        networks = [path.network_at(int(path.n_nodes[i])) for i in widths]
        kept = widths.index(path.position(path.best_n_nodes))
        # It may have been trained further.
        networks[kept] = subject.network
        return Stops(networks, kept, widths)

    def __len__(self) -> int:
        return len(self.networks)

    def outputs(self, X: Float64) -> Float64:
        """Return the values of the network at all stops, `(n_stops, n_rows, n_outputs)`."""
        return np.array([network.predict(X).reshape(len(X), -1) for network in self.networks])

    def effects(
        self, X: Float64, features: Sequence[int], values: Float64, *, classes: bool
    ) -> Float64:
        """Return the effect of a feature at all stops, `(n_stops, n_values, n_outputs)`."""
        effects = [feature_effect(g, X, features, values, classes=classes) for g in self.networks]
        return np.array(effects)


def some_widths(path: SelectionPath) -> list[int]:
    """Return at most `MOST_STOPS` positions on a path: the ends and the width kept among them."""
    if len(path) <= MOST_STOPS:
        return list(range(len(path)))
    half = MOST_STOPS // 2
    rest = np.linspace(half, len(path) - 1, MOST_STOPS - half - 1).round().astype(int)
    return sorted({*range(half), *rest.tolist(), path.position(path.best_n_nodes)})


def growth_section(subject: Subject, stops: Stops) -> dict[str, Any] | None:
    """Return the errors along the path, the positions of the stops on it, and the stop kept."""
    path = subject.path
    if path is None:
        return None
    held_out = path.held_out_errors
    return {
        "nodes": path.n_nodes.tolist(),
        "training": rounded(path.training_errors),
        "heldOut": None if held_out is None else rounded(held_out),
        "stops": stops.widths,
        "kept": stops.kept,
        "errorName": "log-loss" if subject.classes is not None else "relative error",
        "text": " ".join(_texts(subject)),
        "trained": is_trained(subject),
    }


def is_trained(subject: Subject) -> bool:
    """Whether the network was trained further after its growth, which the path does not show."""
    return hasattr(subject.table.estimator, "trained_on_")


def _texts(subject: Subject) -> list[str]:
    """Return what the chart shows, and how good the best network of each other form was."""
    assert subject.path is not None
    rows = "training rows and on held-out rows"
    if subject.path.held_out_errors is None:
        rows = "training rows"
    said = [f"Error on {rows} at every width that was tried; the dot is the network that was kept."]
    if is_trained(subject):
        said.append("It was trained further afterwards, which changed its errors.")
    ladder: Ladder | None = getattr(subject.table.estimator, "ladder_", None)
    if ladder is None or not ladder.expected_error:
        return said
    for form, which in _FORMS.items():
        error = ladder.error_of(LINE, NETWORK, BLEND, form=form)
        if error is not None and form != ladder.choice.form:
            ratio = number(error / ladder.expected_error)
            said.append(
                f"The best network with {which} had {ratio} times the held-out error of the one "
                "that was kept."
            )
    return said


# The pictures

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
    draw_rows = _scatter if subject.classes is None else _confusion
    return draw_rows(subject, stops, rows)


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
    return {"name": "RMSE", "values": rounded([rmse(part) for part in errors], 7)}


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
    middles = (np.arange(MAP_POINTS) + 0.5) / MAP_POINTS
    centres = [low + (high - low) * middles for low, high in spans]
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
