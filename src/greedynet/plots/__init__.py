"""Displays: pictures of networks, paths and data, in the manner of scikit-learn.

May import everything up to `views`; export, report and dask do not know it, nor it them.

A display holds the values it draws: `from_...` computes and draws them, `plot(ax=...)` draws them
again, and the artists are attributes that end in an underscore. Matplotlib is imported when
something is drawn; it comes with the extra `plots`: pip install "greedynet[plots]".

What scikit-learn has a display for is drawn by it: `draw_learning_curve` returns one, and its
`PartialDependenceDisplay`, `PredictionErrorDisplay`, `ConfusionMatrixDisplay`, `CalibrationDisplay`
and `RocCurveDisplay` take our estimators as they are.
"""

from greedynet.plots.approximation import ApproximationDisplay
from greedynet.plots.curves import CurvesDisplay
from greedynet.plots.learning import draw_learning_curve
from greedynet.plots.neurons import NeuronsDisplay
from greedynet.plots.path import PathDisplay

__all__ = [
    "ApproximationDisplay",
    "CurvesDisplay",
    "NeuronsDisplay",
    "PathDisplay",
    "draw_learning_curve",
]
