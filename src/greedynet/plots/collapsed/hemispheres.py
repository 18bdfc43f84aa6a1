"""Drawing `CR f` on the sphere: both hemispheres as equal-area maps, side by side.

Lambert's azimuthal projection from the poles `b = 1` and `b = -1`: a point at the height `b` lies
at the radius `sqrt(1 - |b|)` in the direction of `a`. The discs have the radius 1.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from greedynet.plots.style import DIVERGING, INK, SOFT, hide_axes, largest, merged, name_axis, ring
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PIXELS = 360  # across one disc
_SHIFT = 1.22  # of the centres of the discs from the middle


def draw_hemispheres(
    ax: "Axes", points: Float64, values: Float64, keep: NDArray[np.bool_], style: dict[str, Any]
) -> Any:
    """Draw the map of both hemispheres; every pixel has the colour of the nearest point."""
    image = nearest_values(points, np.where(keep, values, np.nan))
    limit = largest(values)
    options = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "interpolation": "nearest"}
    edge = 1 + _SHIFT
    for center in (-_SHIFT, _SHIFT):  # visible where the image is masked
        ring(ax, center, facecolor=SOFT, edgecolor="none", zorder=0)
    drawn = ax.imshow(image, origin="lower", extent=(-edge, edge, -1, 1), **merged(options, style))
    for center, sign in ((-_SHIFT, ">"), (_SHIFT, "<")):
        ring(ax, center)
        name_axis(ax, "$a_1$", 1, 0, middle=center)
        name_axis(ax, "$a_2$", 0, 1, middle=center)
        ax.text(center, -1.06, f"$b {sign} 0$", ha="center", va="top", color=INK)
    hide_axes(ax, edge + 0.3, 1.3)
    return drawn


def nearest_values(points: Float64, values: Float64) -> NDArray[Any]:
    """Values of the nearest points on the map of both discs, masked where they are NaN."""
    height = np.linspace(-1, 1, PIXELS)
    across = np.linspace(-1 - _SHIFT, 1 + _SHIFT, round(PIXELS * (1 + _SHIFT)))
    x, y = np.meshgrid(across, height)
    upper = x < 0
    x = np.where(upper, x + _SHIFT, x - _SHIFT)
    square = x**2 + y**2
    inside = square <= 1
    # |b| = 1 - r^2, hence |a| = r sqrt(2 - r^2).
    stretch = np.sqrt(np.clip(2 - square, 0, None))
    b = np.where(upper, 1 - square, square - 1)
    places = np.column_stack([(stretch * x)[inside], (stretch * y)[inside], b[inside]])
    nearest = cKDTree(points).query(places)[1]
    image = np.full(x.shape, np.nan)
    image[inside] = values[nearest]
    return np.ma.masked_invalid(image)
