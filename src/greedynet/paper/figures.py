"""The figures of Section 4, drawn from the parts of a reproduction."""

from io import BytesIO
from typing import Any

import numpy as np

from greedynet.paper.examples import Example, load_example
from greedynet.paper.report import Picture
from greedynet.paper.reproduce import Part
from greedynet.plots import (
    ApproximationDisplay,
    NeuronsDisplay,
    PathDisplay,
)
from greedynet.plots.style import BLUE, DIVERGING, GREY
from greedynet.search.ridgelet import collapsed_ridgelet_transform, ridgelet_transform
from greedynet.search.sphere import circle, golden_spiral
from greedynet.support.files import require

# Radius up to which transforms are drawn; beyond it they are small.
_RADIUS = 30.0
NAMES = ("greedy start", "trained from it", "trained from random")


def draw(number: int, parts: dict[str, Part]) -> list[Picture]:
    """Draw all figures of an example, in the order of the paper."""
    example = load_example(number)
    n_features = example.X_train.shape[1]
    pictures = []
    if n_features == 1:
        pictures += [_curves(example, parts), _ridgelet(example)]
    if n_features == 2:
        pictures += [_surfaces(example, parts), _sphere(example)]
    if n_features <= 2:
        pictures.append(_collapsed(example, parts))
    return [*pictures, _path(example, parts), _losses(example, parts)]


def _networks(parts: dict[str, Part]) -> list[tuple[str, Any, float]]:
    """Return the three networks at the published width, with their names and test errors."""
    held = (parts["greedy"]["published"], parts["trained-published"], parts["random-published"])
    return [
        (name, part["network"], part["test_error"]) for name, part in zip(NAMES, held, strict=True)
    ]


def _published(example: Example) -> str:
    p = example.published
    return f"Published: {p.greedy:.2e}, {p.trained:.2e}, {p.random:.2e}."


def _curves(example: Example, parts: dict[str, Part]) -> Picture:
    figure, axes = _subplots(1, 3, (11, 3.2))
    for ax, (name, network, error) in zip(axes[0], _networks(parts), strict=True):
        ApproximationDisplay.from_estimator(
            network, example.X_train, example.y_train, target=example.target, ax=ax
        )
        # Above the legend, which takes the place of the title.
        ax.set_title(f"{name}: {error:.2e}", pad=24)
    caption = (
        f"Target and approximations with {example.published.n_nodes} nodes, with their test errors."
    )
    return _picture(figure, example, "approximation", f"{caption} {_published(example)}")


def _surfaces(example: Example, parts: dict[str, Part]) -> Picture:
    figure, axes = _subplots(2, 4, (12, 5.6))
    for k, (name, network, error) in enumerate(_networks(parts), start=1):
        first = k == 1
        panels = (["target"] if first else []) + ["network", "error"]
        where = ([axes[0, 0]] if first else []) + [axes[0, k], axes[1, k]]
        ApproximationDisplay.from_estimator(
            network, example.X_train, target=example.target, ax=where, panels=panels
        )
        axes[0, k].set_title(f"{name}: {error:.2e}")
        axes[1, k].set_title("error")
        if first:
            axes[0, 0].set_title("target")
            NeuronsDisplay.from_estimator(network, ax=axes[1, 0])
            axes[1, 0].set_title("kinks of the greedy start", pad=24)
    caption = (
        f"Target, approximations with {example.published.n_nodes} nodes and their errors, with "
        f"the test errors. {_published(example)}"
    )
    return _picture(figure, example, "approximation", caption)


def _ridgelet(example: Example) -> Picture:
    # The corners of the square picture are at radius sqrt(2); radii must be positive.
    points, radii = circle(720), np.sqrt(2) * _RADIUS * np.linspace(1e-6, 1, 240)
    values = ridgelet_transform(points, radii, example.X_train, example.y_train)
    closed = np.append(np.arange(len(points)), 0)
    a, b = (np.outer(points[closed, k], radii) for k in (0, 1))
    limit = np.abs(values).max()
    figure, axes = _subplots(1, 1, (4.2, 3.2))
    mesh = axes[0, 0].pcolormesh(
        *(a, b, values[closed]), cmap=DIVERGING, vmin=-limit, vmax=limit, shading="gouraud"
    )
    ends = (-_RADIUS, _RADIUS)
    axes[0, 0].set(xlim=ends, ylim=ends, xlabel="$a$", ylabel="$b$", aspect="equal")
    figure.colorbar(mesh, label=r"$\mathcal{R}f(a, b)$")
    return _picture(figure, example, "ridgelet", "Ridgelet transform R f(a, b).")


def _collapsed(example: Example, parts: dict[str, Part]) -> Picture:
    transform = collapsed_ridgelet_transform(example.sphere, example.X_train, example.y_train)
    points, values, keep = transform.points, transform.values, transform.keep()
    if points.shape[1] == 2:
        figure, axes = _subplots(1, 1, (4.5, 3.2))
        # The points go round the circle once, (a, b) = (sin, cos) of the angle.
        angle = np.arctan2(points[:, 0], points[:, 1]) % (2 * np.pi)
        for kept, colour in ((keep, BLUE), (~keep, GREY)):
            axes[0, 0].plot(angle, np.where(kept, values, np.nan), color=colour, linewidth=1.2)
        names = {"xlabel": r"$\theta$, where $(a, b) = (\sin\theta, \cos\theta)$"}
        axes[0, 0].set(ylabel=r"$\mathcal{CR}f(\theta)$", **names)
    else:
        figure, ax = _globe()
        limit = np.abs(values).max()
        colours = {"c": values[keep], "cmap": DIVERGING, "vmin": -limit, "vmax": limit}
        ax.scatter(*points[~keep].T, s=1, color=GREY)
        drawn = ax.scatter(*points[keep].T, s=2, **colours)
        figure.colorbar(drawn, label=r"$\mathcal{CR}f(a_1, a_2, b)$", shrink=0.7)
    share = {1: "about 50 %", 2: "about 70 %"}[example.X_train.shape[1]]
    caption = (
        "Collapsed ridgelet transform CR f. Points below 0.1 % of its maximum, in grey, can be "
        f"removed: {parts['greedy']['removed']:.0%} of all points. Published: {share}; for the "
        "difference see docs/method.md."
    )
    return _picture(figure, example, "collapsed", caption)


def _sphere(example: Example) -> Picture:
    figure, ax = _globe()
    ax.scatter(*golden_spiral(5000).T, s=1)
    caption = "5,000 points on the sphere by the golden spiral; the dictionary has 20,000."
    return _picture(figure, example, "sphere", caption)


def _path(example: Example, parts: dict[str, Part]) -> Picture:
    path, width = parts["greedy"]["path"], parts["greedy"]["validated"]["n_nodes"]
    display = PathDisplay(
        path.n_nodes, path.training_errors, path.held_out_errors, best_n_nodes=width
    ).plot()
    caption = (
        f"Greedy selection: the validation error is smallest at {width} nodes. Published: "
        f"{example.published.n_nodes}, from validation atoms with the wrong norms."
    )
    return _picture(display.figure_, example, "path", caption)


def _losses(example: Example, parts: dict[str, Part]) -> Picture:
    figure, axes = _subplots(1, 2, (10, 3.2))
    for ax, what, title in (
        (axes[0, 0], "trained-published", "from the greedy start"),
        (axes[0, 1], "random-published", "from random starts"),
    ):
        for loss in parts[what]["losses"]:
            ax.plot(parts[what]["epochs"], loss, color=BLUE, linewidth=0.8)
        # Epoch 0 is the start, so the logarithmic axis must include zero.
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
        ax.set(yscale="log", xlabel="epoch", ylabel="training loss", title=title)
    runs = len(parts["random-published"]["losses"])
    caption = f"Training losses, from the greedy start and from {runs} random starts."
    return _picture(figure, example, "training", caption)


def _subplots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    pyplot = require("matplotlib.pyplot", "plots", "greedynet reproduce")
    figure = pyplot.figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _globe() -> tuple[Any, Any]:
    """Return a figure with axes in space, for points on the sphere."""
    pyplot = require("matplotlib.pyplot", "plots", "greedynet reproduce")
    figure = pyplot.figure(figsize=(4, 4), layout="constrained")
    return figure, figure.add_subplot(projection="3d", aspect="equal")


def _picture(figure: Any, example: Example, name: str, caption: str) -> Picture:
    buffer = BytesIO()
    figure.savefig(buffer, dpi=130)
    require("matplotlib.pyplot", "plots", "greedynet reproduce").close(figure)
    return Picture(f"example{example.number}-{name}", caption, buffer.getvalue())
