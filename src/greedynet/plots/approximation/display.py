"""`ApproximationDisplay`: the class; the drawing is in `curve.py` and `panels.py`."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from greedynet.model.network import Network
from greedynet.plots.approximation.curve import draw_curve
from greedynet.plots.approximation.panels import draw_panels
from greedynet.plots.approximation.sample import Function, sample_estimator, sample_network
from greedynet.plots.canvas import one_axes
from greedynet.plots.inputs import check_features, check_kind, input_names
from greedynet.support.types import Float64


class ApproximationDisplay:
    """A network of one or two inputs, with its data and target if they are given.

    Parameters
    ----------
    grid : sequence of ndarray
        Coordinates: one increasing array per input, one or two in all.
    prediction : ndarray
        Values of the network on the grid, with one axis per array of `grid`.
    target : ndarray or None, default=None
        Values of the target on the grid.
    X, y : ndarray of shape (n_rows,) or None, default=None
        Data points of one input.
    kinks : ndarray of shape (n_kinks,) or None, default=None
        Kinks of a network of one input; drawn as ticks.
    error : float or None, default=None
        Relative error, for the title.
    name : str, default="network"
        What is drawn, for the title.
    feature_names : list of str or None, default=None
        Names of the inputs.

    Attributes
    ----------
    ax_, figure_ : Axes or ndarray of Axes, Figure
        Axes and figure of the picture; an array of axes if there are several panels.
    curve_, target_, data_, kinks_ : Line2D
        For one input; None for parts that are not drawn.
    panels_ : dict of str to artist
        For two inputs: contours or surfaces, by the names of their panels.
    colorbars_ : dict of str to Colorbar
        For contours: "network", which the target shares, and "error".

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import ApproximationDisplay
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> model = GreedyNetRegressor(n_nodes=8).fit(X, np.cos(6 * X[:, 0]))
    >>> display = ApproximationDisplay.from_estimator(
    ...     model, X, target=lambda X: np.cos(6 * X[:, 0])
    ... )
    >>> len(display.kinks_.get_xdata())  # the affine term counts as two nodes
    6
    """

    def __init__(
        self,
        grid: Sequence[Float64],
        prediction: Float64,
        *,
        target: Float64 | None = None,
        X: Float64 | None = None,
        y: Float64 | None = None,
        kinks: Float64 | None = None,
        error: float | None = None,
        name: str = "network",
        feature_names: list[str] | None = None,
    ) -> None:
        check_features(len(grid), [1, 2], "grid", "give one array for each input")
        self.grid = tuple(np.asarray(axis, dtype=np.float64) for axis in grid)
        self.prediction = np.asarray(prediction, dtype=np.float64)
        self.target = None if target is None else np.asarray(target, dtype=np.float64)
        for given, values in (("prediction", self.prediction), ("target", self.target)):
            if values is not None and values.shape != tuple(map(len, self.grid)):
                raise ValueError(
                    f"`{given}` must have the shape of the grid, {tuple(map(len, self.grid))}, got "
                    f"{values.shape}."
                )
        self.X, self.y, self.kinks = X, y, kinks
        self.error, self.name = error, name
        self.feature_names = feature_names or input_names(None, len(self.grid))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        target: Function | None = None,
        output: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "ApproximationDisplay":
        """Draw a fitted estimator on the range of the data.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of greedynet, or any other with one or two features; kinks are drawn
            for the former only.
        X : array-like of shape (n_rows, n_features)
            Inputs of the data, which also determine the range of the picture.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs) or None, default=None
            Outputs of the data. Without a target, the error in the title is the error on the data.
        target : callable or None, default=None
            The true function, from `(n, n_features)` inputs to `(n,)` values. The error in the
            title is then the error on a regular grid of 1,000 points, or of 100 by 100.
        output : int or None, default=None
            Which of several outputs to draw.
        ax : Axes, array of Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : ApproximationDisplay
        """
        sample = sample_estimator(estimator, X, y, target=target, output=output)
        return cls(**vars(sample)).plot(ax, **kwargs)

    @classmethod
    def from_network(
        cls,
        network: Network,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        target: Function | None = None,
        output: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "ApproximationDisplay":
        """Draw a network; without `X`, on the range of its training data.

        The parameters are those of `from_estimator`.
        """
        check_kind(network, Network, "network", "ApproximationDisplay.from_network")
        sample = sample_network(network, X, y, target=target, output=output)
        return cls(**vars(sample)).plot(ax, **kwargs)

    @property
    def title(self) -> str:
        """What is drawn, and its relative error."""
        error = "" if self.error is None else f", relative error {self.error:.2e}"
        return self.name + error

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["contour", "surface"] = "contour",
        panels: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> "ApproximationDisplay":
        """Draw the network.

        Parameters
        ----------
        ax : Axes, array of Axes or None, default=None
            Where to draw, one for each panel, with the projection "3d" for surfaces; None for a new
            figure.
        kind : {"contour", "surface"}, default="contour"
            How functions of two variables are drawn.
        panels : sequence of {"target", "network", "error"} or None, default=None
            Which panels to draw for two inputs; None for all that are available.
        **kwargs : dict
            Passed to `Axes.plot` for one input; for two inputs, to `Axes.contourf` or
            `Axes3D.plot_surface` in every panel.

        Returns
        -------
        self : ApproximationDisplay
        """
        self.curve_ = self.target_ = self.data_ = self.kinks_ = None
        self.panels_: dict[str, Any] = {}
        self.colorbars_: dict[str, Any] = {}
        if len(self.grid) == 2:
            drawn = draw_panels(self, ax, kind, panels, kwargs)
            self.ax_, self.panels_, self.colorbars_ = drawn
            self.figure_ = np.ravel(self.ax_)[0].figure
            return self
        self.ax_ = ax = one_axes(ax, "ApproximationDisplay.plot")
        self.figure_ = ax.figure
        for name, artist in draw_curve(ax, self, kwargs).items():
            setattr(self, name, artist)
        return self
