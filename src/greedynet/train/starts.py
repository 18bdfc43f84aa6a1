"""Random networks: the starting points of a training without the greedy algorithm."""

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils import check_random_state

from greedynet.activations import Activation, get_activation
from greedynet.model.network import Network
from greedynet.search.sphere import RandomState
from greedynet.support.checks import check_count
from greedynet.support.types import Float64

STANDARD_DEVIATION = 0.05  # of the paper's random starts
_BOUND = 2.0  # in standard deviations


def random_networks(
    n_networks: int,
    n_features: int,
    n_nodes: int,
    n_outputs: int = 1,
    *,
    activation: str | Activation = "relu",
    random_state: RandomState = 0,
) -> list[Network]:
    """Draw networks with random weights, as in the paper, and all biases zero.

    The weights are from `N(0, 0.05**2)`, truncated at two standard deviations.

    Parameters
    ----------
    n_networks : int
        Number of networks; the first ones do not depend on it.
    n_features, n_nodes, n_outputs : int
        Number of inputs, nodes and outputs of each. Without an affine term, every node is a neuron.
    activation : str or Activation, default="relu"
        Activation of the neurons.
    random_state : int, RandomState or None, default=0
        Seed of the weights.

    Returns
    -------
    networks : list of Network

    Examples
    --------
    >>> from greedynet.train import random_networks
    >>> first, second = random_networks(2, n_features=3, n_nodes=5)
    >>> first.inner_weights.shape, first.intercept
    ((5, 3), array([0.]))
    """
    counts = {"n_features": n_features, "n_nodes": n_nodes, "n_outputs": n_outputs}
    for name, value in {"n_networks": n_networks, **counts}.items():
        check_count(value, name)
    stream = check_random_state(random_state)
    return [
        Network(
            inner_weights=_truncated_normal(stream, n_features, n_nodes).T,
            biases=np.zeros(n_nodes),
            outer_weights=_truncated_normal(stream, n_nodes, n_outputs),
            intercept=np.zeros(n_outputs),
            activation=get_activation(activation),
            single_output=n_outputs == 1,
        )
        for _ in range(n_networks)
    ]


def _truncated_normal(stream: np.random.RandomState, *shape: int) -> Float64:
    # By the inverse distribution function: one draw per weight, without rejection.
    return np.asarray(
        STANDARD_DEVIATION * ndtri(stream.uniform(ndtr(-_BOUND), ndtr(_BOUND), shape))
    )
