"""Backpropagation: from a network to a better one (GSN 5), on JAX and optax.

May import everything up to `estimators`, which do not know it.

`train` returns a fitted regressor with a network that was trained on; `train_networks` trains
networks, such as `random_networks`. Needs the extra `train`: pip install "greedynet[train]".
"""

from greedynet.estimators.trained import TrainingResult
from greedynet.train.fit import train, train_networks
from greedynet.train.starts import random_networks

__all__ = ["TrainingResult", "random_networks", "train", "train_networks"]
