"""The growth of the network: its errors, and the networks at the stops of the slider.

A stop is a width of the path with its own network. One of them is the network that was kept, which
the rest of the page is about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from greedynet.report.page import rounded
from greedynet.report.subject import Subject
from greedynet.support.phrases import number
from greedynet.support.types import Float64
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
    """Networks along a path.

    Attributes
    ----------
    networks : list of Network
        The network of each stop.
    kept : int
        Position among them of the network that was kept.
    widths : list of int
        Positions of the stops on the path; empty if the growth is not known.
    """

    networks: list[Network]
    kept: int
    widths: list[int]

    @staticmethod
    def of(subject: Subject) -> "Stops":
        """Return the stops of a model."""
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
        return np.array(
            [
                feature_effect(network, X, features, values, classes=classes)
                for network in self.networks
            ]
        )


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
