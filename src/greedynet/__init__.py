"""greedynet: small neural networks, built neuron by neuron.

A network of one hidden layer is grown greedily, each neuron the best next one, until validation
says stop: the method of the paper *Greedy Shallow Networks*, and beyond.

Names are imported when they are first used, so that the command line answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greedynet.errors import FewerNodesWarning
    from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
    from greedynet.modelfile import load
    from greedynet.network import ShallowNetwork
    from greedynet.path import SelectionPath
    from greedynet.report import write_report
    from greedynet.ridgelet import (
        CollapsedTransform,
        RidgeletTransform,
        collapsed_ridgelet_transform,
        ridgelet_transform,
    )
    from greedynet.stopping import StopReason
    from greedynet.tablefit import fit_table
    from greedynet.tablemodel import TableModel
    from greedynet.tensorfile import ModelFileError

__version__ = "0.1.0"

__all__ = [
    "CollapsedTransform",
    "FewerNodesWarning",
    "GreedyNetClassifier",
    "GreedyNetRegressor",
    "ModelFileError",
    "RidgeletTransform",
    "SelectionPath",
    "ShallowNetwork",
    "StopReason",
    "TableModel",
    "collapsed_ridgelet_transform",
    "fit_table",
    "load",
    "ridgelet_transform",
    "write_report",
]

_HOMES = {
    "CollapsedTransform": "ridgelet",
    "FewerNodesWarning": "errors",
    "GreedyNetClassifier": "estimators",
    "GreedyNetRegressor": "estimators",
    "ModelFileError": "tensorfile",
    "RidgeletTransform": "ridgelet",
    "SelectionPath": "path",
    "ShallowNetwork": "network",
    "StopReason": "stopping",
    "TableModel": "tablemodel",
    "collapsed_ridgelet_transform": "ridgelet",
    "fit_table": "tablefit",
    "load": "modelfile",
    "ridgelet_transform": "ridgelet",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'greedynet' has no attribute {name!r}")
    value = getattr(import_module(f"greedynet.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
