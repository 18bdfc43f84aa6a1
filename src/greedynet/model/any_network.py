"""`Network`: a network of one hidden layer or of two."""

from typing import Any, TypeGuard

from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork

Network = ShallowNetwork | DeepNetwork


def is_network(value: Any) -> TypeGuard[Network]:
    """Whether a value is a network, and not an estimator that has one."""
    return isinstance(value, ShallowNetwork | DeepNetwork)


def is_deep(network: Network) -> TypeGuard[DeepNetwork]:
    """Whether a network has two hidden layers."""
    return isinstance(network, DeepNetwork)
