"""`CollapsedDisplay`: the class; the drawing is in `circle.py` and `hemispheres.py`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.plots.canvas import one_axes
from greedynet.plots.collapsed.circle import draw_circle
from greedynet.plots.collapsed.hemispheres import draw_hemispheres
from greedynet.plots.inputs import check_features
from greedynet.plots.style import colour_scale
from greedynet.search.ridgelet import THRESHOLD, collapsed_ridgelet_transform
from greedynet.search.sphere import sample_sphere
from greedynet.support.checks import check_columns, check_matrix, check_same_length


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
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CollapsedDisplay
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

        Returns
        -------
        self : CollapsedDisplay
        """
        sphere = self.points.shape[1] == 3
        size = (6.2, 2.6) if sphere else (4.5, 3.2)
        self.ax_ = ax = one_axes(ax, "CollapsedDisplay.plot", size)
        self.figure_ = ax.figure
        self.kept_ = self.removed_ = self.image_ = self.colorbar_ = None
        if sphere:
            self.image_ = draw_hemispheres(ax, self.points, self.values, self.keep, kwargs)
        else:
            drawn = draw_circle(ax, self.points, self.values, self.keep, kwargs)
            self.kept_, self.removed_ = drawn
        if not self.keep.all():
            ax.set_title(f"{100 * np.mean(~self.keep):.0f} % removed", fontsize="medium")
        if sphere and colorbar:
            self.colorbar_ = colour_scale(
                ax, self.image_, r"$\mathcal{CR}f(a_1, a_2, b)$", (1.0, 0.12, 0.025, 0.76)
            )
        return self
