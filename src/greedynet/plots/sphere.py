"""`SphereDisplay`: points on the circle or the sphere."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.plots.style import BLUE, hide_axes, merged, name_axis, one_axes, ring
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.views.models import check_features


class SphereDisplay:
    """Points `(a, b)` on the circle, or on the sphere in orthographic projection.

    Parameters
    ----------
    points : array-like of shape (n_points, 2) or (n_points, 3)
        Points, bias last; they are scaled to norm 1.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    points_ : PathCollection
        The points; for a sphere, those on the near side only.
    outline_ : Circle
        The circle, or the outline of the sphere.

    Examples
    --------
    >>> from greedynet.plots import SphereDisplay
    >>> from greedynet.search.sphere import golden_spiral
    >>> display = SphereDisplay.from_points(golden_spiral(5000))
    >>> 2400 < len(display.points_.get_offsets()) < 2600
    True
    """

    def __init__(self, points: ArrayLike) -> None:
        rows = check_matrix(points, "points")
        advice = "give points with 2 or 3 columns, bias last"
        check_features(rows.shape[1] - 1, [1, 2], "points", advice)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not lengths.all():
            raise ValueError("`points` must not be zero, got a row of zeros: it has no direction.")
        self.points = rows / lengths

    @classmethod
    def from_points(cls, points: ArrayLike, *, ax: Any = None, **kwargs: Any) -> "SphereDisplay":
        """Draw the points.

        Parameters
        ----------
        points : array-like of shape (n_points, 2) or (n_points, 3)
            Points, bias last, such as `greedynet.search.sphere.golden_spiral(5000)`.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : SphereDisplay
        """
        return cls(points).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        elevation: float = 20.0,
        azimuth: float = 40.0,
        **kwargs: Any,
    ) -> "SphereDisplay":
        """Draw the points.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        elevation, azimuth : float, default=20.0 and 40.0
            Viewing direction of a sphere, in degrees above the plane `b = 0` and around its axis.
        **kwargs : dict
            Passed to `Axes.scatter`.

        Returns
        -------
        self : SphereDisplay
        """
        self.ax_ = ax = one_axes(ax, "SphereDisplay.plot", (3.2, 3.2))
        self.figure_ = ax.figure
        sphere = self.points.shape[1] == 3
        view = _view(elevation, azimuth) if sphere else np.eye(2)
        seen = self.points @ view
        if sphere:
            seen = seen[seen[:, 2] >= 0]
        # The more points, the smaller: the share of the area that they cover stays the same.
        room = np.sqrt(4.0 / len(self.points)) if sphere else 6.0 / len(self.points)
        size = np.clip(30.0 * room, 1.2, 5.0) ** 2
        options = {"s": size, "color": BLUE, "linewidths": 0, "zorder": 2}
        self.outline_ = ring(ax)
        self.points_ = ax.scatter(seen[:, 0], seen[:, 1], **merged(options, kwargs))
        names = ["$a_1$", "$a_2$", "$b$"] if sphere else ["$a$", "$b$"]
        for name, (x, y, *_) in zip(names, view, strict=True):
            if np.hypot(x, y) > 0.1:  # an axis towards the viewer does not leave the circle
                name_axis(ax, name, x, y)
        hide_axes(ax, 1.3, 1.3)
        return self


def _view(elevation: float, azimuth: float) -> Float64:
    """Return the directions to the right, up, and towards the viewer, as columns."""
    up, around = np.radians([elevation, azimuth])
    eye = [np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)]
    right = [-np.sin(around), np.cos(around), 0.0]
    return np.column_stack([right, np.cross(eye, right), eye])
