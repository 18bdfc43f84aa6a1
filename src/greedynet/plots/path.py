"""`PathDisplay`: errors against the number of nodes, and the selected width."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from greedynet.model.path import DeepPath, SelectionPath, ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.plots.canvas import one_axes
from greedynet.plots.inputs import check_kind, fitted, unwrapped
from greedynet.plots.style import BLUE, GREY, INK, RED, end_labels, merged, positive, style_axes
from greedynet.support.checks import check_same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_CHOSEN = (StopReason.VALIDATED, StopReason.MAX_NODES)


class PathDisplay:
    """Errors along a selection path, on a logarithmic axis, with the selected width.

    Parameters
    ----------
    n_nodes : array-like of shape (n_widths,)
        Widths along the path.
    training_errors : array-like of shape (n_widths,)
        Relative errors, or log-losses, on the training data.
    scores : array-like of shape (n_widths,) or None, default=None
        Scores by which the width was selected, on the scale of the errors.
    best_n_nodes : int or None, default=None
        The selected width; None to mark no width.
    best_score : float or None, default=None
        The score of the selected network if it is not on the path, because it was corrected, pruned
        or averaged after the growth; None for the score on the path at `best_n_nodes`.
    score_name : str, default="validation"
        Name of the scores.
    error_name : str, default="relative error"
        Name of the errors; "log-loss" for a classifier.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    training_line_, score_line_ : Line2D
        The two curves; `score_line_` is None without scores.
    best_line_, best_marker_, best_label_ : Line2D, Line2D, Text
        Marks of the selected width; None if no width is marked.
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
    ['training', 'root of GCV']
    """

    def __init__(
        self,
        n_nodes: ArrayLike,
        training_errors: ArrayLike,
        scores: ArrayLike | None = None,
        *,
        best_n_nodes: int | None = None,
        best_score: float | None = None,
        score_name: str = "validation",
        error_name: str = "relative error",
    ) -> None:
        self.n_nodes = np.asarray(n_nodes)
        self.training_errors = np.asarray(training_errors, dtype=np.float64)
        self.scores = None if scores is None else np.asarray(scores, dtype=np.float64)
        self.best_n_nodes = best_n_nodes
        self.best_score = best_score
        self.score_name = score_name
        self.error_name = error_name
        check_same_length(n_nodes=self.n_nodes, training_errors=self.training_errors)
        if self.scores is not None:
            check_same_length(n_nodes=self.n_nodes, scores=self.scores)
        known = best_score is not None or best_n_nodes is None
        if not known and best_n_nodes not in self.n_nodes:
            raise ValueError(
                f"`best_n_nodes` must be one of `n_nodes`, {self.n_nodes[0]} to "
                f"{self.n_nodes[-1]}, got {best_n_nodes}: write None to mark none."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> "PathDisplay":
        """Draw the path of a fitted estimator; see `from_path`."""
        path = fitted(estimator, "path_", SelectionPath, "PathDisplay.from_estimator")
        name = "log-loss" if is_classifier(unwrapped(estimator)) else "relative error"
        return cls.from_path(path, error_name=name, ax=ax, **kwargs)

    @classmethod
    def from_path(
        cls,
        path: ShallowPath | DeepPath,
        *,
        error_name: str = "relative error",
        ax: Any = None,
        **kwargs: Any,
    ) -> "PathDisplay":
        """Draw a selection path.

        GCV is a squared error, so its square root is drawn next to the training error. Akaike's
        criterion of a classifier is the log-loss plus a penalty, and on the same scale.

        Parameters
        ----------
        path : SelectionPath
            The path, such as `model.path_`.
        error_name : {"relative error", "log-loss"}, default="relative error"
            Name of its errors: "log-loss" for the path of a classifier.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : PathDisplay
        """
        check_kind(path, SelectionPath, "path", "PathDisplay.from_path")
        scores, best_score, name = path.validation_errors, path.finished_score, "validation"
        chosen = path.scores is not None
        if path.finished is not None and best_score is None:
            # Folds score the networks as grown; for the finished one only the training error is
            # known.
            best_score = path.finished_error
        if scores is None and path.scores is not None and error_name == "log-loss":
            scores, name = path.scores, "Akaike"
        elif scores is None and path.scores is not None:
            n_outputs = path.network.n_outputs
            scores, name = np.sqrt(path.scores / n_outputs), "root of GCV"
            best_score = None if best_score is None else float(np.sqrt(best_score / n_outputs))
        elif scores is None:
            best_score = path.finished_error
            # A classifier selects its width by cross-validation after the growth, which leaves no
            # scores.
            chosen = error_name == "log-loss" and path.stop_reason in _CHOSEN
        display = cls(
            path.n_nodes,
            path.training_errors,
            scores,
            best_n_nodes=path.best_n_nodes if chosen else None,
            best_score=best_score,
            score_name=name,
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

        Returns
        -------
        self : PathDisplay
        """
        self.ax_ = ax = one_axes(ax, "PathDisplay.plot")
        from matplotlib.ticker import MaxNLocator

        self.figure_ = ax.figure
        curves = [("training", self.training_errors, BLUE)]
        if self.scores is not None:
            curves.append((self.score_name, self.scores, RED))
        lines = []
        for _, errors, colour in curves:
            style = merged({"color": colour, "linewidth": 1.6}, kwargs)
            lines += ax.plot(self.n_nodes, positive(errors), **style)
        self.training_line_, self.score_line_ = (*lines, None)[:2]
        ax.set(yscale="log", xlabel="nodes", ylabel=self.error_name)
        ax.margins(x=0.02)
        style_axes(ax)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        self._mark(ax)
        self.labels_ = end_labels(ax, lines, [name for name, _, _ in curves])
        return self

    def _mark(self, ax: "Axes") -> None:
        self.best_line_ = self.best_marker_ = self.best_label_ = None
        if self.best_n_nodes is None:
            return
        best = self.best_n_nodes
        errors = self.training_errors if self.scores is None else self.scores
        colour = BLUE if self.scores is None else RED
        score = self.best_score
        if score is None:
            score = float(errors[int(np.flatnonzero(self.n_nodes == best)[0])])
        (self.best_marker_,) = ax.plot(
            best, positive(np.array(score)), "o", color=colour, markersize=5, zorder=4
        )
        self.best_line_ = ax.axvline(best, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        # The errors decrease from the upper left, so there is room above them.
        right_end = max(best, int(self.n_nodes[-1]))
        left = (best - self.n_nodes[0]) > 0.5 * (right_end - self.n_nodes[0])
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
