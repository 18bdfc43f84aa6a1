"""`LearningCurveDisplay`: errors on held-out and training rows, by the number of rows."""

from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.plots.canvas import one_axes
from greedynet.plots.style import CYCLE, end_labels, merged, style_axes
from greedynet.support.phrases import score_name
from greedynet.tables.learning import LearningCurve

if TYPE_CHECKING:
    from matplotlib.lines import Line2D


class LearningCurveDisplay:
    """Would more rows help? The mean errors over all repeats, and the range of the repeats.

    Parameters
    ----------
    curve : LearningCurve
        What `greedynet.learning_curve` returns.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    lines_ : list of Line2D
        The means: of held-out rows, and of training rows.
    bands_ : list of PolyCollection
        From the smallest to the largest of the repeats.
    labels_ : list of Annotation
        The labels of the lines, at their ends.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.plots import LearningCurveDisplay
    >>> from greedynet.tables.learning import LearningCurve
    >>> held_out, training = np.array([[3.0, 2.0], [2.8, 2.2]]), np.array([[1.0, 1.5], [1.2, 1.6]])
    >>> curve = LearningCurve(np.array([100, 200]), held_out, training, "rmse")
    >>> LearningCurveDisplay.from_curve(curve).lines_[0].get_ydata()
    array([2.9, 2.1])
    """

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    @classmethod
    def from_curve(
        cls, curve: LearningCurve, *, ax: Any = None, **kwargs: Any
    ) -> "LearningCurveDisplay":
        """Draw a learning curve.

        Parameters
        ----------
        curve : LearningCurve
            What `greedynet.learning_curve` returns.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : LearningCurveDisplay
        """
        return cls(curve).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "LearningCurveDisplay":
        """Draw the errors.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for both lines.

        Returns
        -------
        self : LearningCurveDisplay
        """
        self.ax_ = ax = one_axes(ax, "LearningCurveDisplay.plot")
        self.figure_ = ax.figure
        curve, self.bands_ = self.curve, []
        self.lines_: list[Line2D] = []
        for errors, colour in zip((curve.held_out, curve.training), CYCLE, strict=False):
            style = merged({"color": colour, "linewidth": 1.3, "marker": "o"}, kwargs)
            self.lines_ += ax.plot(curve.sizes, errors.mean(axis=0), **style)
            low, high = errors.min(axis=0), errors.max(axis=0)
            band = ax.fill_between(curve.sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            self.bands_.append(band)
        ax.set_xscale("log")
        ax.set_xticks(curve.sizes, [f"{size:,}" for size in curve.sizes.tolist()])
        ax.set_xticks([], minor=True)
        ax.set(xlabel="training rows", ylabel=score_name(curve.measure))
        ax.set_ylim(0, 1.05 * np.max([curve.held_out.max(), curve.training.max()]))
        style_axes(ax)
        self.labels_ = end_labels(ax, self.lines_, ["held-out rows", "training rows"])
        return self
