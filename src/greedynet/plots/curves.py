"""`CurvesDisplay`: the curves into which a network of two layers turns its columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from greedynet.model.description import ColumnCurves, column_curves
from greedynet.model.network import Network
from greedynet.plots.style import (
    BLUE,
    GREY,
    RED,
    draw_ticks,
    many_axes,
    merged,
    one_scale,
    style_axes,
)
from greedynet.views.models import check_output, feature_positions, fitted, input_names

# The most panels that are legible side by side.
MOST_COLUMNS = 4


class CurvesDisplay:
    """Curves of single columns: what the first of two hidden layers makes of them.

    In red, the curve that is added to the prediction directly; in blue, what the neurons that the
    column moves most see of it, times their outer weights: a ReLU neuron adds this while it is
    active. Without neurons, the prediction is the sum of the red curves and a constant. All have
    the units of the prediction and the mean zero over the knots, which are ticks at the bottom.

    Parameters
    ----------
    network : Network
        A network with two hidden layers.
    features : int, str, sequence of them, or None, default=None
        Positions or names of columns with hinges; None for the four with the largest curves.
    output : int or None, default=None
        Output in whose units the curves are, if there are several.
    most_neurons : int, default=3
        Number of neurons of each column.

    Attributes
    ----------
    ax_ : Axes or ndarray of Axes
        Axes of the picture; an array if there are several panels.
    figure_ : Figure
        Figure of the picture.
    direct_ : list of Line2D or None
        The curves that are added directly; None without an affine term.
    neurons_ : list of list of Line2D
        The curves that neurons see.
    knots_ : list of Line2D
        The knots.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import CurvesDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> model = GreedyNetRegressor(hidden_layers=2).fit(X, np.abs(X[:, 0]) * X[:, 1])
    >>> display = CurvesDisplay.from_estimator(model, features=0)
    >>> display.ax_.get_xlabel()
    '$x_1$'
    """

    def __init__(
        self,
        network: Network,
        features: int | str | Sequence[int | str] | None = None,
        *,
        output: int | None = None,
        most_neurons: int = 3,
    ) -> None:
        if network.ramps is None:
            raise ValueError(
                "`network` of `CurvesDisplay` must have two hidden layers, got one, which has no "
                "curves of columns: draw its effects by `PartialDependenceDisplay` of scikit-learn."
            )
        names = input_names(network, network.n_features)
        chosen = check_output(network.n_outputs, output)
        found = column_curves(network, chosen, most_neurons=most_neurons)
        if features is None:
            found = found[:MOST_COLUMNS]
        else:
            found = _requested(found, feature_positions(features, names), names)
        self.curves, self.names = found, [names[one.feature] for one in found]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: int | str | Sequence[int | str] | None = None,
        *,
        output: int | None = None,
        most_neurons: int = 3,
        ax: Any = None,
        **kwargs: Any,
    ) -> "CurvesDisplay":
        """Draw the curves of a fitted model or a network; further options are passed to `plot`."""
        network = fitted(estimator, "network_", Network, "CurvesDisplay.from_estimator")
        display = cls(network, features, output=output, most_neurons=most_neurons)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "CurvesDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, array of Axes or None, default=None
            Where to draw, one for each column; None for a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for the curves that are added directly.
        """
        n = len(self.curves)
        axes = many_axes(ax, "CurvesDisplay.plot", n, (1.0 + 2.6 * n, 2.8))
        self.figure_ = axes[0].figure
        self.ax_ = axes[0] if n == 1 else np.array(axes, dtype=object)
        self.direct_, self.neurons_, self.knots_ = [], [], []
        for one, curves, name in zip(axes, self.curves, self.names, strict=True):
            one.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
            thin: dict[str, Any] = {"color": BLUE, "linewidth": 0.8, "zorder": 2}
            self.neurons_.append([one.plot(curves.knots, y, **thin)[0] for y in curves.through])
            direct = None
            if curves.direct is not None:
                options = {"color": RED, "linewidth": 1.8, "zorder": 3}
                (direct,) = one.plot(curves.knots, curves.direct, **merged(options, kwargs))
            self.direct_.append(direct)
            self.knots_.append(draw_ticks(one, curves.knots[1:-1]))
            one.set_xlabel(name)
            style_axes(one)
        axes[0].set_ylabel("contribution")
        one_scale(axes)
        return self


def _requested(
    found: list[ColumnCurves], positions: list[int], names: list[str]
) -> list[ColumnCurves]:
    known = {one.feature: one for one in found}
    for position in positions:
        if position not in known:
            listed = ", ".join(repr(names[j]) for j in sorted(known)[:8])
            raise ValueError(
                f"`features` must be columns with hinges ({listed}), got {names[position]!r}, "
                "which enters the network as it is: draw its effect by `PartialDependenceDisplay` "
                "of scikit-learn."
            )
    return [known[position] for position in positions]
