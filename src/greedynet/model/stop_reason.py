"""`StopReason`: why a network stopped growing, and what to try."""

from enum import Enum


class StopReason(Enum):
    """Why growing ended; the text says what happened and what to try."""

    N_NODES = "The network has the number of nodes asked for."
    TOLERANCE = (
        "The relative residual on the training data reached `tol`. For a closer fit lower `tol`."
    )
    EXACT = "The training data are reproduced to rounding; more nodes cannot help."
    VALIDATED = (
        "The score stopped improving, and the width with the best score was kept: the error on "
        "held-out rows or folds, or generalised cross-validation where there are none. To search "
        "further, raise `patience`."
    )
    MAX_NODES = (
        "`max_nodes` was reached and the width with the best score was kept. If that is close to "
        "the maximum, raise `max_nodes`."
    )
    EXHAUSTED = (
        "No candidate lies outside the span of the chosen neurons. For more nodes give more "
        "distinct rows or, with a dictionary, raise `n_points`."
    )
    CALLBACK = "A callback asked to stop; the best width so far was kept."

    def __str__(self) -> str:
        return self.value
