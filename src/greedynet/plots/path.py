"""`PathDisplay`: errors at every width that was tried, and the network that was kept."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from greedynet.model.path import SelectionPath
from greedynet.plots.style import (
    BLUE,
    GREY,
    INK,
    RED,
    end_labels,
    merged,
    one_axes,
    positive,
    style_axes,
)
from greedynet.support.checks import check_same_length
from greedynet.views.models import check_kind, estimator_of, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    best_line_, best_marker_, best_label_ : Line2D, Line2D, Text
        Marks of the network that was kept; None if no width is marked.
    labels_ : list of Annotation
        The labels of the curves, at their ends.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import PathDisplay
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> model = GreedyNetRegressor(max_nodes=12).fit(X, np.cos(6 * X[:, 0]))
    >>> display = PathDisplay.from_estimator(model)
    >>> [label.get_text() for label in display.labels_]
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
        """Draw the path of a fitted estimator; see `from_path`."""
        path = fitted(estimator, "path_", SelectionPath, "PathDisplay.from_estimator")
        name = "log-loss" if is_classifier(estimator_of(estimator)) else "relative error"
        return cls.from_path(path, error_name=name, ax=ax, **kwargs)

    @classmethod
    def from_path(
        cls,
        path: SelectionPath,
        *,
        error_name: str = "relative error",
        ax: Any = None,
        **kwargs: Any,
    ) -> "PathDisplay":
        """Draw a selection path.

        Parameters
        ----------
        path : SelectionPath
            The path, such as `model.path_`.
        error_name : {"relative error", "log-loss"}, default="relative error"
            Name of its errors: "log-loss" for the path of a classifier.
        ax, **kwargs
            Passed to `plot`.
        """
        check_kind(path, SelectionPath, "path", "PathDisplay.from_path")
        display = cls(
            path.n_nodes,
            path.training_errors,
            path.held_out_errors,
            best_n_nodes=path.best_n_nodes,
            error_name=error_name,
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
        curves = [("training", self.training_errors, BLUE)]
        if self.held_out_errors is not None:
            curves.append(("held out", self.held_out_errors, RED))
        # Widths are rounds of a growth, with gaps between them, or every number of nodes.
        marker = "." if np.ptp(self.n_nodes) >= len(self.n_nodes) else None
        lines = []
        for _, errors, colour in curves:
            style = merged({"color": colour, "linewidth": 1.6, "marker": marker}, kwargs)
            lines += ax.plot(self.n_nodes, positive(errors), **style)
        self.training_line_, self.held_out_line_ = (*lines, None)[:2]
        ax.set(yscale="log", xlabel="nodes", ylabel=self.error_name)
        ax.margins(x=0.02)
        style_axes(ax)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        self._mark(ax)
        self.labels_ = end_labels(ax, lines, [name for name, _, _ in curves])
        return self

    def _mark(self, ax: "Axes") -> None:
        """Mark the network that was kept, on the curve of the held-out errors if there is one."""
        self.best_line_ = self.best_marker_ = self.best_label_ = None
        if self.best_n_nodes is None:
            return
        best = self.best_n_nodes
        curve = (self.training_errors, BLUE)
        if self.held_out_errors is not None:
            curve = (self.held_out_errors, RED)
        errors, colour = curve
        (self.best_marker_,) = ax.plot(
            best, positive(errors[self.n_nodes == best]), "o", color=colour, markersize=7, zorder=4
        )
        self.best_line_ = ax.axvline(best, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        # The errors decrease from the upper left, so there is room above them.
        left = (best - self.n_nodes[0]) > 0.5 * (self.n_nodes[-1] - self.n_nodes[0])
        self.best_label_ = ax.annotate(
            f"{best} nodes",
            (best, 0.98),
            xycoords=ax.get_xaxis_transform(),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="top",
            color=INK,
            fontsize="small",
        )
