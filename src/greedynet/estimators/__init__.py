"""The scikit-learn estimators: they validate, call `fitting.construct`, and store the result.

May import everything up to `fitting`. Contains only the interface that scikit-learn users expect:
parameters, inputs, checkpoints, saving.
"""

from greedynet.estimators.classifier import GreedyNetClassifier
from greedynet.estimators.regressor import GreedyNetRegressor

__all__ = ["GreedyNetClassifier", "GreedyNetRegressor"]
