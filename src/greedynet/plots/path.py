"""`PathDisplay`: errors at every width that was tried, and the network that was kept."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from greedynet.model.path import SelectionPath
from greedynet.plots.style import BLUE, RED, merged, one_axes, style_axes
from greedynet.support.checks import check_same_length
from greedynet.views.models import estimator_of, fitted


class PathDisplay:
    """Errors on training rows and on held-out rows at every width that was tried.

    The dot is the network that was kept. The axis of the errors is logarithmic.

    Parameters
    ----------
    n_nodes : array-like of shape (n_widths,)
        Widths along the path.
    training_errors : array-like of shape (n_widths,)
        Relative errors, or log-losses, on the training rows.
    held_out_errors : array-like of shape (n_widths,) or None, default=None
        The same on rows that the networks had not seen.
    best_n_nodes : int or None, default=None
        The width that was kept, one of `n_nodes`; None to mark no width.
    error_name : str, default="relative error"
        Name of the errors; "log-loss" for a classifier.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    training_line_, held_out_line_ : Line2D
        The two curves; `held_out_line_` is None without held-out errors.
    best_marker_ : Line2D
        Mark of the network that was kept; None if no width is marked.
    legend_ : Legend
        Names of the curves, and the width that was kept.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import PathDisplay
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> model = GreedyNetRegressor(max_nodes=12).fit(X, np.cos(6 * X[:, 0]))
    >>> display = PathDisplay.from_estimator(model)
    >>> [text.get_text() for text in display.legend_.get_texts()[:2]]
    ['training', 'held out']
    """

    def __init__(
        self,
        n_nodes: ArrayLike,
        training_errors: ArrayLike,
        held_out_errors: ArrayLike | None = None,
        *,
        best_n_nodes: int | None = None,
        error_name: str = "relative error",
    ) -> None:
        self.n_nodes = np.asarray(n_nodes)
        self.training_errors = np.asarray(training_errors, dtype=np.float64)
        self.held_out_errors = None
        self.best_n_nodes = best_n_nodes
        self.error_name = error_name
        check_same_length(n_nodes=self.n_nodes, training_errors=self.training_errors)
        if held_out_errors is not None:
            self.held_out_errors = np.asarray(held_out_errors, dtype=np.float64)
            check_same_length(n_nodes=self.n_nodes, held_out_errors=self.held_out_errors)
        if best_n_nodes is not None and best_n_nodes not in self.n_nodes:
            raise ValueError(
                f"`best_n_nodes` must be one of `n_nodes`, {self.n_nodes[0]} to "
                f"{self.n_nodes[-1]}, got {best_n_nodes}: write None to mark none."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> "PathDisplay":
        """Draw the path of a fitted estimator.

        Parameters
        ----------
        estimator : GreedyNetRegressor, GreedyNetClassifier or TableModel
            A fitted model.
        ax, **kwargs
            Passed to `plot`.
        """
        path = fitted(estimator, "path_", SelectionPath, "PathDisplay.from_estimator")
        display = cls(
            path.n_nodes,
            path.training_errors,
            path.held_out_errors,
            best_n_nodes=path.best_n_nodes,
            error_name="log-loss" if is_classifier(estimator_of(estimator)) else "relative error",
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "PathDisplay":
        """Draw the errors.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for both curves.
        """
        self.ax_ = ax = one_axes(ax, "PathDisplay.plot")
        from matplotlib.ticker import MaxNLocator

        self.figure_ = ax.figure
        # Widths are rounds of a growth, with gaps between them, or every number of nodes.
        marker = "." if np.ptp(self.n_nodes) >= len(self.n_nodes) else None
        curves = [("training", self.training_errors, BLUE)]
        if self.held_out_errors is not None:
            curves.append(("held out", self.held_out_errors, RED))
        lines = []
        for label, errors, colour in curves:
            style: dict[str, Any] = {"color": colour, "linewidth": 1.6, "marker": marker}
            lines += ax.plot(self.n_nodes, errors, **merged({"label": label, **style}, kwargs))
        self.training_line_, self.held_out_line_ = (*lines, None)[:2]
        self.best_marker_ = None
        if self.best_n_nodes is not None:  # on the curve of the held-out errors, if there is one
            _, errors, colour = curves[-1]
            (self.best_marker_,) = ax.plot(
                *(self.best_n_nodes, errors[self.n_nodes == self.best_n_nodes], "o"),
                color=colour,
                markersize=7,
                label=f"kept: {self.best_n_nodes} nodes",
            )
        if any((errors > 0).any() for _, errors, _ in curves):
            ax.set_yscale("log", nonpositive="mask")  # a gap where there is no logarithm
        ax.set(xlabel="nodes", ylabel=self.error_name)
        ax.margins(x=0.02)
        style_axes(ax)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        self.legend_ = ax.legend(frameon=False, fontsize="small")
        return self
