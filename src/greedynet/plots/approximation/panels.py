"""Drawing functions of two variables: target, network and error, side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.plots.canvas import many_axes
from greedynet.plots.style import (
    ERRORS,
    colour_scale,
    colours,
    largest,
    merged,
    style_axes,
)
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from greedynet.plots.approximation.display import ApproximationDisplay


_LEVELS = 20
_CALLER = "ApproximationDisplay.plot"


def draw_panels(
    display: "ApproximationDisplay",
    ax: Any,
    kind: str,
    panels: Sequence[str] | None,
    style: dict[str, Any],
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Draw the panels; return the axes, the artists and the colour scales."""
    if kind not in _DRAW:
        raise ValueError(f"`kind` must be one of {sorted(_DRAW)}, got {kind!r}.")
    values = _panel_values(display.prediction, display.target)
    names = list(values) if panels is None else list(panels)
    if not names or not set(names) <= set(values):
        raise ValueError(
            f'`panels` must be some of {list(values)}, got {names}: "target" and "error" require '
            "a `target`."
        )
    projection = "3d" if kind == "surface" else "rectilinear"
    axes = many_axes(ax, _CALLER, len(names), (2.6 * len(names) + 0.4, 2.5), projection)
    shades = _panel_colours(values)
    titles = _titles(display)
    artists = {}
    for one, name in zip(axes, names, strict=True):
        artists[name] = _DRAW[kind](one, display.grid, values[name], shades[name], style)
        one.set_title(titles[name], fontsize="medium", y=0.94 if kind == "surface" else None)
        one.set(xlabel=display.feature_names[0], ylabel=display.feature_names[1])
        if kind == "contour" and ax is None and one is not axes[0]:
            one.tick_params(labelleft=False)
            one.set_ylabel("")
    by_name = dict(zip(names, axes, strict=True))
    scales = _draw_scales(by_name, artists) if kind == "contour" else {}
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object), artists, scales


def _panel_values(prediction: Float64, target: Float64 | None) -> dict[str, Float64]:
    if target is None:
        return {"network": prediction}
    return {"target": target, "network": prediction, "error": prediction - target}


def _panel_colours(values: dict[str, Float64]) -> dict[str, dict[str, Any]]:
    """Colour map and limits: the same for target and network, others for the error."""
    functions = colours(*(array for name, array in values.items() if name != "error"))
    limit = largest(values.get("error", [0.0]))
    error = {"cmap": ERRORS, "vmin": -limit, "vmax": limit}
    return {name: error if name == "error" else functions for name in values}


def _titles(display: "ApproximationDisplay") -> dict[str, str]:
    error = "" if display.error is None else f" (relative {display.error:.2e})"
    network = display.title if display.target is None else display.name
    return {"target": "target", "network": network, "error": "error" + error}


def _contours(
    ax: Any,
    grid: tuple[Float64, ...],
    values: Float64,
    shades: dict[str, Any],
    style: dict[str, Any],
) -> Any:
    levels = np.linspace(shades["vmin"], shades["vmax"], _LEVELS + 1)
    drawn = ax.contourf(*grid, values.T, **merged({"levels": levels} | shades, style))
    drawn.set_edgecolor("face")  # or viewers show white seams between the levels
    ax.set_box_aspect(1)
    ax.locator_params(nbins=5)
    style_axes(ax)
    return drawn


def _surface(
    ax: Any,
    grid: tuple[Float64, ...],
    values: Float64,
    shades: dict[str, Any],
    style: dict[str, Any],
) -> Any:
    x, y = np.meshgrid(*grid, indexing="ij")
    # Draw every cell: with larger strides, Matplotlib treats the last, unequal cells erratically.
    options = {"rstride": 1, "cstride": 1, "linewidth": 0.1, "edgecolor": (0, 0, 0, 0.12)}
    drawn = ax.plot_surface(x, y, values, **merged(options | shades, style))
    ax.set_zlim(shades["vmin"], shades["vmax"])
    ax.view_init(elev=30, azim=-55)
    ax.set_box_aspect((1, 1, 0.75), zoom=0.97)
    ax.locator_params(nbins=4)
    ax.grid(False)
    for axis, pad in ((ax.xaxis, -3), (ax.yaxis, -3), (ax.zaxis, 4)):
        axis.pane.set(facecolor="white", edgecolor="white")
        axis.set_tick_params(labelsize="small", pad=pad)
        axis.labelpad = -6
    return drawn


_DRAW = {"contour": _contours, "surface": _surface}


def _draw_scales(axes: dict[str, "Axes"], artists: dict[str, Any]) -> dict[str, Any]:
    """Draw a colour scale for target and network together and one for the error."""
    scales = {}
    for scale, members in {"network": ("target", "network"), "error": ("error",)}.items():
        names = [name for name in axes if name in members]
        if names:
            scales[scale] = colour_scale(axes[names[-1]], artists[names[-1]])
    return scales
