"""`CollapsedDisplay`: the collapsed ridgelet transform, on the circle or the sphere."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from greedynet.plots.style import (
    BLUE,
    DIVERGING,
    FAINT,
    GREY,
    INK,
    SOFT,
    colour_scale,
    hide_axes,
    largest,
    merged,
    name_axis,
    one_axes,
    ring,
    style_axes,
)
from greedynet.search.ridgelet import (
    THRESHOLD,
    collapsed_ridgelet_transform,
)
from greedynet.search.sphere import sample_sphere
from greedynet.support.checks import check_columns, check_matrix, check_same_length
from greedynet.support.types import Float64
from greedynet.views.models import check_features, upper_half

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = {0.0: "$0$", 0.5: r"$\pi/2$", 1.0: r"$\pi$", 1.5: r"$3\pi/2$", 2.0: r"$2\pi$"}
PIXELS = 360  # across one disc
_SHIFT = 1.22  # of the centres of the discs from the middle


class CollapsedDisplay:
    """The collapsed ridgelet transform `CR f`; points that the threshold removes are grey.

    On the circle it is a curve over the angle. On the sphere it is an equal-area map of both
    hemispheres: the grey share of the map is the share of the points removed.

    Parameters
    ----------
    points : array-like of shape (n_points, 2) or (n_points, 3)
        Points on the circle or the sphere, bias last.
    values : array-like of shape (n_points,)
        Values of `CR f` at the points.
    keep : array-like of shape (n_points,) or None, default=None
        Which points are kept; None for all.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    kept_, removed_ : Line2D
        On the circle: the curve at the points kept and at those removed, NaN elsewhere.
    image_ : AxesImage
        On the sphere: the map of both hemispheres; its colour limits are symmetric.
    colorbar_ : Colorbar or None
        On the sphere: the colour bar.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.plots import CollapsedDisplay
    >>> x = np.linspace(-1, 1, 100)
    >>> display = CollapsedDisplay.from_data(x[:, None], np.cos(6 * x))
    >>> display.ax_.get_title()
    '48 % removed'
    """

    def __init__(self, points: ArrayLike, values: ArrayLike, keep: ArrayLike | None = None) -> None:
        self.points = check_matrix(points, "points")
        self.values = check_columns(values, "values")[:, 0]
        everything = np.ones(len(self.points), dtype=bool)
        self.keep = everything if keep is None else np.asarray(keep, dtype=bool)
        check_same_length(points=self.points, values=self.values, keep=self.keep)
        advice = "give points with 2 or 3 columns, bias last"
        check_features(self.points.shape[1] - 1, [1, 2], "points", advice)

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        points: ArrayLike | None = None,
        threshold: float = THRESHOLD,
        *,
        reach: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "CollapsedDisplay":
        """Transform the data and draw it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Points at which the function is known; one or two features.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Its values.
        points : array-like of shape (n_points, n_features + 1) or None, default=None
            Points on the circle or the sphere; None for the paper's 10,000 per feature.
        threshold : float, default=0.001
            Points with values below this fraction of the maximum are removed.
        reach : float or None, default=None
            Upper limit of the radial integral; None for 1.5 divided by the spacing of the data. To
            locate kinks in two dimensions, use half of that.
        ax, **kwargs
            Passed to `plot`.
        """
        rows = check_matrix(X, "X")
        advice = "the transform cannot be computed from data in more dimensions"
        check_features(rows.shape[1], [1, 2], "X", advice)
        sphere = sample_sphere(rows.shape[1]) if points is None else points
        transform = collapsed_ridgelet_transform(sphere, rows, y, reach=reach)
        display = cls(transform.points, transform.values, transform.keep(threshold))
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **kwargs: Any) -> "CollapsedDisplay":
        """Draw the transform.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar, for the sphere.
        **kwargs : dict
            Passed to `Axes.plot` for the circle, to `Axes.imshow` for the sphere.
        """
        sphere = self.points.shape[1] == 3
        size = (6.2, 2.6) if sphere else (4.5, 3.2)
        self.ax_ = ax = one_axes(ax, "CollapsedDisplay.plot", size)
        self.figure_ = ax.figure
        self.kept_ = self.removed_ = self.image_ = self.colorbar_ = None
        if sphere:
            self.image_ = _draw_hemispheres(ax, self.points, self.values, self.keep, kwargs)
        else:
            drawn = _draw_circle(ax, self.points, self.values, self.keep, kwargs)
            self.kept_, self.removed_ = drawn
        if not self.keep.all():
            ax.set_title(f"{100 * np.mean(~self.keep):.0f} % removed", fontsize="medium")
        if sphere and colorbar:
            self.colorbar_ = colour_scale(
                ax, self.image_, r"$\mathcal{CR}f(a_1, a_2, b)$", (1.0, 0.12, 0.025, 0.76)
            )
        return self


# The circle


def _draw_circle(
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


# The sphere: both hemispheres as discs, side by side


def _draw_hemispheres(
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
    inside = x**2 + y**2 <= 1
    places = upper_half(x[inside], y[inside])
    places[:, 2] *= np.where(upper[inside], 1.0, -1.0)
    nearest = cKDTree(points).query(places)[1]
    image = np.full(x.shape, np.nan)
    image[inside] = values[nearest]
    return np.ma.masked_invalid(image)
