"""Displays: pictures of networks, paths and data, in the manner of scikit-learn.

May import everything up to `tables`; export, report and dask do not know it, nor it them.

A display holds the values it draws: `from_...` computes and draws them, `plot(ax=...)` draws them
again, and the artists are attributes that end in an underscore. Matplotlib is imported when
something is drawn; it comes with the extra `plots`: pip install "greedynet[plots]".
"""

from greedynet.plots.approximation import ApproximationDisplay
from greedynet.plots.collapsed import CollapsedDisplay
from greedynet.plots.curves import CurvesDisplay
from greedynet.plots.effect import EffectDisplay
from greedynet.plots.learning import LearningCurveDisplay
from greedynet.plots.neurons import NeuronsDisplay
from greedynet.plots.path import PathDisplay
from greedynet.plots.ridgelet import RidgeletDisplay
from greedynet.plots.sphere import SphereDisplay
from greedynet.plots.training import TrainingDisplay

__all__ = [
    "ApproximationDisplay",
    "CollapsedDisplay",
    "CurvesDisplay",
    "EffectDisplay",
    "LearningCurveDisplay",
    "NeuronsDisplay",
    "PathDisplay",
    "RidgeletDisplay",
    "SphereDisplay",
    "TrainingDisplay",
]
