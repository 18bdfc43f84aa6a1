"""`Ladder`: the candidates of a fit, from the mean to wide networks, and their errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

MEAN, LINE, NETWORK, LEVELLED = "mean", "line", "network", "levelled network"
AVERAGE = "average of two"
# Of a classifier, whose line is a logistic regression.
SHARES, BLEND = "class shares", "blend"


@dataclass(frozen=True, eq=False)
class Ladder:
    """Candidates in the order of their size, each scored on rows that it has not seen.

    Attributes
    ----------
    kinds : ndarray of str of shape (n_candidates,)
        "mean", "line", "network"; "average of two", networks of half the width; or "levelled
        network", which is constant far outside the training rows. Of a classifier: "class shares",
        "line", a logistic regression, "network"; or "blend", the chosen mixture of them.
    n_neurons : ndarray of shape (n_candidates,)
        Number of neurons of each, before levelling.
    errors : ndarray of shape (n_candidates,)
        Root mean squared error on held-out rows, in the units of the output; for another loss, its
        mean; for classes, the mean log-loss.
    chosen : int
        Position of the candidate that was chosen.
    pruned : bool
        Whether the chosen network is pruned from a wider one.
    score : float or None
        Its mean squared error for outputs of unit variance, summed over the outputs, or its
        log-loss; None if nothing was decided.
    """

    kinds: NDArray[np.str_]
    n_neurons: NDArray[np.intp]
    errors: Float64
    chosen: int
    pruned: bool = False
    score: float | None = None

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def kind(self) -> str:
        """What was chosen."""
        return str(self.kinds[self.chosen])

    @property
    def width(self) -> int:
        """Number of neurons that were chosen."""
        return int(self.n_neurons[self.chosen])

    @property
    def n_networks(self) -> int:
        """Number of networks of which the choice is the average."""
        return 2 if self.kind == AVERAGE else 1

    @property
    def width_of_each(self) -> int:
        """Number of neurons of each of these networks."""
        return self.width // self.n_networks

    @property
    def expected_error(self) -> float:
        """Error of the chosen candidate on held-out rows."""
        return float(self.errors[self.chosen])

    @property
    def is_levelled(self) -> bool:
        """Whether the choice is constant far outside the training rows."""
        return self.kind == LEVELLED

    def __str__(self) -> str:
        """Return a table."""
        lines = [f"{'candidate':18}{'neurons':>8}{'error':>12}"]
        for i, (kind, n, error) in enumerate(
            zip(self.kinds, self.n_neurons, self.errors, strict=True)
        ):
            mark = "  <- chosen" if i == self.chosen else ""
            lines.append(f"{kind:18}{n:8d}{error:12.4g}{mark}")
        return "\n".join(lines)
