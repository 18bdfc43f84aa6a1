"""The learning curve, as scikit-learn's display shows it."""

from typing import TYPE_CHECKING, Any

from greedynet.support.files import require
from greedynet.support.phrases import score_name
from greedynet.tables.learning import LearningCurve

if TYPE_CHECKING:
    from sklearn.model_selection import LearningCurveDisplay


def draw_learning_curve(curve: LearningCurve, **kwargs: Any) -> "LearningCurveDisplay":
    """Draw errors on training and held-out rows by the number of rows.

    Parameters
    ----------
    curve : LearningCurve
        What `greedynet.learning_curve` returns.
    **kwargs : dict
        Passed to `LearningCurveDisplay.plot`, such as `ax`.

    Returns
    -------
    display : sklearn.model_selection.LearningCurveDisplay
        Its `test_scores` are the errors on held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.plots import draw_learning_curve
    >>> from greedynet.tables.learning import LearningCurve
    >>> held_out, training = np.array([[3.0, 2.0], [2.8, 2.2]]), np.array([[1.0, 1.5], [1.2, 1.6]])
    >>> curve = LearningCurve(np.array([100, 200]), held_out, training, "rmse")
    >>> draw_learning_curve(curve).lines_[1].get_ydata()
    array([2.9, 2.1])
    """
    require("matplotlib", "plots", "draw_learning_curve")
    from sklearn.model_selection import LearningCurveDisplay

    display = LearningCurveDisplay(
        train_sizes=curve.sizes,
        train_scores=curve.training.T,
        test_scores=curve.held_out.T,
        score_name=score_name(curve.measure),
    )
    display.plot(**kwargs)
    # Sizes double from one to the next.
    display.ax_.set_xscale("log")
    display.ax_.set_xticks(curve.sizes, [f"{size:,}" for size in curve.sizes.tolist()])
    display.ax_.set_xticks([], minor=True)
    display.ax_.set(xlabel="training rows", ylim=(0.0, None))
    return display
