"""How far the network is from the best one of any width, in words."""

from greedynet.activations import degree_of
from greedynet.exact import certificate
from greedynet.report.subject import GIVEN, TRAINING, Subject, row_label

# Beyond these, a proof takes longer than a reader of a report would wait.
_MOST_COLUMNS, _MOST_ROWS, _SECONDS = 2, 2_000, 2.0
# A looser bound says nothing.
_LOOSE = 0.25


def optimality_sentence(subject: Subject) -> str:
    """Return what is proven about all other networks; an empty text where that is little."""
    network, rows = subject.network, subject.rows
    if rows is None or subject.classes is not None or not network.n_neurons:
        return ""
    if network.n_features > _MOST_COLUMNS or len(rows) > _MOST_ROWS or network.n_outputs > 1:
        return ""
    if row_label(subject, rows) != TRAINING and rows.label != GIVEN:
        return ""
    if network.ramps is not None or not network.has_affine_term:
        return ""
    if degree_of(network.activation) != 1:
        return ""
    try:
        found = certificate(network, rows.X, rows.y, max_seconds=_SECONDS)
    except ValueError:  # these are not the rows it was fitted to
        return ""
    return found.sentence() if found.gap <= _LOOSE else ""
