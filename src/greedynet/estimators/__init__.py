"""The scikit-learn estimators: they validate, call `fitting.construct`, and store the result.

May import everything up to `train`. Here stands only what users of scikit-learn expect around the
algorithm: parameters, inputs, checkpoints, saving.
"""

from greedynet.estimators.classifier import GreedyNetClassifier
from greedynet.estimators.regressor import GreedyNetRegressor

__all__ = ["GreedyNetClassifier", "GreedyNetRegressor"]
