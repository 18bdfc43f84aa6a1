"""
The correction
==============

During the growth, each neuron is selected as the best one at that point and stays where it is while
others are added. At the end, all neurons are moved jointly.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor

x = np.linspace(-1, 1, 300)[:, None]
y = np.sin(4 * x[:, 0]) + 0.5 * np.cos(11 * x[:, 0])

figure, axes = plt.subplots(1, 2, figsize=(10, 3), layout="constrained", sharey=True)
for ax, correct in zip(axes, (False, True), strict=True):
    model = GreedyNetRegressor(n_nodes=10, correct=correct).fit(x, y)
    network = model.network_
    kinks = -network.biases / network.inner_weights[:, 0]
    error = np.linalg.norm(model.predict(x) - y) / np.linalg.norm(y)
    ax.plot(x, y, ":", color="#1f2430", lw=1)
    ax.plot(x, model.predict(x), color="#d1495b", lw=2)
    ax.plot(kinks, np.full_like(kinks, -1.9), "|", color="#d1495b", ms=9, mew=1.5)
    name = "corrected" if correct else "as grown"
    ax.set(title=f"{name}: {model.n_nodes_} nodes, error {error:.3f}", xlabel="x", ylim=(-2.1, 1.7))
    ax.set_xlim(-1.03, 1.03)
plt.show()

# %%
# How many nodes does the growth need to reach the same error without correction?

path = GreedyNetRegressor(n_nodes=40, correct=False).fit(x, y).path_
print(path.n_nodes[np.argmax(path.training_errors <= model.path_.kept_error)])
