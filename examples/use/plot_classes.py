"""
Classification
==============

Two spirals, classified with 8 nodes, with 16 nodes, and with the number that the classifier
chooses.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetClassifier

rng = np.random.default_rng(0)
t, label = np.sqrt(rng.random(600)) * 3 * np.pi, rng.integers(0, 2, 600)
X = np.column_stack([t * np.cos(t + np.pi * label), t * np.sin(t + np.pi * label)]) / 5
X += rng.normal(0, 0.08, X.shape)

grid = np.linspace(-2.1, 2.1, 200)
points = np.column_stack([m.ravel() for m in np.meshgrid(grid, grid)])
figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, n_nodes in zip(axes, (8, 16, None), strict=True):
    model = GreedyNetClassifier(n_nodes).fit(X, label)
    p = model.predict_proba(points)[:, 1].reshape(len(grid), -1)
    ax.pcolormesh(grid, grid, p, cmap="RdBu", vmin=-1, vmax=2, rasterized=True)
    ax.contour(grid, grid, p, [0.5], colors="#1f2430", linewidths=1)
    for value, colour in ((0, "#d1495b"), (1, "#2f6690")):
        ax.plot(*X[label == value].T, ".", color=colour, ms=3)
    chosen = "" if n_nodes else " (chosen)"
    accuracy = 100 * model.score(X, label)
    ax.set_title(f"{model.n_nodes_} nodes{chosen}, {accuracy:.1f} % correct", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# The shading shows the probability of the blue class, and the line shows where it is one half. The
# accuracies are those on the training rows; :doc:`/measured` reports accuracies on held-out rows.
