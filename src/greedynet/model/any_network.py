"""`Network`: a network of one hidden layer or of two."""

from typing import TYPE_CHECKING, Any

from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` since Python 3.13

Network = ShallowNetwork | DeepNetwork


def is_network(value: Any) -> "TypeIs[Network]":
    """Whether a value is a network, and not an estimator that has one."""
    return isinstance(value, ShallowNetwork | DeepNetwork)


def is_deep(network: Network) -> "TypeIs[DeepNetwork]":
    """Whether a network has two hidden layers."""
    return isinstance(network, DeepNetwork)
