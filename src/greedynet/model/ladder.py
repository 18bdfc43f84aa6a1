"""`Ladder`: the candidates of a fit, from the mean to wide networks, and their errors."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

MEAN, LINE, NETWORK, LEVELLED = "mean", "line", "network", "levelled network"
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# By the number of networks.
AVERAGES = {n: f"average of {word}" for n, word in enumerate(_WORDS, start=2)}
MOST_NETWORKS = max(AVERAGES)
CURVES, _TWO_LAYERS = "curves of single columns", ", two layers"
_RAMPS = ", of ramps"
# Of a classifier, whose line is a logistic regression.
SHARES, BLEND = "class shares", "blend"


@dataclass(frozen=True, eq=False)
class Ladder:
    """Candidates in the order of their size, each scored on rows that it has not seen.

    Attributes
    ----------
    kinds : ndarray of str of shape (n_candidates,)
        "mean", "line", "network"; "average of two" or more networks of less width; or
        "levelled network", which is constant far outside the training rows. With two layers,
        "curves of single columns" instead of a line, and ", two layers" at the end of others; with
        neurons that level off, ", of ramps" at the end.
        Of a classifier: "class shares", "line", a logistic regression, "network"; or "blend", the
        chosen mixture of them.
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
    def is_deep(self) -> NDArray[np.bool_]:
        """Which candidates have two layers."""
        kinds = self.kinds.tolist()
        return np.array([kind == CURVES or kind.endswith(_TWO_LAYERS) for kind in kinds])

    @property
    def n_networks(self) -> int:
        """Number of networks of which the choice is the average."""
        return next((n for n, name in AVERAGES.items() if self.kind.startswith(name)), 1)

    @property
    def width_of_each(self) -> int:
        """Number of neurons of each of these networks."""
        return self.width // self.n_networks

    def of_two_layers(self) -> "Ladder":
        """Return the candidates, named as those over a first layer: a line is a sum of curves."""
        names = {MEAN: MEAN, SHARES: SHARES, LINE: CURVES}
        kinds = [names.get(kind, f"{kind}{_TWO_LAYERS}") for kind in self.kinds.tolist()]
        return replace(self, kinds=np.array(kinds))

    def of_ramps(self) -> "Ladder":
        """Return the candidates, named as those of neurons that level off, of two ReLUs each."""
        kinds = self.kinds.tolist()
        named = [
            kind if n == 0 else f"{kind}{_RAMPS}"
            for kind, n in zip(kinds, self.n_neurons, strict=True)
        ]
        return replace(self, kinds=np.array(named), n_neurons=2 * self.n_neurons)

    def beside(self, other: "Ladder", *, other_wins: bool) -> "Ladder":
        """Return the candidates of both, the constant once, with the choice of one of them."""
        constants = (MEAN, SHARES)
        new = np.flatnonzero(~np.isin(other.kinds, constants))
        won = other if other_wins else self
        chosen = len(self) + int(np.searchsorted(new, other.chosen)) if other_wins else self.chosen
        return Ladder(
            np.concatenate([self.kinds, other.kinds[new]]),
            np.concatenate([self.n_neurons, other.n_neurons[new]]),
            np.concatenate([self.errors, other.errors[new]]),
            chosen if won.kind not in constants else int(np.argmax(np.isin(self.kinds, constants))),
            won.pruned,
            won.score,
        )

    @property
    def expected_error(self) -> float:
        """Error of the chosen candidate on held-out rows."""
        return float(self.errors[self.chosen])

    @property
    def is_levelled(self) -> bool:
        """Whether the choice is constant far outside the training rows."""
        return self.kind.startswith(LEVELLED)

    def __str__(self) -> str:
        """Return a table."""
        wide = 2 + max(16, *map(len, self.kinds.tolist()))
        lines = [f"{'candidate':{wide}}{'neurons':>8}{'error':>12}"]
        for i, (kind, n, error) in enumerate(
            zip(self.kinds, self.n_neurons, self.errors, strict=True)
        ):
            mark = "  <- chosen" if i == self.chosen else ""
            lines.append(f"{kind:{wide}}{n:8d}{error:12.4g}{mark}")
        return "\n".join(lines)
