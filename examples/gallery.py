"""Pictures of other activations, other losses, and classes: those of docs/gallery.md.

    pip install -e ".[plots]" && python examples/gallery.py [--out DIR] [--only NAME ...]

Fits the paper's five examples with every homogeneous activation (a few minutes), prints the table
of test errors, and writes one picture each for one variable, two variables, four variables, wrong
rows, quantiles, and classes.
"""

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.paper import load_example

INK, SOFT, ACCENT, SECOND, THIRD = "#1f2430", "#b8bfcc", "#d1495b", "#2f6690", "#3b8c6e"
HOMOGENEOUS = ("relu", "leaky_relu", "abs", "relu2", "relu3")


def relative_error(model, X, y):
    return np.linalg.norm(model.predict(X) - y) / np.linalg.norm(y)


class Fits:
    """Networks of the paper's examples, fitted when they are asked for."""

    def __init__(self):
        self._fits = {}

    def __call__(self, number, activation):
        if (number, activation) not in self._fits:
            example = load_example(number)
            start = time.perf_counter()
            model = GreedyNetRegressor(activation=activation).fit(
                example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val
            )
            error = relative_error(model, example.X_test, example.y_test)
            seconds = time.perf_counter() - start
            print(f"example {number}, {activation}: {model.n_nodes_} nodes, {error:.2e}", end="")
            print(f", {seconds:.1f} s", flush=True)
            self._fits[number, activation] = model, error
        return self._fits[number, activation]

    def table(self):
        """The test errors, as a table in Markdown."""
        print("| example |", " | ".join(HOMOGENEOUS), "|")
        print("| --- |", " | ".join("---" for _ in HOMOGENEOUS), "|")
        for number in range(1, 6):
            found = [self(number, activation) for activation in HOMOGENEOUS]
            print(f"| {number} |", " | ".join(f"{e:.1e} ({m.n_nodes_})" for m, e in found), "|")


def one_variable(fits):
    """Examples 1 and 2: the network, its kinks, and what it misses."""
    figure, axes = plt.subplots(
        4, len(HOMOGENEOUS), figsize=(12, 7), layout="constrained", height_ratios=(2, 1, 2, 1)
    )
    for number in (1, 2):
        example = load_example(number)
        order = np.argsort(example.X_test[:, 0])
        x, y = example.X_test[order, 0], example.y_test[order]
        for column, activation in enumerate(HOMOGENEOUS):
            model, error = fits(number, activation)
            top, bottom = axes[2 * number - 2 : 2 * number, column]
            top.plot(x, y, color=INK, lw=1, ls=":")
            top.plot(x, model.predict(x[:, None]), color=ACCENT, lw=1.5)
            kinks = -model.network_.biases / model.network_.inner_weights[:, 0]
            inside = kinks[(kinks > x[0]) & (kinks < x[-1])]
            floor = y.min() - 0.12 * np.ptp(y)
            top.plot(inside, np.full_like(inside, floor), "|", color=ACCENT, ms=6)
            top.set_title(f"{activation}: {model.n_nodes_} nodes, {error:.1e}", fontsize=9)
            top.set(xticks=[], yticks=[])
            misses = np.abs(model.predict(x[:, None]) - y)
            bottom.semilogy(x, np.maximum(misses, 1e-9), color=SECOND, lw=0.8)
            bottom.set(ylim=(1e-7, 1), yticks=[1e-6, 1e-3, 1])
            if column:
                bottom.set_yticklabels([])
        axes[2 * number - 2, 0].set_ylabel(f"example {number}")
        axes[2 * number - 1, 0].set_ylabel("|error|")
    return figure


def two_variables(fits):
    """Examples 3 and 4: the function, and what each network misses of it."""
    figure, axes = plt.subplots(
        2, 1 + len(HOMOGENEOUS), figsize=(13, 4.9), layout="constrained", sharex="row", sharey="row"
    )
    grid = np.linspace(-1, 1, 150)
    for row, number in enumerate((3, 4)):
        example = load_example(number)
        low, high = example.X_test.min(axis=0), example.X_test.max(axis=0)
        a, b = low[0] + (grid + 1) / 2 * (high - low)[0], low[1] + (grid + 1) / 2 * (high - low)[1]
        points = np.column_stack([m.ravel() for m in np.meshgrid(a, b)])
        truth = example.target(points).reshape(len(grid), -1)
        axes[row, 0].pcolormesh(a, b, truth, cmap="Greys", rasterized=True)
        axes[row, 0].set_title(f"example {number}", fontsize=9)
        for ax, activation in zip(axes[row, 1:], HOMOGENEOUS, strict=True):
            model, error = fits(number, activation)
            misses = np.abs(model.predict(points).reshape(truth.shape) - truth)
            image = ax.pcolormesh(
                a,
                b,
                np.maximum(misses, 1e-9),
                norm=LogNorm(1e-5, 1e-1),
                cmap="magma",
                rasterized=True,
            )
            ax.set_title(f"{activation}: {model.n_nodes_} nodes, {error:.1e}", fontsize=9)
        figure.colorbar(image, ax=axes[row], label="|error|", extend="both")
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[], aspect="equal")
    return figure


def four_variables(fits):
    """Example 5: predicted against true values."""
    figure, axes = plt.subplots(
        1, len(HOMOGENEOUS), figsize=(12, 2.9), layout="constrained", sharex=True, sharey=True
    )
    example = load_example(5)
    for ax, activation in zip(axes, HOMOGENEOUS, strict=True):
        model, error = fits(5, activation)
        ax.plot(example.y_test, model.predict(example.X_test), ".", color=ACCENT, ms=2, alpha=0.3)
        ax.axline((0, 0), slope=1, color=INK, lw=1, ls=":")
        ax.set_title(f"{activation}: {model.n_nodes_} nodes, {error:.1e}", fontsize=9)
        ax.set(xlabel="true", aspect="equal")
    axes[0].set_ylabel("predicted")
    return figure


def wrong_rows(_):
    """Five per cent of the rows are wrong: three losses."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 200))
    grid = np.linspace(-1, 1, 1000)

    def target(x):
        return np.sin(5 * x) + 0.5 * np.abs(x)

    y = target(x) + 0.1 * rng.standard_normal(len(x))
    wrong = rng.choice(len(x), len(x) // 20, replace=False)
    y[wrong] += rng.choice([-1, 1], len(wrong)) * rng.uniform(3, 8, len(wrong))
    losses = {"squared": SECOND, "absolute": ACCENT, "huber": THIRD}
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
    for ax, (loss, colour) in zip(axes, losses.items(), strict=True):
        model = GreedyNetRegressor(loss=loss).fit(x[:, None], y)
        error = np.sqrt(np.mean((model.predict(grid[:, None]) - target(grid)) ** 2))
        print(f'loss="{loss}" with wrong rows: {error:.3f} from the truth, {model.n_nodes_} nodes')
        ax.plot(x, y, ".", color=SOFT, ms=4)
        ax.plot(grid, target(grid), color=INK, lw=1, ls=":")
        ax.plot(grid, model.predict(grid[:, None]), color=colour, lw=2)
        ax.set_title(f'loss="{loss}": {error:.3f} from the truth', fontsize=10)
        ax.set(ylim=(-9, 9), xticks=[-1, 0, 1], xlabel="x")
    return figure


def quantiles(_):
    """Noise that grows with |x|: three quantiles."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 3, 1500)
    grid = np.linspace(-3, 3, 600)

    def spread(x):
        return 0.1 + 0.3 * np.abs(x)

    def draw(x):
        return np.sin(2 * x) + spread(x) * rng.standard_normal(len(x))

    y, fresh = draw(x), rng.uniform(-3, 3, 10_000)
    y_fresh = draw(fresh)
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    ax.plot(x, y, ".", color=SOFT, ms=3)
    for quantile, colour in ((0.1, SECOND), (0.5, ACCENT), (0.9, SECOND)):
        model = GreedyNetRegressor(loss="quantile", quantile=quantile).fit(x[:, None], y)
        below = np.mean(y_fresh <= model.predict(fresh[:, None]))
        print(
            f"quantile {quantile}: {100 * below:.1f} % of fresh rows below, {model.n_nodes_} nodes"
        )
        values = model.predict(grid[:, None])
        ax.plot(grid, values, color=colour, lw=2)
        label = f" {quantile}: {100 * below:.1f} %"
        ax.text(3, values[-1], label, color=colour, va="center")
    ax.set(xlim=(-3, 3.75), xlabel="x", title="quantiles, and the share of 10,000 fresh rows below")
    return figure


def classes(_):
    """Two spirals: the probability of one, and the kinks of the network."""
    rng = np.random.default_rng(0)
    n = 600
    t, label = np.sqrt(rng.random(n)) * 3 * np.pi, rng.integers(0, 2, n)
    X = np.column_stack([t * np.cos(t + np.pi * label), t * np.sin(t + np.pi * label)]) / 5
    X += rng.normal(0, 0.08, X.shape)
    grid = np.linspace(-2.1, 2.1, 300)
    points = np.column_stack([m.ravel() for m in np.meshgrid(grid, grid)])
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained", sharey=True)
    for ax, n_nodes in zip(axes, (8, 16, None), strict=True):
        model = GreedyNetClassifier(n_nodes).fit(X, label)
        p = model.predict_proba(points)[:, 1].reshape(len(grid), -1)
        ax.pcolormesh(grid, grid, p, cmap="RdBu", vmin=-1, vmax=2, rasterized=True)
        ax.contour(grid, grid, p, [0.5], colors=INK, linewidths=1)
        for value, colour in ((0, ACCENT), (1, SECOND)):
            ax.plot(*X[label == value].T, ".", color=colour, ms=4)
        chosen = "" if n_nodes else " (its choice)"
        ax.set_title(f"{model.n_nodes_} nodes{chosen}, {100 * model.score(X, label):.1f} % right")
        ax.set(xticks=[], yticks=[], aspect="equal")
    return figure


PICTURES = {
    "activations-1d": one_variable,
    "activations-2d": two_variables,
    "activations-4d": four_variables,
    "losses-wrong-rows": wrong_rows,
    "losses-quantiles": quantiles,
    "classes": classes,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="where to write")
    parser.add_argument("--only", nargs="+", choices=list(PICTURES), default=list(PICTURES))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    fits = Fits()
    for name in options.only:
        figure = PICTURES[name](fits)
        path = options.out / f"{name}.png"
        figure.savefig(path, dpi=110)
        print(f"wrote {path}", flush=True)
    if any(name.startswith("activations") for name in options.only):
        fits.table()


if __name__ == "__main__":
    main()
