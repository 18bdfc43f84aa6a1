"""Grow a network on noisy data and look at it.

    pip install -e ".[plots]" && python examples/first_network.py

Writes `first_network.png`: the network as it grows, the finished one, and the errors on the way.
"""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from greedynet import GreedyNetRegressor

INK, SOFT, ACCENT, SECOND = "#1f2430", "#b8bfcc", "#d1495b", "#2f6690"


def target(x):
    return np.sin(2 * np.pi * x) * np.exp(-(x**2)) + 0.6 * np.cos(9 * x) * np.exp(x / 2)


def draw_network(ax, network, x, y, grid):
    kinks = -network.biases / network.inner_weights[:, 0]
    inside = kinks[np.abs(kinks) < 1]
    ax.plot(x, y, ".", color=SOFT, ms=4, zorder=1)
    ax.plot(grid, target(grid), color=INK, lw=1, ls=":", zorder=2)
    ax.plot(grid, network.predict(grid[:, None]), color=ACCENT, lw=2, zorder=3)
    ax.plot(inside, np.full_like(inside, -2.35), "|", color=ACCENT, ms=9, mew=1.5)
    ax.set(xlim=(-1.03, 1.03), ylim=(-2.5, 2.2), xticks=[-1, 0, 1], yticks=[])


def draw_path(ax, model, grid):
    path, size = model.path_, np.linalg.norm(target(grid))
    n_nodes = path.n_nodes[path.n_nodes <= 20]
    networks = [path.network.truncate(int(n)) for n in n_nodes]
    true_errors = [np.linalg.norm(g.predict(grid[:, None]) - target(grid)) / size for g in networks]
    errors = path.training_errors[: len(n_nodes)]
    ax.plot(n_nodes, errors, color=SECOND, lw=2)
    ax.plot(n_nodes, true_errors, color=ACCENT, lw=2)
    finished = np.linalg.norm(model.predict(grid[:, None]) - target(grid)) / size
    ax.plot(model.n_nodes_, finished, "o", color=ACCENT)
    ax.axvline(model.n_nodes_, color=INK, lw=1, ls=":")
    last = n_nodes[-1]
    ax.text(last, errors[-1] + 0.03, "to the data", color=SECOND, ha="right")
    ax.text(last, true_errors[-1] + 0.03, "to the truth", color=ACCENT, ha="right")
    ax.set(xlabel="nodes", title="relative error", ylim=(0, 1))


def main():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 300))
    y = target(x) + 0.15 * rng.standard_normal(len(x))

    model = GreedyNetRegressor(max_nodes=30).fit(x[:, None], y)
    print(model.network_.describe())
    print(model.stop_reason_)

    grid = np.linspace(-1, 1, 1000)
    error = np.linalg.norm(model.predict(grid[:, None]) - target(grid))
    print(f"relative error against the true function: {error / np.linalg.norm(target(grid)):.3f}")

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
    for ax, n_nodes in zip(axes, (4, 7), strict=False):
        draw_network(ax, model.path_.network.truncate(n_nodes), x, y, grid)
        ax.set_title(f"grown to {n_nodes} nodes")
    draw_network(axes[2], model.network_, x, y, grid)
    axes[2].set_title(f"finished: {model.n_nodes_} nodes")
    draw_path(axes[3], model, grid)
    out = Path("first_network.png")
    figure.savefig(out, dpi=150)
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
