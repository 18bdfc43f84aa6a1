"""greedynet: small neural networks, built neuron by neuron.

A network with one hidden layer, or with two, is grown greedily: each step adds the best next
neuron, until the validation score stops improving. The method extends that of the paper *Greedy
Shallow Networks*.

Names and submodules are imported when they are first used, so that the command line starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
    from greedynet.estimators.checkpoint import checkpoint
    from greedynet.model.bounds import OutputBounds
    from greedynet.model.network import Network
    from greedynet.model.path import SelectionPath, StopReason
    from greedynet.model.uncertainty.expectation import Expectation
    from greedynet.model.uncertainty.outside import Outside
    from greedynet.report import write_report
    from greedynet.search.ridgelet import (
        CollapsedTransform,
        collapsed_ridgelet_transform,
        ridgelet_transform,
    )
    from greedynet.support.errors import (
        CheckpointWarning,
        FewerNodesWarning,
        FewHeldOutRowsWarning,
        NotCorrectedWarning,
        TableWarning,
    )
    from greedynet.support.tensorfile import ModelFileError
    from greedynet.tables.fit import fit_table
    from greedynet.tables.learning import LearningCurve, learning_curve
    from greedynet.tables.load import load
    from greedynet.tables.model import TableModel

__version__ = "0.1.0"

__all__ = [
    "CheckpointWarning",
    "CollapsedTransform",
    "Expectation",
    "FewHeldOutRowsWarning",
    "FewerNodesWarning",
    "GreedyNetClassifier",
    "GreedyNetRegressor",
    "LearningCurve",
    "ModelFileError",
    "Network",
    "NotCorrectedWarning",
    "OutputBounds",
    "Outside",
    "SelectionPath",
    "StopReason",
    "TableModel",
    "TableWarning",
    "checkpoint",
    "collapsed_ridgelet_transform",
    "fit_table",
    "learning_curve",
    "load",
    "ridgelet_transform",
    "write_report",
]

_HOMES = {
    "CheckpointWarning": "support.errors",
    "CollapsedTransform": "search.ridgelet",
    "Expectation": "model.uncertainty.expectation",
    "FewHeldOutRowsWarning": "support.errors",
    "FewerNodesWarning": "support.errors",
    "GreedyNetClassifier": "estimators",
    "GreedyNetRegressor": "estimators",
    "LearningCurve": "tables.learning",
    "ModelFileError": "support.tensorfile",
    "Network": "model.network",
    "NotCorrectedWarning": "support.errors",
    "OutputBounds": "model.bounds",
    "Outside": "model.uncertainty.outside",
    "SelectionPath": "model.path",
    "StopReason": "model.path",
    "TableModel": "tables.model",
    "TableWarning": "support.errors",
    "checkpoint": "estimators.checkpoint",
    "collapsed_ridgelet_transform": "search.ridgelet",
    "fit_table": "tables.fit",
    "learning_curve": "tables.learning",
    "load": "tables.load",
    "ridgelet_transform": "search.ridgelet",
    "write_report": "report",
}
_SUBMODULES = frozenset(
    {"activations", "dask", "exact", "export", "losses", "paper", "plots", "search", "train"}
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"greedynet.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'greedynet' has no attribute {name!r}")
    value = getattr(import_module(f"greedynet.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Without its extra, `dask` is an error, which tools that ask for all names would meet.
    return sorted({*globals(), *__all__, *_SUBMODULES} - {"dask"})
