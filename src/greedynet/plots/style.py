"""Axes to draw on, and the style of the pictures: colours, frames, labels.

Nothing here changes `rcParams`, not even temporarily: `rc_context` takes effect in all threads.
Font sizes are relative, so that the user's settings are respected.
"""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.support.files import require
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Red and blue of unequal lightness: distinguishable with any colour vision, and in greyscale.
INK, GREY, SOFT, FAINT = "#1f2430", "#8b93a3", "#b4bbc8", "#dfe3ea"
RED, BLUE, SKY = "#d1495b", "#1f4e79", "#9cc9ec"
DIVERGING, ERRORS, SEQUENTIAL = "RdBu_r", "PuOr_r", "YlGnBu"

# Options that are aliases in Matplotlib, or exclude each other.
_ALIASES = (
    {"c", "color", "colors"},
    {"lw", "linewidth", "linewidths"},
    {"ls", "linestyle", "linestyles"},
    {"ms", "markersize"},
    {"s", "sizes"},
    {"norm", "vmin"},
    {"norm", "vmax"},
)


def merged(ours: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return our options, overridden by the user's under any of their aliases."""
    taken = set(given).union(*(names for names in _ALIASES if names & set(given)))
    return {name: value for name, value in ours.items() if name not in taken} | given


def style_axes(ax: "Axes") -> None:
    """Show only the left and bottom spines, in grey, with small tick labels."""
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(which="both", color=GREY, labelsize="small")


def name_axis(ax: "Axes", text: str, x: float, y: float) -> None:
    """Draw the end of a coordinate axis that leaves the unit circle in the direction `(x, y)`."""
    length = np.hypot(x, y)
    ends = np.array([min(length, 1.0), 1.1]) / length
    ax.plot(ends * x, ends * y, color=GREY, linewidth=0.8, zorder=3)
    reach = 1.2 / length
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": "small"}
    ax.text(reach * x, reach * y, text, **style)


def colour_scale(
    ax: "Axes",
    drawn: Any,
    label: str = "",
    box: tuple[float, float, float, float] = (1.04, 0.0, 0.05, 1.0),
) -> Any:
    """Draw a colour bar beside the picture, as part of `ax`."""
    from matplotlib.ticker import MaxNLocator

    beside = ax.inset_axes(box)
    bar = ax.figure.colorbar(drawn, cax=beside, label=label)
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(5, steps=[1, 2, 5, 10])
    bar.update_ticks()
    beside.tick_params(color=GREY, labelsize="small")
    return bar


def largest(values: ArrayLike) -> float:
    """Largest absolute finite value, or 1 if all are zero: the limit of a symmetric colour map."""
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0)) or 1.0


def colours(*values: Float64) -> dict[str, Any]:
    """Return the colour map and limits shared by all values; symmetric if the sign changes."""
    joined = np.concatenate([np.ravel(array) for array in values])
    low, high = float(joined.min()), float(joined.max())
    if low < 0 < high:
        limit = largest(joined)
        return {"cmap": DIVERGING, "vmin": -limit, "vmax": limit}
    return {"cmap": SEQUENTIAL, "vmin": low, "vmax": high if high > low else low + 1.0}


def draw_ticks(ax: "Axes", x: Float64, **options: Any) -> Any:
    """Draw ticks along the lower edge."""
    look: dict[str, Any] = {"color": INK, "markersize": 6, "markeredgewidth": 0.8, **options}
    return ax.plot(x, np.full(len(x), 0.025), "|", transform=ax.get_xaxis_transform(), **look)[0]


def one_scale(axes: list["Axes"]) -> None:
    """Give all panels the same vertical scale, and tick labels to the first only."""
    low = min(one.get_ylim()[0] for one in axes)
    high = max(one.get_ylim()[1] for one in axes)
    margin = 0.08 * (high - low)
    for one in axes:
        one.set_ylim(low - margin, high)
    for one in axes[1:]:
        one.tick_params(labelleft=False)


# Axes


def new_figure(caller: str, size: tuple[float, float]) -> "Figure":
    """Return an empty figure of `size` inches.

    In the main thread it is registered with pyplot, so that `plt.show()` finds it. pyplot keeps a
    global list of figures and is not thread-safe: in other threads the figure is not registered.
    """
    if threading.current_thread() is not threading.main_thread():
        module = require("matplotlib.figure", "plots", caller)
        figure: Figure = module.Figure(figsize=size, layout="constrained")
        return figure
    pyplot = require("matplotlib.pyplot", "plots", caller)
    shown: Figure = pyplot.figure(figsize=size, layout="constrained")
    return shown


def one_axes(ax: Any, caller: str, size: tuple[float, float] = (4.5, 3.2)) -> "Axes":
    """Return the given axes, or those of a new figure."""
    return many_axes(ax, caller, 1, size)[0]


def many_axes(ax: Any, caller: str, n: int, size: tuple[float, float]) -> list["Axes"]:
    """Return the `n` given axes, or those of a new figure, side by side."""
    if ax is None:
        return list(new_figure(caller, size).subplots(1, n, squeeze=False)[0])
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    kind = require("matplotlib.axes", "plots", caller).Axes
    if len(axes) != n or not all(isinstance(one, kind) for one in axes):
        wanted = "one Axes" if n == 1 else f"{n} Axes, one for each panel"
        got = f"{len(axes)}" if len(axes) != n else type(axes[0]).__name__
        raise ValueError(
            f"`ax` of `{caller}` must be {wanted}, got {got}: write `ax=None` for a new figure."
        )
    return axes
