"""Neurons that rise between two plateaus, for monotone networks.

A sum of monotone ReLUs cannot level off on both sides (`rows/shape.py`), and effects often do: a
dose, a discount, a share. So where a network must be monotone, another one is constructed of ramps

    ramp(z) = min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1,    z = w . x + b,

in any direction, with the same conditions on their weights, because their slopes, too, lie between
0 and 1. It becomes a network of twice as many ReLUs, and is kept if it is better on held-out rows.
"""

from dataclasses import replace

import numpy as np

from greedynet.activations import ReLU
from greedynet.activations.ramp import Ramp
from greedynet.fitting.plan import Plan
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath


def saturating(plan: Plan) -> Plan | None:
    """Return the plan of a network of ramps; None where there is no use for one."""
    shape, (most, left) = plan.shape, divmod(plan.limits.max_neurons, 2)
    if shape is None or shape.convex.any() or plan.activation != ReLU():
        return None
    if most < 1 or (plan.limits.exact and left):
        return None
    limits = replace(plan.limits, max_neurons=most)
    return replace(plan, activation=Ramp(), limits=limits)


def finished_with(path: ShallowPath, ramps: ShallowPath) -> ShallowPath:
    """Return a path of ReLUs that ends with the network that was constructed of ramps."""
    network = of_relus(ramps.kept)
    return replace(
        path,
        best_n_nodes=network.n_nodes,
        stop_reason=ramps.stop_reason,
        finished=network,
        finished_error=ramps.kept_error,
        finished_score=None,
        expected_error=ramps.expected_error,
        evidence=ramps.evidence,
    )


def of_relus(network: ShallowNetwork) -> ShallowNetwork:
    """Return a network of ramps as one of ReLUs, two for each of its neurons."""
    inner, b, outer = network.inner_weights, network.biases, network.outer_weights
    assert network.intercept is not None
    return replace(
        network,
        inner_weights=np.repeat(inner, 2, axis=0),
        biases=np.column_stack([b + 1.0, b - 1.0]).ravel(),
        outer_weights=np.stack([outer, -outer], axis=1).reshape(-1, outer.shape[1]),
        intercept=network.intercept - outer.sum(axis=0),
        activation=ReLU(),
        path_factor=None,
    )
