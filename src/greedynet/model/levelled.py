"""Networks that level off outside the training rows.

A ReLU network continues as an affine function beyond its rows, and where inputs have heavy tails,
new rows lie far beyond them. A levelled network is constant along each of its directions outside
the range of the rows in that direction; on the rows it is the same network.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import ShallowNetwork


def levelled(network: ShallowNetwork, X: NDArray[np.floating]) -> ShallowNetwork:
    """Return a ReLU network with an affine term that levels off outside the rows of `X`.

    With the largest values `z_j = max_i a_j . x_i + b_j`, each neuron becomes

        c_j relu(a_j . x + b_j) - c_j relu(a_j . x + b_j - z_j),

    and the linear part `l . x`, between its extremes `u` and `v` on the rows,

        u + relu(l . x - u) - relu(l . x - v).
    """
    assert network.linear_weights is not None
    assert network.intercept is not None
    inner, biases, outer = network.inner_weights, network.biases, network.outer_weights
    largest = (X @ inner.T + biases).max(axis=0, initial=-np.inf)
    # A neuron that is never active on the rows would begin outside them.
    active = largest > 0
    inner, biases, outer, largest = inner[active], biases[active], outer[active], largest[active]
    linear = X @ network.linear_weights
    low, high = linear.min(axis=0), linear.max(axis=0)
    slopes, signs = network.linear_weights.T, np.eye(network.n_outputs)
    zeros = np.zeros_like(network.linear_weights)
    return replace(
        network,
        inner_weights=np.concatenate([inner, inner, slopes, slopes]),
        biases=np.concatenate([biases, biases - largest, -low, -high]),
        outer_weights=np.concatenate([outer, -outer, signs, -signs]),
        linear_weights=zeros,
        intercept=network.intercept + low,
        path_factor=None,
    )
