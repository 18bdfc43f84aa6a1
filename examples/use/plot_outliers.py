"""
Outliers
========

Ten of two hundred rows are outliers. They distort the fit with the squared loss, but hardly affect
the fits with the absolute loss and Huber's loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor


def target(x):
    return np.sin(5 * x) + 0.5 * np.abs(x)


rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 200))
y = target(x) + 0.1 * rng.standard_normal(len(x))
wrong = rng.choice(len(x), len(x) // 20, replace=False)
y[wrong] += rng.choice([-1, 1], len(wrong)) * rng.uniform(3, 8, len(wrong))

grid = np.linspace(-1, 1, 1000)
colours = {"squared_error": "#2f6690", "absolute_error": "#d1495b", "huber": "#3b8c6e"}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
for ax, (loss, colour) in zip(axes, colours.items(), strict=True):
    model = GreedyNetRegressor(loss=loss).fit(x[:, None], y)
    error = np.sqrt(np.mean((model.predict(grid[:, None]) - target(grid)) ** 2))
    ax.plot(x, y, ".", color="#b8bfcc", ms=4)
    ax.plot(grid, target(grid), ":", color="#1f2430", lw=1)
    ax.plot(grid, model.predict(grid[:, None]), color=colour, lw=2)
    ax.set_title(f'loss="{loss}": RMSE {error:.3f}', fontsize=10)
    ax.set(ylim=(-9, 9), xlabel="x")
plt.show()
