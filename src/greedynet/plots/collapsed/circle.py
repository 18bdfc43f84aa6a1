"""Drawing `CR f` on the circle: a curve over the angle."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.plots.style import BLUE, FAINT, GREY, merged, style_axes
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TICKS = {0.0: "$0$", 0.5: r"$\pi/2$", 1.0: r"$\pi$", 1.5: r"$3\pi/2$", 2.0: r"$2\pi$"}


def draw_circle(
    ax: "Axes", points: Float64, values: Float64, keep: NDArray[np.bool_], style: dict[str, Any]
) -> tuple[Any, Any]:
    """Draw the curve, in grey where points are removed; return the lines of both parts."""
    # As in `greedynet.search.sphere.circle`: (a, b) = (sin, cos) of the angle.
    angle = np.arctan2(points[:, 0], points[:, 1]) % (2 * np.pi)
    order = np.argsort(angle, kind="stable")
    theta = np.append(angle[order], angle[order[0]] + 2 * np.pi)
    closed = np.append(order, order[0])
    value, kept = values[closed], keep[closed]
    ax.fill_between(
        theta, 0, 1, where=~kept, transform=ax.get_xaxis_transform(), color=FAINT, linewidth=0
    )
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1)
    (grey,) = ax.plot(theta, np.where(kept, np.nan, value), color=GREY, linewidth=1.2)
    options = {"color": BLUE, "linewidth": 1.2}
    (line,) = ax.plot(theta, np.where(kept, value, np.nan), **merged(options, style))
    ax.set_xlim(0, 2 * np.pi)
    ax.set_xticks([np.pi * tick for tick in _TICKS], list(_TICKS.values()))
    ax.set(xlabel=r"$\theta$, where $(a, b) = (\sin\theta, \cos\theta)$")
    ax.set_ylabel(r"$\mathcal{CR}f(\theta)$")
    _name_kinks(ax)
    style_axes(ax)
    return line, grey


def _name_kinks(ax: "Axes") -> None:
    """Mark the kinks `x = -b / a` of the neurons along the upper edge."""
    kinks = np.array([-1.0, 0.0, 1.0])
    # -b / a = -cot(theta), once in each half turn.
    theta = np.arctan2(1.0, -kinks)
    upper = ax.secondary_xaxis("top")
    upper.set_xticks([*theta, *(theta + np.pi)], [f"${x:.0f}$" for x in (*kinks, *kinks)])
    upper.set_xlabel("kink $-b/a$", fontsize="small")
    upper.tick_params(color=GREY, labelsize="small")
    upper.spines["top"].set_visible(False)
