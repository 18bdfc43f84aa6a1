"""Random networks: the starting points of a training without the greedy algorithm."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils import check_random_state

from greedynet.activations import Activation, get_activation
from greedynet.model.network import Network
from greedynet.search.sphere import RandomState
from greedynet.support.checks import check_count
from greedynet.support.types import Float64

Init = Literal["truncated_normal", "glorot", "he"]

STANDARD_DEVIATION = 0.05  # of the paper's random starts
_BOUND = 2.0  # in standard deviations
# Standard deviation of a standard normal variable truncated at two standard deviations.
_SHRINKAGE = float(
    np.sqrt(1 - 2 * _BOUND * np.exp(-(_BOUND**2) / 2) / np.sqrt(2 * np.pi) / (2 * ndtr(_BOUND) - 1))
)


def random_networks(
    n_networks: int,
    n_features: int,
    n_nodes: int,
    n_outputs: int = 1,
    *,
    init: Init = "truncated_normal",
    activation: str | Activation = "relu",
    random_state: RandomState = 0,
) -> list[Network]:
    """Draw networks with random weights and all biases zero.

    A layer of `p` inputs and `q` outputs gets weights from

    - "truncated_normal": `N(0, 0.05**2)`, truncated at two standard deviations, as in the paper;
    - "glorot": the uniform distribution on `[-s, s]` with `s = sqrt(6 / (p + q))`;
    - "he": a normal distribution truncated at two standard deviations, of variance `2 / p`.

    Parameters
    ----------
    n_networks : int
        Number of networks; the first ones do not depend on it.
    n_features, n_nodes, n_outputs : int
        Number of inputs, nodes and outputs of each. Without an affine term, every node is a neuron.
    init : {"truncated_normal", "glorot", "he"}, default="truncated_normal"
        Distribution of the weights.
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
    if init not in _DRAWS:
        raise ValueError(f"`init` must be one of {sorted(_DRAWS)}, got {init!r}.")
    stream = check_random_state(random_state)
    draw = _DRAWS[init]
    return [
        Network(
            inner_weights=draw(stream, n_features, n_nodes).T,
            biases=np.zeros(n_nodes),
            outer_weights=draw(stream, n_nodes, n_outputs),
            intercept=np.zeros(n_outputs),
            activation=get_activation(activation),
            single_output=n_outputs == 1,
        )
        for _ in range(n_networks)
    ]


def _truncated_normal(stream: np.random.RandomState, p: int, q: int) -> Float64:
    # By the inverse distribution function: one draw per weight, without rejection.
    return np.asarray(
        STANDARD_DEVIATION * ndtri(stream.uniform(ndtr(-_BOUND), ndtr(_BOUND), (p, q)))
    )


def _glorot(stream: np.random.RandomState, p: int, q: int) -> Float64:
    limit = np.sqrt(6 / (p + q))
    return stream.uniform(-limit, limit, (p, q))


def _he(stream: np.random.RandomState, p: int, q: int) -> Float64:
    deviation = np.sqrt(2 / p) / _SHRINKAGE
    return _truncated_normal(stream, p, q) * (deviation / STANDARD_DEVIATION)


_DRAWS: dict[str, Callable[[np.random.RandomState, int, int], Float64]] = {
    "truncated_normal": _truncated_normal,
    "glorot": _glorot,
    "he": _he,
}
