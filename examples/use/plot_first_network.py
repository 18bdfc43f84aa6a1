"""
A first network
===============

A network is grown on three hundred noisy measurements until more neurons would only fit noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor


def target(x):
    return np.sin(2 * np.pi * x) * np.exp(-(x**2)) + 0.6 * np.cos(9 * x) * np.exp(x / 2)


rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 300))
y = target(x) + 0.15 * rng.standard_normal(len(x))

model = GreedyNetRegressor(max_nodes=30).fit(x[:, None], y)

# %%
# Print a description of the network and the reason why it stopped growing.

print(model.network_.describe())
print(model.stop_reason_)

# %%
# Networks of every width along the growth are available without refitting. The finished network is
# not one of them: its neurons were corrected jointly, and some were pruned.

INK, SOFT, RED, BLUE = "#1f2430", "#b8bfcc", "#d1495b", "#2f6690"
grid = np.linspace(-1, 1, 1000)


def draw_network(ax, network):
    kinks = -network.biases / network.inner_weights[:, 0]
    inside = kinks[np.abs(kinks) < 1]
    ax.plot(x, y, ".", color=SOFT, ms=4, zorder=1)
    ax.plot(grid, target(grid), color=INK, lw=1, ls=":", zorder=2)
    ax.plot(grid, network.predict(grid[:, None]), color=RED, lw=2, zorder=3)
    ax.plot(inside, np.full_like(inside, -2.35), "|", color=RED, ms=9, mew=1.5)
    ax.set(xlim=(-1.03, 1.03), ylim=(-2.5, 2.2), xticks=[-1, 0, 1], yticks=[])


def true_error(network):
    errors = network.predict(grid[:, None]) - target(grid)
    return np.linalg.norm(errors) / np.linalg.norm(target(grid))


def draw_path(ax, path):
    widths = path.n_nodes[path.n_nodes <= 20]
    to_truth = [true_error(path.network_at(int(width))) for width in widths]
    to_data = path.training_errors[: len(widths)]
    ax.plot(widths, to_data, color=BLUE, lw=2)
    ax.plot(widths, to_truth, color=RED, lw=2)
    ax.plot(model.n_nodes_, true_error(model.network_), "o", color=RED)
    ax.axvline(model.n_nodes_, color=INK, lw=1, ls=":")
    ax.text(widths[-1], to_data[-1] + 0.03, "to the data", color=BLUE, ha="right")
    ax.text(widths[-1], to_truth[-1] + 0.03, "to the truth", color=RED, ha="right")
    ax.set(xlabel="nodes", title="relative error", ylim=(0, 1))


plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
for ax, n_nodes in zip(axes[:2], (4, 7), strict=True):
    draw_network(ax, model.path_.network_at(n_nodes))
    ax.set_title(f"grown to {n_nodes} nodes")
draw_network(axes[2], model.network_)
axes[2].set_title(f"finished: {model.n_nodes_} nodes")
draw_path(axes[3], model.path_)
plt.show()

# %%
# Grey: the measurements. Dotted: the true function. Red: the network, with its kinks marked below.
# The dot marks the finished network.
