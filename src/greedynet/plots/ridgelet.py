"""`RidgeletDisplay`: the ridgelet transform in the plane of inner weight and bias."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.plots.canvas import one_axes
from greedynet.plots.inputs import check_features
from greedynet.plots.style import DIVERGING, colour_scale, largest, merged, style_axes
from greedynet.search.ridgelet import quadrature_weights, ridgelet_transform, spacing
from greedynet.search.sphere import circle
from greedynet.support.checks import check_columns, check_matrix
from greedynet.support.types import Float64

N_ANGLES, N_RADII = 720, 240
# The picture ends where the transform stays below this fraction of its maximum...
_TAIL = 0.1
# ... and at the latest where the profile is as narrow as the spacing of the data.
_REACH_PER_SPACING = 1.5


class RidgeletDisplay:
    """The ridgelet transform `R f(a, b)` of a function of one variable, as a colour plot.

    Parameters
    ----------
    points : array-like of shape (n_points, 2)
        Directions `(a, b)` around the unit circle, in order.
    radii : array-like of shape (n_radii,)
        Increasing radii.
    values : array-like of shape (n_points, n_radii)
        `R f(r a, r b)`.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    mesh_ : QuadMesh
        The coloured plane; its colour limits are symmetric.
    colorbar_ : Colorbar or None
        The colour bar.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.plots import RidgeletDisplay
    >>> x = np.linspace(-1, 1, 100)
    >>> display = RidgeletDisplay.from_data(x[:, None], np.exp(-20 * x**2))
    >>> display.ax_.get_xlabel()
    '$a$'
    """

    def __init__(self, points: ArrayLike, radii: ArrayLike, values: ArrayLike) -> None:
        self.points = check_matrix(points, "points")
        self.radii = check_columns(radii, "radii")[:, 0]
        self.values = check_matrix(values, "values")
        check_features(self.points.shape[1] - 1, [1], "points", "give points on the circle")
        if self.values.shape != (len(self.points), len(self.radii)):
            raise ValueError(
                f"`values` must have the shape {(len(self.points), len(self.radii))}, points by "
                f"radii, got {self.values.shape}."
            )

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        radius: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "RidgeletDisplay":
        """Transform the data and draw it.

        Parameters
        ----------
        X : array-like of shape (n_rows, 1)
            Points at which the function is known.
        y : array-like of shape (n_rows,)
            Its values.
        radius : float or None, default=None
            The picture shows `|a|` and `|b|` up to this value. None to stop where the transform has
            decayed to a tenth of its maximum, or where the data are too coarse.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : RidgeletDisplay
        """
        rows = check_matrix(X, "X")
        advice = "for 2 inputs draw the collapsed transform with `CollapsedDisplay`"
        check_features(rows.shape[1], [1], "X", advice)
        if radius is None:
            radius = _visible_radius(rows, y)
        elif not radius > 0:
            raise ValueError(f"`radius` must be positive or None, got {radius}.")
        points = circle(N_ANGLES)
        # The corners of the square picture are at radius sqrt(2); radii must be positive.
        radii = np.sqrt(2) * radius * np.linspace(1e-6, 1, N_RADII)
        transform = ridgelet_transform(points, radii, rows, y)
        return cls(transform.points, transform.radii, transform.values).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **kwargs: Any) -> "RidgeletDisplay":
        """Draw the transform.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        **kwargs : dict
            Passed to `Axes.pcolormesh`.

        Returns
        -------
        self : RidgeletDisplay
        """
        self.ax_ = ax = one_axes(ax, "RidgeletDisplay.plot", (4.2, 3.2))
        self.figure_ = ax.figure
        closed = np.append(np.arange(len(self.points)), 0)
        a, b = (np.outer(self.points[closed, k], self.radii) for k in (0, 1))
        limit = largest(self.values)
        options = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "shading": "gouraud"}
        self.mesh_ = ax.pcolormesh(a, b, self.values[closed], **merged(options, kwargs))
        self.mesh_.set_rasterized(True)
        edge = self.radii[-1] / np.sqrt(2)
        ax.set(xlim=(-edge, edge), ylim=(-edge, edge), xlabel="$a$", ylabel="$b$", aspect="equal")
        style_axes(ax)
        label = r"$\mathcal{R}f(a, b)$"
        self.colorbar_ = colour_scale(ax, self.mesh_, label) if colorbar else None
        return self


def _visible_radius(X: Float64, y: ArrayLike) -> float:
    reach = _REACH_PER_SPACING / spacing(X, quadrature_weights(X))
    radii = np.linspace(reach / 100, reach, 100)
    sizes = np.abs(ridgelet_transform(circle(N_ANGLES), radii, X, y).values).max(axis=0)
    visible = np.flatnonzero(sizes > _TAIL * sizes.max())
    return float(radii[visible[-1]] if len(visible) else reach)
