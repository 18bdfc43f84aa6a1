"""Drawing a function of one variable: data, target, network, kinks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.plots.style import GREY, INK, RED, SKY, merged, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from greedynet.plots.approximation.display import ApproximationDisplay


def draw_curve(
    ax: "Axes", display: "ApproximationDisplay", style: dict[str, Any]
) -> dict[str, Any]:
    """Draw the parts that the display holds, and return the artists by name."""
    artists = {}
    (x,) = display.grid
    if display.y is not None and display.X is not None:
        options: dict[str, Any] = {"color": GREY, "markersize": 4, "markeredgewidth": 0}
        (artists["data_"],) = ax.plot(display.X, display.y, "o", label="data", zorder=2, **options)
    if display.target is not None:
        options = {"color": SKY, "linewidth": 3.5, "zorder": 1}
        (artists["target_"],) = ax.plot(x, display.target, label="target", **options)
    # Kinks are known for networks of greedynet only, not for other estimators.
    label = display.name if display.kinks is None else "network"
    options = {"color": RED, "linewidth": 1.2, "label": label, "zorder": 3}
    (artists["curve_"],) = ax.plot(x, display.prediction, **merged(options, style))
    if display.kinks is not None:
        options = {"color": INK, "markersize": 6, "markeredgewidth": 0.8, "label": "kinks"}
        (artists["kinks_"],) = ax.plot(
            display.kinks,
            np.full(len(display.kinks), 0.025),
            "|",
            transform=ax.get_xaxis_transform(),
            **options,
        )
    ax.margins(x=0.02, y=0.12)
    ax.set_xlabel(display.feature_names[0])
    # The legend is one line between title and axes, where no curve can run.
    ax.set_title(display.title, fontsize="medium", pad=20)
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=4,
        frameon=False,
        fontsize="small",
        handlelength=1.2,
        handletextpad=0.5,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    style_axes(ax)
    return artists
