"""`NeuronsDisplay`: the class; the drawing is in `drawing.py`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.activations import shared_degree
from greedynet.model.network import Network
from greedynet.plots.canvas import one_axes
from greedynet.plots.inputs import check_features, check_kind, fitted, input_names, pick_output
from greedynet.plots.neurons.drawing import draw_lines, draw_points, explain
from greedynet.support.checks import check_columns, check_matrix, check_same_length


class NeuronsDisplay:
    """Kinks as lines in the plane for two inputs, neurons as points on the circle for one.

    Line width or marker size shows the outer weight of each neuron, with its inner weights scaled
    to norm 1; colour shows its sign.

    Parameters
    ----------
    inner_weights : array-like of shape (n_neurons, n_features)
        The inner weights `a_n`, for one or two features.
    biases : array-like of shape (n_neurons,)
        The biases `b_n`.
    weights : array-like of shape (n_neurons,)
        The outer weights `c_n` times the norm of the inner weights.
    domain : array-like of shape (2, n_features) or None, default=None
        Smallest and largest inputs; None for -1 and 1. Points on the circle are those for inputs
        scaled from the domain to [-1, 1].
    feature_names : list of str or None, default=None
        Names of the inputs.

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
    >>> from greedynet.plots import NeuronsDisplay
    >>> display = NeuronsDisplay(np.eye(2), [0.0, 3.0], [1.0, -1.0]).plot()
    >>> len(display.kinks_.get_segments())  # the second neuron is active everywhere
    1
    """

    def __init__(
        self,
        inner_weights: ArrayLike,
        biases: ArrayLike,
        weights: ArrayLike,
        *,
        domain: ArrayLike | None = None,
        feature_names: list[str] | None = None,
    ) -> None:
        self.inner_weights = check_matrix(inner_weights, "inner_weights")
        self.biases = check_columns(biases, "biases")[:, 0]
        self.weights = check_columns(weights, "weights")[:, 0]
        check_same_length(
            inner_weights=self.inner_weights, biases=self.biases, weights=self.weights
        )
        d = self.inner_weights.shape[1]
        check_features(d, [1, 2], "inner_weights", "kinks in more dimensions cannot be drawn")
        unit = np.array([[-1.0], [1.0]]) * np.ones(d)
        self.domain = unit if domain is None else check_matrix(domain, "domain")
        self.feature_names = feature_names or input_names(None, d)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> "NeuronsDisplay":
        """Draw the neurons of a fitted estimator; see `from_network`."""
        network = fitted(estimator, "network_", Network, "NeuronsDisplay.from_estimator")
        return cls.from_network(network, ax=ax, **kwargs)

    @classmethod
    def from_network(
        cls, network: Network, *, output: int | None = None, ax: Any = None, **kwargs: Any
    ) -> "NeuronsDisplay":
        """Draw the neurons of a network on the range of its training data.

        Parameters
        ----------
        network : Network
            A network with one or two inputs and at least one neuron.
        output : int or None, default=None
            Output whose weights are shown, if there are several outputs.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : NeuronsDisplay
        """
        check_kind(network, Network, "network", "NeuronsDisplay.from_network")
        if network.ramps is not None:
            raise ValueError(
                "`network` of `NeuronsDisplay.from_network` must have one hidden layer, got two, "
                "whose kinks are no lines: draw its columns with `CurvesDisplay`."
            )
        d = network.n_features
        check_features(d, [1, 2], "network", "kinks in more dimensions cannot be drawn")
        if not network.n_neurons:
            raise ValueError(
                "`network` must have at least one neuron to be drawn, got an affine function: fit "
                "with a larger `n_nodes`."
            )
        lengths = np.linalg.norm(network.inner_weights, axis=1) ** shared_degree(network.activation)
        display = cls(
            network.inner_weights,
            network.biases,
            pick_output(network.outer_weights, output) * lengths,
            domain=network.input_range,
            feature_names=input_names(network, d),
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "NeuronsDisplay":
        """Draw the neurons, those with the largest weights on top.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `LineCollection` for two inputs, to `Axes.scatter` for one.

        Returns
        -------
        self : NeuronsDisplay
        """
        self.ax_ = ax = one_axes(ax, "NeuronsDisplay.plot", (3.4, 3.6))
        self.figure_ = ax.figure
        on_circle = self.inner_weights.shape[1] == 1
        self.kinks_ = (draw_points if on_circle else draw_lines)(ax, self, kwargs)
        self.legend_ = explain(ax, self.weights, on_circle=on_circle)
        return self
