"""`NeuronsDisplay`: the kinks of a network, as lines in the plane or points on the circle."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import shared_degree
from greedynet.model.network import Network
from greedynet.plots.style import (
    BLUE,
    FAINT,
    GREY,
    RED,
    merged,
    name_axis,
    one_axes,
    style_axes,
)
from greedynet.support.types import Float64
from greedynet.views.models import (
    check_features,
    fitted,
    input_names,
    neurons_on_sphere,
    pick_output,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class NeuronsDisplay:
    """Kinks as lines in the plane for two inputs, neurons as points on the circle for one.

    Line width or marker size shows the outer weight of each neuron, with its inner weights scaled
    to norm 1; colour shows its sign.

    Parameters
    ----------
    network : Network
        A network with one or two inputs and at least one neuron. Points on the circle are those for
        inputs scaled from its training range to [-1, 1].
    output : int or None, default=None
        Output whose weights are shown, if there are several outputs.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    kinks_ : LineCollection or PathCollection
        The neurons; lines are drawn for neurons with a kink in the domain only.
    legend_ : Legend
        Legend of the colours.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import Network
    >>> from greedynet.plots import NeuronsDisplay
    >>> network = Network(np.eye(2), np.array([0.0, 3.0]), np.array([[1.0], [-1.0]]))
    >>> display = NeuronsDisplay.from_estimator(network)
    >>> len(display.kinks_.get_segments())  # the second neuron is active everywhere
    1
    """

    def __init__(self, network: Network, *, output: int | None = None) -> None:
        if network.ramps is not None:
            raise ValueError(
                "`network` of `NeuronsDisplay` must have one hidden layer, got two, whose kinks "
                "are no lines: draw its columns with `CurvesDisplay`."
            )
        d = network.n_features
        check_features(d, [1, 2], "network", "kinks in more dimensions cannot be drawn")
        if not network.n_neurons:
            raise ValueError(
                "`network` must have at least one neuron to be drawn, got an affine function: fit "
                "with a larger `n_nodes`."
            )
        lengths = np.linalg.norm(network.inner_weights, axis=1) ** shared_degree(network.activation)
        self.weights = pick_output(network.outer_weights, output) * lengths
        unit = np.array([[-1.0], [1.0]]) * np.ones(d)
        self.domain = unit if network.input_range is None else network.input_range
        self.inner_weights, self.biases = network.inner_weights, network.biases
        self.feature_names = input_names(network, d)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int | None = None, ax: Any = None, **kwargs: Any
    ) -> "NeuronsDisplay":
        """Draw the neurons of a fitted estimator or a network on the range of its training data.

        `ax` and further options are passed to `plot`.
        """
        network = fitted(estimator, "network_", Network, "NeuronsDisplay.from_estimator")
        return cls(network, output=output).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "NeuronsDisplay":
        """Draw the neurons, those with the largest weights on top.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `LineCollection` for two inputs, to `Axes.scatter` for one.
        """
        self.ax_ = ax = one_axes(ax, "NeuronsDisplay.plot", (3.4, 3.6))
        self.figure_ = ax.figure
        on_circle = self.inner_weights.shape[1] == 1
        self.kinks_ = (_draw_points if on_circle else _draw_lines)(ax, self, kwargs)
        self.legend_ = _draw_legend(ax, self.weights, on_circle=on_circle)
        return self


def _draw_lines(ax: "Axes", display: NeuronsDisplay, style: dict[str, Any]) -> Any:
    """Draw the kinks that cross the domain, those with the largest weights on top."""
    from matplotlib.collections import LineCollection

    low, high = display.domain
    corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])
    sides = corners @ display.inner_weights.T + display.biases
    crossed = (sides.min(axis=0) < 0) & (sides.max(axis=0) > 0)
    order = _by_size(display.weights)
    chosen = order[crossed[order]]
    options = {
        "colors": _sign_colours(display.weights[chosen]),
        "linewidths": 0.3 + 2.2 * _share(display.weights)[chosen],
    }
    segments = _segments(display.inner_weights[chosen], display.biases[chosen], display.domain)
    lines = LineCollection(list(segments), **merged(options, style))
    ax.add_collection(lines, autolim=False)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set(xlabel=display.feature_names[0], ylabel=display.feature_names[1])
    ax.set_box_aspect(1)
    ax.locator_params(nbins=5)
    style_axes(ax)
    return lines


def _draw_points(ax: "Axes", display: NeuronsDisplay, style: dict[str, Any]) -> Any:
    """Draw the neurons on the circle, and the arcs where the kink is in the domain."""
    from matplotlib.patches import Circle, Wedge

    order = _by_size(display.weights)
    points = neurons_on_sphere(display.inner_weights, display.biases, display.domain)[order]
    for start in (-45, 135):  # |b| < |a|
        ax.add_patch(Wedge((0, 0), 1.06, start, start + 90, width=0.12, color=FAINT, zorder=0))
    ax.add_patch(Circle((0, 0), 1, facecolor="none", edgecolor=GREY, linewidth=0.8))
    options = {
        "s": 8 + 90 * _share(display.weights)[order],
        "c": _sign_colours(display.weights[order]),
        "alpha": 0.85,
        "linewidths": 0,
        "zorder": 3,
    }
    drawn = ax.scatter(*points.T, **merged(options, style))
    name_axis(ax, "$a$", 1, 0)
    name_axis(ax, "$b$", 0, 1)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    ax.set_axis_off()
    return drawn


def _draw_legend(ax: "Axes", weights: Float64, *, on_circle: bool) -> Any:
    """Draw the legend of the colours: in the middle of the circle, or above the plane."""
    from matplotlib.lines import Line2D

    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    look: dict[str, Any] = {"linewidth": 2}
    if on_circle:
        place, look = {"loc": "center"}, {"linewidth": 0, "marker": "o", "markersize": 5}
    signs = ((RED, "$c > 0$", weights > 0), (BLUE, "$c < 0$", weights < 0))
    keys = [Line2D([], [], color=c, label=text, **look) for c, text, has in signs if has.any()]
    if on_circle:
        keys.append(Line2D([], [], color=FAINT, linewidth=6, label="kink in the data"))
    return ax.legend(handles=keys, frameon=False, fontsize="small", handlelength=1.2, **place)


def _segments(a: Float64, b: Float64, domain: Float64) -> Float64:
    """Return ends of the lines `a . x + b = 0`, `(n_lines, 2, 2)`, beyond the domain."""
    center, reach = domain.mean(axis=0), np.linalg.norm(domain[1] - domain[0])
    lengths = np.linalg.norm(a, axis=1, keepdims=True)
    # From the foot of the perpendicular from the centre, a diagonal both ways.
    foot = center - (a @ center + b)[:, None] * a / lengths**2
    along = reach * np.column_stack([-a[:, 1], a[:, 0]]) / lengths
    return np.stack([foot - along, foot + along], axis=1)


def _by_size(weights: Float64) -> NDArray[np.intp]:
    return np.argsort(np.abs(weights), kind="stable")


def _share(weights: Float64) -> Float64:
    sizes = np.abs(weights)
    return np.asarray(sizes / (sizes.max() or 1.0))


def _sign_colours(weights: Float64) -> list[str]:
    return [RED if weight > 0 else BLUE for weight in weights]
