"""greedynet: small neural networks, built neuron by neuron.

A one-hidden-layer ReLU network is grown greedily, each neuron the best next one, until validation
says stop: the method of the paper *Greedy Shallow Networks*, and beyond.
"""

from greedynet.errors import FewerNodesWarning
from greedynet.estimators import GreedyNetRegressor
from greedynet.network import ShallowNetwork
from greedynet.path import SelectionPath
from greedynet.ridgelet import (
    CollapsedTransform,
    RidgeletTransform,
    collapsed_ridgelet_transform,
    ridgelet_transform,
)
from greedynet.stopping import StopReason

__version__ = "0.1.0"

__all__ = [
    "CollapsedTransform",
    "FewerNodesWarning",
    "GreedyNetRegressor",
    "RidgeletTransform",
    "SelectionPath",
    "ShallowNetwork",
    "StopReason",
    "collapsed_ridgelet_transform",
    "ridgelet_transform",
]
