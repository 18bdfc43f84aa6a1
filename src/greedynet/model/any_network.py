"""`Network`: a network of one hidden layer or of two."""

from typing import TypeGuard

from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork

Network = ShallowNetwork | DeepNetwork


def is_deep(network: Network) -> TypeGuard[DeepNetwork]:
    """Whether a network has two hidden layers."""
    return isinstance(network, DeepNetwork)
