"""`Network`: a network of one hidden layer or of two."""

from typing import TypeGuard, TypeVar

from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.model.ramps import Ramps

Network = ShallowNetwork | DeepNetwork

# For what takes either of them and gives the same.
N = TypeVar("N", ShallowNetwork, DeepNetwork)


def in_layers(network: Network) -> tuple[Ramps | None, ShallowNetwork]:
    """Return the first layer of a network of two, and the network over it; None without ramps."""
    if isinstance(network, DeepNetwork):
        return network.ramps if network.ramps.n_ramps else None, network.over
    return None, network


def is_deep(network: Network) -> TypeGuard[DeepNetwork]:
    """Whether a network has two hidden layers."""
    return isinstance(network, DeepNetwork)
