"""Backpropagation: from a network to a better one (GSN 5), on JAX and optax.

May import everything up to `fitting`; does not know `estimators`, which call it lazily as an extra.

`train` starts from any network, a greedy one or one of the `random_networks`; `train_many` trains
several at once. Needs the extra `train`: pip install "greedynet[train]".
"""

from greedynet.train.fit import train, train_many
from greedynet.train.result import TrainingResult
from greedynet.train.starts import random_networks

__all__ = ["TrainingResult", "random_networks", "train", "train_many"]
