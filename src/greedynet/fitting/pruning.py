"""Pruning: remove neurons, a fraction at a time, as long as the score permits."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from greedynet.fitting.settings import PruningSettings


class HasNeurons(Protocol):
    """A network in any representation."""

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        ...


N = TypeVar("N", bound=HasNeurons)


def prune(
    network: N,
    narrowed: Callable[[N, int], N],
    score: Callable[[N], float],
    settings: PruningSettings,
) -> N:
    """Return the network, or a narrower one with as good a score.

    Parameters
    ----------
    network : any
        The initial network.
    narrowed : callable
        Takes a network and a number of neurons; returns the network with that many neurons.
    score : callable
        Smaller is better.
    settings : PruningSettings
    """
    best, lowest, worse = network, score(network), 0
    while network.n_neurons > 0 and worse < settings.patience:
        network = narrowed(network, int(network.n_neurons * settings.kept_share))
        found = score(network)
        if found < settings.as_good * lowest:
            best, lowest, worse = network, min(lowest, found), 0
        else:
            worse += 1
    return best
