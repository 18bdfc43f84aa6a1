"""`Network`: a network of one hidden layer or of two."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from greedynet.model.bounds import OutputBounds
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.model.ramps import Ramps

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` since Python 3.13

Network = ShallowNetwork | DeepNetwork

# For what takes either of them and gives the same.
N = TypeVar("N", ShallowNetwork, DeepNetwork)


def in_layers(network: Network) -> tuple[Ramps | None, ShallowNetwork]:
    """Return the first layer of a network of two, and the network over it; None without ramps."""
    if isinstance(network, DeepNetwork):
        return network.ramps if network.ramps.n_ramps else None, network.over
    return None, network


def with_bounds(network: Network, bounds: OutputBounds | None) -> Network:
    """Return a network with other bounds on its outputs, or without any."""
    if network.bounds is bounds:
        return network
    if isinstance(network, DeepNetwork):
        return replace(network, over=replace(network.over, bounds=bounds))
    return replace(network, bounds=bounds)


def is_network(value: Any) -> "TypeIs[Network]":
    """Whether a value is a network, and not an estimator that has one."""
    return isinstance(value, ShallowNetwork | DeepNetwork)


def is_deep(network: Network) -> "TypeIs[DeepNetwork]":
    """Whether a network has two hidden layers."""
    return isinstance(network, DeepNetwork)
