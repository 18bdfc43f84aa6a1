"""Networks whose weights prove their shape."""

from dataclasses import replace

import numpy as np

from greedynet.model.network import Network
from greedynet.rows.shape import Shape


def in_shape(network: Network, shape: Shape) -> Network:
    """Return a network with the slopes that its shape needs, where these are lost in rounding."""
    if network.linear_weights is None:
        return network
    slopes = network.linear_weights[:, 0]
    least = shape.least(network.inner_weights, network.outer_weights[:, 0])
    is_less = shape.monotone * (slopes - least) < 0
    return replace(network, linear_weights=np.where(is_less, least, slopes)[:, None])


def proves_shape(network: Network, shape: Shape) -> bool:
    """Whether the weights of a network prove its shape."""
    linear, lifted = network.linear_weights, shape.of_columns(network.lifted_from)
    slopes = np.zeros(network.n_lifted) if linear is None else linear[:, 0]
    return lifted.is_of(network.inner_weights, network.outer_weights[:, 0], slopes, network.biases)
