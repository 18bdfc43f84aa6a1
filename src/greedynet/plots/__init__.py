"""Pictures of data, networks and transforms, as scikit-learn's displays.

A display holds what it draws. `from_...` computes and draws it, `plot(ax=...)` draws it again; the
artists are attributes that end in an underscore. Matplotlib is imported when something is drawn: it
comes with the extra `plots`, pip install "greedynet[plots]".
"""

from greedynet.plots.approximation import ApproximationDisplay
from greedynet.plots.collapsed import CollapsedDisplay
from greedynet.plots.effect import EffectDisplay
from greedynet.plots.neurons import NeuronsDisplay
from greedynet.plots.path import PathDisplay
from greedynet.plots.ridgelet import RidgeletDisplay
from greedynet.plots.sphere import SphereDisplay
from greedynet.plots.training import TrainingDisplay

__all__ = [
    "ApproximationDisplay",
    "CollapsedDisplay",
    "EffectDisplay",
    "NeuronsDisplay",
    "PathDisplay",
    "RidgeletDisplay",
    "SphereDisplay",
    "TrainingDisplay",
]
