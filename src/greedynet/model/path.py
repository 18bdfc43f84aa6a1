"""`SelectionPath`: the networks of a growth by width, their errors, and why the growth ended."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.support.checks import is_whole
from greedynet.support.types import Float64


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


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """The growth of a network; entry `i` of each field belongs to the width `n_nodes[i]`.

    Attributes
    ----------
    n_nodes : ndarray of shape (n_widths,)
        Widths along the path, ascending: neurons plus two for an affine term.
    training_errors : ndarray of shape (n_widths,)
        Relative error on the training rows; for classes, the mean log-loss.
    held_out_errors : ndarray of shape (n_widths,) or None
        The same on rows that the networks had not seen; None if there were none.
    networks : tuple of Network
        One for each width.
    best_n_nodes : int
        The width that was kept.
    stop_reason : StopReason
        Why the growth ended.
    seconds : ndarray of shape (n_widths,)
        Time from the start to the end of each width.
    indices : ndarray of shape (n_steps,)
        The chosen atoms of a dictionary, as positions among its points; empty without one.
    unit : float
        Error of the mean on held-out rows, in the units of the outputs, to which errors are
        relative; 1 for log-losses.
    """

    n_nodes: NDArray[np.intp]
    training_errors: Float64
    held_out_errors: Float64 | None
    networks: tuple[Network, ...]
    best_n_nodes: int
    stop_reason: StopReason
    seconds: Float64
    indices: NDArray[np.intp]
    unit: float = 1.0

    @property
    def network(self) -> Network:
        """The widest network."""
        return self.networks[-1]

    @property
    def kept(self) -> Network:
        """The network that was kept."""
        return self.network_at(self.best_n_nodes)

    @property
    def kept_error(self) -> float:
        """Training error of the network that was kept."""
        return float(self.training_errors[self.position(self.best_n_nodes)])

    def position(self, n_nodes: int) -> int:
        """Return the position of a width; raise an error for one that is not on the path."""
        found = np.flatnonzero(self.n_nodes == n_nodes)
        if not is_whole(n_nodes) or not len(found):
            widths = ", ".join(map(str, self.n_nodes.tolist()))
            raise ValueError(
                f"`n_nodes` must be a width of the path, one of {widths}, got {n_nodes!r}; for "
                "another one, fit with `n_nodes`."
            )
        return int(found[0])

    def network_at(self, n_nodes: int) -> Network:
        """Return the network of a width of the path."""
        return self.networks[self.position(n_nodes)]

    def expected_error(self, position: int) -> float | None:
        """Return the error to expect on new rows at a width, in the units of the outputs."""
        errors = self.held_out_errors
        return None if errors is None else float(errors[position] * self.unit)

    def within(self, share: float) -> int:
        """Return the smallest width whose held-out error is within a share of the one kept.

        Parameters
        ----------
        share : float
            0.05 for an error that is at most 5 % larger.
        """
        if self.held_out_errors is None:
            raise ValueError(
                "`within` compares errors on held-out rows, but no row was held out in the fit: "
                "pass `n_nodes`."
            )
        kept = self.held_out_errors[self.position(self.best_n_nodes)]
        good = self.held_out_errors <= (1.0 + share) * kept
        return int(self.n_nodes[np.argmax(good)])

    def truncated(self, n_nodes: int) -> "SelectionPath":
        """Return the path that ends at a width, which was asked for."""
        at = self.position(n_nodes)
        end = slice(at + 1)
        n_steps = int(n_nodes - self.n_nodes[0])
        return SelectionPath(
            self.n_nodes[end],
            self.training_errors[end],
            None if self.held_out_errors is None else self.held_out_errors[end],
            self.networks[end],
            int(n_nodes),
            StopReason.N_NODES,
            self.seconds[end],
            self.indices[:n_steps],
            self.unit,
        )

    def with_feature_names(self, names: tuple[str, ...]) -> "SelectionPath":
        """Return the path with feature names in its networks."""
        networks = tuple(replace(network, feature_names=names) for network in self.networks)
        return replace(self, networks=networks)

    def __len__(self) -> int:
        return len(self.n_nodes)

    def __repr__(self) -> str:
        return (
            f"SelectionPath({len(self)} widths, kept {self.best_n_nodes} nodes, "
            f"training error {self.kept_error:.3g}, stop: {self.stop_reason.name})"
        )
