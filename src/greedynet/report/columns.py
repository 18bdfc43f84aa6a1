"""What a network of two layers makes of each column: the curves of its first layer."""

from typing import Any

from greedynet.activations import degree_of
from greedynet.model.description import ColumnCurves, column_curves
from greedynet.report.packing import limits, rounded
from greedynet.report.subject import Subject

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
