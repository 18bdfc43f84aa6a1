"""The argument `ax` -> axes to draw on, which are created if none are given."""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.support.files import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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


def many_axes(
    ax: Any, caller: str, n: int, size: tuple[float, float], projection: str = "rectilinear"
) -> list["Axes"]:
    """Return the `n` given axes, or those of a new figure, side by side."""
    if ax is None:
        made = new_figure(caller, size).subplots(
            1, n, squeeze=False, subplot_kw={"projection": projection}
        )
        return list(made[0])
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    kind = require("matplotlib.axes", "plots", caller).Axes
    if len(axes) != n or not all(isinstance(one, kind) for one in axes):
        wanted = "one Axes" if n == 1 else f"{n} Axes, one for each panel"
        got = f"{len(axes)}" if len(axes) != n else type(axes[0]).__name__
        raise ValueError(
            f"`ax` of `{caller}` must be {wanted}, got {got}: write `ax=None` for a new figure."
        )
    if any((one.name == "3d") != (projection == "3d") for one in axes):
        raise ValueError(
            f"`ax` of `{caller}` must have the projection {projection!r} for this picture, got "
            f"{axes[0].name!r}: write plt.subplots(subplot_kw={{'projection': {projection!r}}})."
        )
    return axes
