"""Fits on a dask cluster: the rows stay on the workers, the greedy loop runs on the client.

May import everything up to `tables`; export, plots and report do not know it, nor it them.
"""

from greedynet.support.files import require

require("distributed", "dask", "greedynet.dask")

from greedynet.dask.cluster import ClusterError  # noqa: E402
from greedynet.dask.estimators import (  # noqa: E402
    DaskGreedyNetClassifier,
    DaskGreedyNetRegressor,
)
from greedynet.dask.source import DaskSource  # noqa: E402

__all__ = ["ClusterError", "DaskGreedyNetClassifier", "DaskGreedyNetRegressor", "DaskSource"]
