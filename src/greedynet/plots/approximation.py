"""`ApproximationDisplay`: a network of one or two inputs, and the data or function behind it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.model.network import Network
from greedynet.plots.style import (
    ERRORS,
    GREY,
    RED,
    SKY,
    colour_scale,
    colours,
    draw_ticks,
    largest,
    many_axes,
    merged,
    one_axes,
    style_axes,
)
from greedynet.support.types import Float64
from greedynet.views.models import (
    Function,
    check_features,
    fitted,
    input_names,
    network_inputs,
    sample_network,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 20


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
        For two inputs: contours, by the names of their panels.
    colorbars_ : dict of str to Colorbar
        For two inputs: "network", which the target shares, and "error".

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
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        target: Function | None = None,
        output: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "ApproximationDisplay":
        """Draw a fitted estimator or a network on the range of the data.

        Parameters
        ----------
        estimator : GreedyNetRegressor, GreedyNetClassifier, TableModel or Network
            A fitted model of one or two inputs.
        X : array-like of shape (n_rows, n_features) or None, default=None
            Inputs of the data, which also determine the range of the picture; None for the range of
            the training data.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs) or None, default=None
            Outputs of the data. Without a target, the error in the title is the error on the data.
        target : callable or None, default=None
            The true function, from `(n, n_features)` inputs to `(n,)` values. The error in the
            title is then the error on a regular grid of 1,000 points, or of 100 by 100.
        output : int or None, default=None
            Which of several outputs to draw.
        ax, **kwargs
            Passed to `plot`.
        """
        network = fitted(estimator, "network_", Network, "ApproximationDisplay.from_estimator")
        rows = None if X is None else network_inputs(estimator, X)
        sample = sample_network(network, rows, y, target=target, output=output)
        return cls(**sample).plot(ax, **kwargs)

    @property
    def title(self) -> str:
        """What is drawn, and its relative error."""
        error = "" if self.error is None else f", relative error {self.error:.2e}"
        return self.name + error

    def plot(
        self,
        ax: Any = None,
        *,
        panels: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> "ApproximationDisplay":
        """Draw the network.

        Parameters
        ----------
        ax : Axes, array of Axes or None, default=None
            Where to draw, one for each panel; None for a new figure.
        panels : sequence of {"target", "network", "error"} or None, default=None
            Which panels to draw for two inputs; None for all that are available.
        **kwargs : dict
            Passed to `Axes.plot` for one input, to `Axes.contourf` for every panel of two.
        """
        self.curve_ = self.target_ = self.data_ = self.kinks_ = None
        self.panels_: dict[str, Any] = {}
        self.colorbars_: dict[str, Any] = {}
        if len(self.grid) == 2:
            drawn = _draw_panels(self, ax, panels, kwargs)
            self.ax_, self.panels_, self.colorbars_ = drawn
            self.figure_ = np.ravel(self.ax_)[0].figure
            return self
        self.ax_ = ax = one_axes(ax, "ApproximationDisplay.plot")
        self.figure_ = ax.figure
        for name, artist in _draw_curve(ax, self, kwargs).items():
            setattr(self, name, artist)
        return self


# One input


def _draw_curve(ax: "Axes", display: ApproximationDisplay, style: dict[str, Any]) -> dict[str, Any]:
    """Draw the parts that the display holds, and return the artists by name."""
    artists = {}
    (x,) = display.grid
    if display.y is not None and display.X is not None:
        options: dict[str, Any] = {"color": GREY, "markersize": 4, "markeredgewidth": 0}
        (artists["data_"],) = ax.plot(display.X, display.y, "o", label="data", zorder=2, **options)
    if display.target is not None:
        options = {"color": SKY, "linewidth": 3.5, "zorder": 1}
        (artists["target_"],) = ax.plot(x, display.target, label="target", **options)
    options = {"color": RED, "linewidth": 1.2, "label": "network", "zorder": 3}
    (artists["curve_"],) = ax.plot(x, display.prediction, **merged(options, style))
    if display.kinks is not None:
        artists["kinks_"] = draw_ticks(ax, display.kinks, label="kinks")
    ax.margins(x=0.02, y=0.12)
    ax.set_xlabel(display.feature_names[0])
    # The legend is one line between title and axes, where no curve can run.
    ax.set_title(display.title, fontsize="medium", pad=20)
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=4,
        frameon=False,
        fontsize="small",
        handlelength=1.2,
        handletextpad=0.5,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    style_axes(ax)
    return artists


# Two inputs


def _draw_panels(
    display: ApproximationDisplay, ax: Any, panels: Sequence[str] | None, style: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Draw the panels; return the axes, the artists and the colour scales."""
    values = {"network": display.prediction}
    if display.target is not None:
        error = display.prediction - display.target
        values = {"target": display.target, **values, "error": error}
    names = list(values) if panels is None else list(panels)
    if not names or not set(names) <= set(values):
        raise ValueError(
            f'`panels` must be some of {list(values)}, got {names}: "target" and "error" require '
            "a `target`."
        )
    size = (2.6 * len(names) + 0.4, 2.5)
    axes = many_axes(ax, "ApproximationDisplay.plot", len(names), size)
    # Target and network share their colours; those of the error are others.
    shared = colours(*(array for name, array in values.items() if name != "error"))
    limit = largest(values.get("error", [0.0]))
    relative = "" if display.error is None else f" (relative {display.error:.2e})"
    titles = {"target": "target", "network": display.name, "error": f"error{relative}"}
    if display.target is None:
        titles["network"] = display.title
    artists, scales, by_name = {}, {}, dict(zip(names, axes, strict=True))
    for name, one in by_name.items():
        shades: dict[str, Any] = shared
        if name == "error":
            shades = {"cmap": ERRORS, "vmin": -limit, "vmax": limit}
        levels = np.linspace(shades["vmin"], shades["vmax"], _LEVELS + 1)
        options = merged({"levels": levels} | shades, style)
        artists[name] = one.contourf(*display.grid, values[name].T, **options)
        artists[name].set_edgecolor("face")  # or viewers show white seams between the levels
        one.set_title(titles[name], fontsize="medium")
        one.set(xlabel=display.feature_names[0], ylabel=display.feature_names[1])
        one.set_box_aspect(1)
        one.locator_params(nbins=5)
        style_axes(one)
        if ax is None and one is not axes[0]:
            one.tick_params(labelleft=False)
            one.set_ylabel("")
    for scale, members in {"network": ("target", "network"), "error": ("error",)}.items():
        drawn = [name for name in names if name in members]
        if drawn:
            scales[scale] = colour_scale(by_name[drawn[-1]], artists[drawn[-1]])
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object), artists, scales
