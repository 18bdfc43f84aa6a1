"""`StopReason`: why the growth of a network ended, and what to try next."""

from enum import Enum


class StopReason(Enum):
    """Why the growth ended; the text describes what happened and what to try next."""

    N_NODES = "The network has the requested number of nodes."
    TOLERANCE = (
        "The relative residual on the training data reached `tol`. For a closer fit, lower `tol`."
    )
    NEARLY = (
        "The relative residual reached `tol` on the training rows of a fold, but not on all rows. "
        "For a closer fit, lower `tol`."
    )
    EXACT = (
        "The training data are reproduced up to rounding; more nodes cannot help. This does not "
        "say how good the network is on new rows: see `expected_error_`."
    )
    VALIDATED = (
        "More nodes did not predict held-out rows better. For fewer nodes at a small loss, write "
        "`select=0.05` or `truncate(within=0.05)`."
    )
    MAX_NODES = (
        "`max_nodes` was reached. If the network that was kept is close to the maximum, raise "
        "`max_nodes`."
    )
    MEAN = (
        "No line and no network predicted held-out rows better than the mean, which is all that "
        "was kept. More rows or other features may help."
    )
    LINE = (
        "No network predicted held-out rows better than a straight line, which is all that was "
        "kept. More rows or other features may help."
    )
    CURVES = (
        "No network predicted held-out rows better than the sum of one curve for each column, "
        "which is all that was kept. More rows or other features may help."
    )
    EXHAUSTED = (
        "No candidate lies outside the span of the chosen neurons. For more nodes, provide more "
        "distinct rows or, with a dictionary, raise `n_points`."
    )
    SHAPE = (
        "The shape of `monotonic_cst` and `convex` leaves no use for more nodes. For a closer fit, "
        "ask for less of a shape."
    )
    MAX_SECONDS = (
        "`max_seconds` was reached, and the best network so far was kept. With more time, the "
        "search would go on."
    )
    CALLBACK = "A callback stopped the growth; the best width so far was kept."

    def __str__(self) -> str:
        return self.value
