"""Drawing neurons: lines in the plane, points on the circle, and the legend."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.plots.style import (
    BLUE,
    FAINT,
    RED,
    hide_axes,
    merged,
    name_axis,
    ring,
    style_axes,
)
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from greedynet.plots.neurons.display import NeuronsDisplay


def draw_lines(ax: "Axes", display: "NeuronsDisplay", style: dict[str, Any]) -> Any:
    """Draw the kinks that cross the domain, those with the largest weights on top."""
    from matplotlib.collections import LineCollection

    low, high = display.domain
    corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])
    sides = corners @ display.inner_weights.T + display.biases
    crossed = (sides.min(axis=0) < 0) & (sides.max(axis=0) > 0)
    order = _by_size(display.weights)
    chosen = order[crossed[order]]
    options = {
        "colors": _sign_colours(display.weights[chosen]),
        "linewidths": 0.3 + 2.2 * _share(display.weights)[chosen],
    }
    segments = _segments(display.inner_weights[chosen], display.biases[chosen], display.domain)
    lines = LineCollection(list(segments), **merged(options, style))
    ax.add_collection(lines, autolim=False)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set(xlabel=display.feature_names[0], ylabel=display.feature_names[1])
    ax.set_box_aspect(1)
    ax.locator_params(nbins=5)
    style_axes(ax)
    return lines


def draw_points(ax: "Axes", display: "NeuronsDisplay", style: dict[str, Any]) -> Any:
    """Draw the neurons on the circle, and the arcs where the kink is in the domain."""
    from matplotlib.patches import Wedge

    low, high = display.domain[:, 0]
    a = display.inner_weights[:, 0]
    scaled = np.column_stack([a * (high - low) / 2, display.biases + a * (high + low) / 2])
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    order = _by_size(display.weights)
    points = (scaled / np.where(lengths > 0, lengths, 1))[order]
    for start in (-45, 135):  # |b| < |a|
        ax.add_patch(Wedge((0, 0), 1.06, start, start + 90, width=0.12, color=FAINT, zorder=0))
    ring(ax)
    options = {
        "s": 8 + 90 * _share(display.weights)[order],
        "c": _sign_colours(display.weights[order]),
        "alpha": 0.85,
        "linewidths": 0,
        "zorder": 3,
    }
    drawn = ax.scatter(*points.T, **merged(options, style))
    name_axis(ax, "$a$", 1, 0)
    name_axis(ax, "$b$", 0, 1)
    hide_axes(ax, 1.3, 1.3)
    return drawn


def explain(ax: "Axes", weights: Float64, *, on_circle: bool) -> Any:
    """Draw the legend of the colours: in the middle of the circle, or above the plane."""
    from matplotlib.lines import Line2D

    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    look: dict[str, Any] = {"linewidth": 2}
    if on_circle:
        place, look = {"loc": "center"}, {"linewidth": 0, "marker": "o", "markersize": 5}
    signs = ((RED, "$c > 0$", weights > 0), (BLUE, "$c < 0$", weights < 0))
    keys = [Line2D([], [], color=c, label=text, **look) for c, text, has in signs if has.any()]
    if on_circle:
        keys.append(Line2D([], [], color=FAINT, linewidth=6, label="kink in the data"))
    return ax.legend(handles=keys, frameon=False, fontsize="small", handlelength=1.2, **place)


def _segments(a: Float64, b: Float64, domain: Float64) -> Float64:
    """Return ends of the lines `a . x + b = 0`, `(n_lines, 2, 2)`, beyond the domain."""
    center, reach = domain.mean(axis=0), np.linalg.norm(domain[1] - domain[0])
    lengths = np.linalg.norm(a, axis=1, keepdims=True)
    # From the foot of the perpendicular from the centre, a diagonal both ways.
    foot = center - (a @ center + b)[:, None] * a / lengths**2
    along = reach * np.column_stack([-a[:, 1], a[:, 0]]) / lengths
    return np.stack([foot - along, foot + along], axis=1)


def _by_size(weights: Float64) -> NDArray[np.intp]:
    return np.argsort(np.abs(weights), kind="stable")


def _share(weights: Float64) -> Float64:
    sizes = np.abs(weights)
    return np.asarray(sizes / (sizes.max() or 1.0))


def _sign_colours(weights: Float64) -> list[str]:
    return [RED if weight > 0 else BLUE for weight in weights]
