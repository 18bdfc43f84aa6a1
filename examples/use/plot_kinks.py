"""
Kinks in the plane
==================

Each neuron of two inputs creates a fold along a line in the plane. If a function consists of folds,
the network finds them; a smooth function is approximated by many folds.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.plots import ApproximationDisplay, NeuronsDisplay


def roof(X):
    return np.maximum(X[:, 0] + 0.5 * X[:, 1], 0) - 2 * np.maximum(X[:, 1] - 0.2, 0)


def hill(X):
    return np.exp(-3 * (X**2).sum(axis=1))


rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (800, 2))
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, function, n_nodes in zip(axes, (roof, hill), (4, 40), strict=True):
    model = GreedyNetRegressor(n_nodes).fit(X, function(X))
    NeuronsDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"{function.__name__}: {n_nodes} nodes", loc="right")
plt.show()

# %%
# The roof has two folds, and two neurons find them; with the affine term, this makes four nodes.
# The approximation of the hill with 40 nodes:

ApproximationDisplay.from_estimator(model, X, target=hill)
plt.show()
