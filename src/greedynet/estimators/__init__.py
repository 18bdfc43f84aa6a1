"""The scikit-learn estimators: they validate, call the algorithm, and store.

The algorithm is in `construct.py`, and in `classify.py` for classes; here stands only what
scikit-learn's users expect around it.
"""

from greedynet.estimators.classifier import GreedyNetClassifier
from greedynet.estimators.regressor import GreedyNetRegressor

__all__ = ["GreedyNetClassifier", "GreedyNetRegressor"]
