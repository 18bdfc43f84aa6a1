"""Networks whose weights prove their shape."""

from dataclasses import replace

import numpy as np

from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.rows.shape import Shape


def in_shape(network: ShallowNetwork, shape: Shape) -> ShallowNetwork:
    """Return a network with the slopes that its shape needs, where these are lost in rounding.

    Parameters
    ----------
    network : ShallowNetwork
        Of one output.
    shape : Shape
        Along its inputs.
    """
    if network.linear_weights is None:
        return network
    slopes = network.linear_weights[:, 0]
    least = shape.least(network.inner_weights, network.outer_weights[:, 0])
    is_less = shape.monotone * (slopes - least) < 0
    return replace(network, linear_weights=np.where(is_less, least, slopes)[:, None])


def proves_shape(network: Network, shape: Shape) -> bool:
    """Whether the weights of a network prove its shape."""
    if isinstance(network, DeepNetwork):
        return proves_shape(network.over, shape.of_columns(network.ramps.lifted_from))
    linear = network.linear_weights
    slopes = np.zeros(network.n_features) if linear is None else linear[:, 0]
    return shape.is_of(network.inner_weights, network.outer_weights[:, 0], slopes, network.biases)
