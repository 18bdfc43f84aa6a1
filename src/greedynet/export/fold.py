"""The affine term as neurons, for formats that only have layers.

    l . x  =  (sigma(l . x) - sigma(-l . x)) / s,    s = sigma(1) - sigma(-1)

for every sigma for which this difference is linear: ReLU, leaky ReLU, GELU and softplus.
"""

from dataclasses import replace

import numpy as np

from greedynet.activations import Activation, odd_part
from greedynet.model.network import Network


def fold_affine(network: Network) -> Network:
    """Return the same function without a linear term; the intercept remains as output bias.

    This adds two neurons for each output, or two for each input of the neurons if these are fewer
    than the outputs. With two hidden layers, they are neurons of the second one.

    Parameters
    ----------
    network : Network
        Returned unchanged if it has no linear term.

    Returns
    -------
    network : Network
        With the new neurons last and `linear_weights=None`.
    """
    if network.linear_weights is None:
        return network
    scale = _odd_part(network.activation)
    # l = a c: the linear weights as inner weights and the identity as outer ones, or vice versa.
    if network.n_outputs <= network.n_lifted:
        a, c = network.linear_weights.T, np.eye(network.n_outputs)
    else:
        a, c = np.eye(network.n_lifted), network.linear_weights
    return replace(
        network,
        inner_weights=np.vstack([network.inner_weights, a, -a]),
        biases=np.concatenate([network.biases, np.zeros(2 * len(a))]),
        outer_weights=np.vstack([network.outer_weights, c / scale, -c / scale]),
        linear_weights=None,
    )


def folds(network: Network) -> bool:
    """Whether the network consists of plain layers, or can be converted by `fold_affine`."""
    return not network.has_affine_term or odd_part(network.activation) is not None


def with_hidden_layer(network: Network) -> Network:
    """Return the network, with a neuron of zero weights if it has none: layers cannot be empty."""
    if network.n_neurons:
        return network
    return replace(
        network,
        inner_weights=np.zeros((1, network.n_lifted)),
        biases=np.zeros(1),
        outer_weights=np.zeros((1, network.n_outputs)),
    )


def _odd_part(activation: Activation) -> float:
    """The `s` of `sigma(z) - sigma(-z) = s z`."""
    s = odd_part(activation)
    if s is None:
        raise ValueError(
            f"`fold_affine` must be False for the activation {activation.name!r}: two of its "
            "neurons cannot form a linear function. Write `fold_affine=False`."
        )
    return s
