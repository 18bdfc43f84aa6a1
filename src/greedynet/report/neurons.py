"""The neurons: their table, and the curves of columns that they see."""

from typing import Any

import numpy as np

from greedynet.activations import degree_of
from greedynet.model.description import ColumnCurves, column_curves, column_moves
from greedynet.report.page import limits, rounded
from greedynet.report.subject import Subject
from greedynet.support.types import Float64
from greedynet.views.models import kinks_of_neurons

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
