"""The neurons: their table, the curves of columns that they see, and where they come from.

The collapsed ridgelet transform of the rows, for one and two inputs, is large at those neurons of
which the target is made. The inputs are scaled to [-1, 1], so that circle and sphere have the same
meaning for all data; an affine function, which needs no neurons, is subtracted from the target. The
transform is the same at `(a, b)` and `(-a, -b)`, so half of the circle, `a >= 0`, or of the sphere,
`b >= 0`, suffices.
"""

from typing import Any

import numpy as np

from greedynet.activations import degree_of
from greedynet.model.description import ColumnCurves, column_curves, column_moves
from greedynet.report.page import limits, packed, rounded
from greedynet.report.subject import Subject
from greedynet.search.ridgelet import (
    REACH_PER_SPACING,
    collapsed_ridgelet_transform,
    quadrature_weights,
    spacing,
)
from greedynet.search.sphere import circle
from greedynet.support.types import Float64
from greedynet.views.models import kinks_of_neurons, neurons_on_sphere, places_on_disc, upper_half

MOST_NEURONS, MOST_WEIGHTS, MOST_OUTPUTS = 300, 40, 12


def neurons_section(subject: Subject) -> dict[str, Any]:
    """Return the table of the neurons, those with the largest weights first."""
    network = subject.network
    chosen = network.largest_neurons()[:MOST_NEURONS]
    outer, outer_names = _outer(subject)
    parts, names = [chosen[:, None] + 1, outer[chosen]], ["neuron", *outer_names]
    if network.ramps is None:
        one = network.n_features == 1  # at the input `x`; of more at a value of `a . x`
        kinks = kinks_of_neurons(network) if one else -network.biases
        parts.append(kinks[chosen, None])
        names.append("kink" if one else "threshold")
    rows = subject.held_out if subject.rows is None else subject.rows
    if rows is not None:
        z = network.neuron_inputs(rows.X) @ network.inner_weights.T + network.biases
        active = np.mean(z > 0, axis=0)
        parts.append(100.0 * active[chosen, None])
        names.append("active %")
    inner = _inner(subject)
    # Those with the largest weights, in their original order.
    largest = np.argsort(-np.abs(inner).max(axis=0, initial=0.0), kind="stable")
    features = np.sort(largest[:MOST_WEIGHTS])
    names += [subject.columns.features[j] for j in features]
    parts.append(inner[np.ix_(chosen, features)])
    return {
        "names": names,
        "moves": network.ramps is not None,
        "firstWeight": len(names) - len(features),
        "rows": rounded(np.hstack(parts), 4),
        "left": network.n_neurons - len(chosen),
        "weightsLeft": network.n_features - len(features),
    }


def _inner(subject: Subject) -> Float64:
    """Return the inner weights; of two layers, by how much each column moves each neuron at most.

    The latter times the outer weight, in the units of the output that is shown.
    """
    network = subject.network
    if network.ramps is None:
        return network.inner_weights
    return column_moves(network) * np.abs(network.outer_weights[:, [subject.output]])


def _outer(subject: Subject) -> tuple[Float64, list[str]]:
    """Return the outer weights, and their names."""
    network = subject.network
    weights = network.outer_weights
    if subject.classes is None:
        return weights[:, [subject.output]], ["outer weight"]
    if weights.shape[1] == 1:
        return weights, [f"outer weight, {subject.classes[1]}"]
    names = [f"outer weight, {name}" for name in subject.classes.tolist()]
    return weights[:, :MOST_OUTPUTS], names[:MOST_OUTPUTS]


MOST_COLUMNS = 12


def columns_section(subject: Subject) -> dict[str, Any] | None:
    """Return the curves of the columns; None for a network of one layer, which has none."""
    network = subject.network
    if network.ramps is None:
        return None
    found = column_curves(network, subject.output)
    shown = found[:MOST_COLUMNS]
    drawn = [values for one in shown for values in (one.direct, *one.through) if values is not None]
    return {
        "columns": [_column(one, subject.columns.features[one.feature]) for one in shown],
        "y": rounded(limits(*drawn, margin=0.05)),
        "left": len(found) - len(shown),
        "straight": network.n_features - len(found),
        "neurons": network.n_neurons,
        "isSum": degree_of(network.activation) == 1,
    }


def _column(curves: ColumnCurves, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "knots": rounded(curves.knots, 7),
        "direct": None if curves.direct is None else rounded(curves.direct),
        "neurons": [n + 1 for n in curves.neurons.tolist()],  # as in the table of the neurons
        "through": rounded(curves.through),
    }


# The ridgelet transform

ANGLES, PIXELS = 360, 72
# Fractions of the usual reach, for one and two inputs: the profile then averages over neighbours,
# so that bends of the target stand out, and not the noise of single rows.
_SOFTER = {1: 0.1, 2: 0.5}
# Fraction of the rows that count as near the edges.
_EDGE = 0.1
# Relative deviation up to which a target counts as affine.
_ROUNDING = 1e-9


def ridgelet_section(subject: Subject) -> dict[str, Any] | None:
    """Return the transform on half of the circle or the sphere; None if it is not defined."""
    rows = subject.shown
    numbers = all(column.is_number for column in subject.columns.inputs)
    network = subject.network
    # Neurons over two layers are no points of the sphere.
    if rows is None or not numbers or rows.X.shape[1] > 2 or network.ramps is not None:
        return None
    low, high = rows.X.min(axis=0), rows.X.max(axis=0)
    if np.any(low == high):
        return None
    middle, half = (low + high) / 2, (high - low) / 2
    X = (rows.X - middle) / half
    try:
        area = quadrature_weights(X)
    except ValueError:  # too few rows, or all on a line
        return None
    targets = _targets(subject)
    Y = _without_affine(X, targets)
    if np.abs(Y).max() <= _ROUNDING * np.abs(targets).max():
        return None
    neurons = neurons_on_sphere(network.inner_weights, network.biases, np.array([low, high]))
    neurons = neurons[neurons.any(axis=1)]
    reach = _SOFTER[X.shape[1]] * REACH_PER_SPACING / spacing(X, area)
    if X.shape[1] == 1:
        half_circle = circle(2 * ANGLES)[: ANGLES + 1]
        values = collapsed_ridgelet_transform(half_circle, X, Y, reach=reach).values
        return {
            "kind": "circle",
            "values": rounded(values),
            "neurons": rounded(np.arctan2(neurons[:, 0], neurons[:, 1]) % np.pi),
            "kinks": rounded([float(low[0]), float(middle[0]), float(high[0])]),
        }
    values = collapsed_ridgelet_transform(half_sphere(), X, Y, reach=reach).values
    largest = float(np.abs(values).max()) or 1.0
    signed = values.min() < 0
    return {
        "kind": "sphere",
        "pixels": PIXELS,
        "values": packed(values / largest, -1.0 if signed else 0.0, 1.0, bits=8),
        "neurons": rounded(places_on_disc(neurons)),
    }


def half_sphere() -> Float64:
    """Return the points of a square image that holds the half sphere as a disc.

    Outside of the disc, the nearest point on its edge is used.
    """
    middles = (np.arange(PIXELS) + 0.5) / PIXELS * 2 - 1
    x, y = (part.ravel() for part in np.meshgrid(middles, middles))
    shrink = np.minimum(1.0, 1.0 / np.hypot(x, y))
    return upper_half(shrink * x, shrink * y)


def _targets(subject: Subject) -> Float64:
    assert subject.shown is not None
    y = subject.shown.y
    if subject.classes is None:
        return np.asarray(y, dtype=np.float64)[:, None]
    units = np.eye(len(subject.classes))[subject.class_index(y)]
    return units[:, 1:] if units.shape[1] == 2 else units


def _without_affine(X: Float64, Y: Float64) -> Float64:
    """Subtract the affine function that fits best near the edges.

    Beyond the edges, the transform takes the target as zero: a jump there would dominate the rest.
    """
    A = np.column_stack([X, np.ones(len(X))])
    near = np.abs(X).max(axis=1) >= np.quantile(np.abs(X).max(axis=1), 1 - _EDGE)
    return np.asarray(Y - A @ np.linalg.lstsq(A[near], Y[near], rcond=None)[0])
