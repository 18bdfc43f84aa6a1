"""
Smooth neurons
==============

On smooth functions without noise, networks with smooth activations reach much smaller errors.
``relu2`` and ``relu3`` give splines of degree 2 and 3 instead of piecewise linear functions. For
``gelu`` and ``tanh``, the search also determines how sharply a neuron bends.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.paper import load_example

example = load_example(2)
x, y = example.X_test[:, 0], example.y_test
order = np.argsort(x)
x, y = x[order], y[order]

figure, axes = plt.subplots(
    2, 4, figsize=(11, 4), layout="constrained", height_ratios=(2, 1), sharey="row"
)
for (top, bottom), activation in zip(axes.T, ("relu", "relu2", "relu3", "gelu"), strict=True):
    model = GreedyNetRegressor(activation=activation).fit(
        example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val
    )
    errors = np.abs(model.predict(x[:, None]) - y)
    error = np.linalg.norm(errors) / np.linalg.norm(y)
    top.plot(x, y, ":", color="#1f2430", lw=1)
    top.plot(x, model.predict(x[:, None]), color="#d1495b", lw=1.5)
    top.set_title(f"{activation}: {model.n_nodes_} nodes, {error:.0e}", fontsize=10)
    bottom.semilogy(x, np.maximum(errors, 1e-9), color="#2f6690", lw=0.8)
axes[0, 0].set_ylabel("network")
axes[1, 0].set_ylabel("|error|")
plt.show()

# %%
# On noisy tables they are overall no better than ``relu``: see :doc:`/measured`.
