"""Neurons and prediction errors of the network, as plain values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.model.description import column_moves
from greedynet.model.network import Network
from greedynet.report.classes import ShownClasses
from greedynet.report.packing import rounded
from greedynet.report.subject import Subject
from greedynet.support.types import Float64
from greedynet.views.functions import kinks_of_neurons

MOST_NEURONS, MOST_WEIGHTS, MOST_OUTPUTS = 300, 40, 12
_BINS = 10


def neurons_section(subject: Subject) -> dict[str, Any]:
    """Return the table of the neurons, those with the largest weights first."""
    network = subject.network
    chosen = network.largest_neurons()[:MOST_NEURONS]
    outer, outer_names = _outer(subject)
    parts, names = [chosen[:, None] + 1, outer[chosen]], ["neuron", *outer_names]
    if network.ramps is None:
        parts.append(_kinks(network)[chosen, None])
        names.append("kink" if network.n_features == 1 else "threshold")
    rows = subject.held_out if subject.rows is None else subject.rows
    if rows is not None:
        active = np.mean(_sums(network, rows.X) > 0, axis=0)
        parts.append(100.0 * active[chosen, None])
        names.append("active %")
    inner = _inner(subject)
    features = _largest_features(inner)
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


def _largest_features(inner: Float64) -> NDArray[np.intp]:
    """Return the features with the largest weights, in their original order."""
    size = np.abs(inner).max(axis=0, initial=0.0)
    return np.sort(np.argsort(-size, kind="stable")[:MOST_WEIGHTS])


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


def _kinks(network: Network) -> Float64:
    """Return the kinks of the neurons: the input `x`, or the value of `a . x`."""
    return -network.biases if network.n_features > 1 else kinks_of_neurons(network)


def _sums(network: Network, X: Float64) -> Float64:
    return network.neuron_inputs(X) @ network.inner_weights.T + network.biases


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
    counts = np.zeros((len(shown.names), len(shown.names)), dtype=int)
    np.add.at(counts, (shown.place[wanted], shown.place[found]), 1)
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
