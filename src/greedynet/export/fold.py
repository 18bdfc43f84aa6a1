"""The affine term as neurons, for targets that know only layers.

    l . x  =  (sigma(l . x) - sigma(-l . x)) / s,    s = sigma(1) - sigma(-1)

for every sigma of which that difference is linear: ReLU, leaky ReLU, GELU and softplus.
"""

from dataclasses import replace

import numpy as np

from greedynet.activations import Activation, odd_part
from greedynet.model.network import ShallowNetwork


def fold_affine(network: ShallowNetwork) -> ShallowNetwork:
    """Return the same function without a linear term; the intercept stays, as output bias.

    One output takes two more neurons. Several outputs take two for each, or two for each input
    where those are fewer.

    Parameters
    ----------
    network : ShallowNetwork
        Returned as it is if it has no linear term.

    Returns
    -------
    network : ShallowNetwork
        With the new neurons last and `linear_weights=None`.
    """
    if network.linear_weights is None:
        return network
    scale = _odd_part(network.activation)
    # l = a c: either the outputs' own weights and the identity behind them, or the other way round.
    if network.n_outputs <= network.n_features:
        a, c = network.linear_weights.T, np.eye(network.n_outputs)
    else:
        a, c = np.eye(network.n_features), network.linear_weights
    return replace(
        network,
        inner_weights=np.vstack([network.inner_weights, a, -a]),
        biases=np.concatenate([network.biases, np.zeros(2 * len(a))]),
        outer_weights=np.vstack([network.outer_weights, c / scale, -c / scale]),
        linear_weights=None,
        path_factor=None,
    )


def folds(network: ShallowNetwork) -> bool:
    """Whether the network is, or can be made, one of plain layers: `fold_affine` would take it."""
    return network.linear_weights is None or odd_part(network.activation) is not None


def with_hidden_layer(network: ShallowNetwork) -> ShallowNetwork:
    """Return the network, with a neuron of zero weights if it has none: no layer may be empty."""
    if network.n_neurons:
        return network
    return replace(
        network,
        inner_weights=np.zeros((1, network.n_features)),
        biases=np.zeros(1),
        outer_weights=np.zeros((1, network.n_outputs)),
        path_factor=None,
    )


def _odd_part(activation: Activation) -> float:
    """The `s` of `sigma(z) - sigma(-z) = s z`."""
    s = odd_part(activation)
    if s is None:
        raise ValueError(
            f"`fold_affine` must be False for the activation {activation.name!r}: two of its "
            "neurons do not make a linear function. Write `fold_affine=False`, or fit with "
            "`linear_term=False`."
        )
    return s
