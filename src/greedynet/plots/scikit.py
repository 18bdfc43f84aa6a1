"""Displays of scikit-learn, filled with what our models and tables know."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.support.checks import check_matrix
from greedynet.support.files import require
from greedynet.support.phrases import score_name
from greedynet.tables.learning import LearningCurve
from greedynet.tables.model import TableModel
from greedynet.views.effects import EffectInput, effect_inputs, feature_effect
from greedynet.views.models import (
    check_output,
    estimator_of,
    feature_positions,
    fitted,
    input_names,
    network_inputs,
)

if TYPE_CHECKING:
    from sklearn.inspection import PartialDependenceDisplay
    from sklearn.model_selection import LearningCurveDisplay

_CALLER = "draw_effects"
# More rows hardly change the mean, and each value of each feature is evaluated on all of them.
MAX_ROWS = 1000
# The most panels that are legible at a glance.
MOST_FEATURES = 4
_DECILES = np.linspace(0.1, 0.9, 9)


def draw_effects(
    estimator: Any,
    X: Any,
    features: int | str | Sequence[int | str] | None = None,
    *,
    target: Any = None,
    n_nodes: int | None = None,
    **kwargs: Any,
) -> "PartialDependenceDisplay":
    """Draw the effects of features: the mean prediction with a feature set to each of its values.

    For rows `x_i`, a network `g` and a feature `j`, the curve is (partial dependence)

        e(v) = mean_i g(x_i with x_ij = v).

    All panels have one scale. Ticks at the bottom are the deciles of the data: far from them, the
    network was fitted to few rows. If features are correlated, the average includes combinations
    that cannot occur. Two features together, and curves of single rows, are drawn by
    `PartialDependenceDisplay.from_estimator` of scikit-learn, for the same estimators.

    Parameters
    ----------
    estimator : GreedyNetRegressor, GreedyNetClassifier or TableModel
        A fitted model.
    X : array-like of shape (n_rows, n_features)
        Rows to average over, such as the training data; of more than 1,000 rows, 1,000 evenly
        spaced ones. For a `TableModel`, a file, data frame or mapping.
    features : int, str, sequence of them, or None, default=None
        Positions or names of features; for a `TableModel`, of its columns, categories included.
        A date has several, such as "when: month". None for the four features with the largest
        effects, in decreasing order.
    target : object, default=None
        The class whose probability is drawn (of two classes, the second by default), or the
        position of one of several outputs.
    n_nodes : int or None, default=None
        A width of the path; None for the network that was kept.
    **kwargs : dict
        Passed to `PartialDependenceDisplay.plot`, such as `ax` and `n_cols`.

    Returns
    -------
    display : sklearn.inspection.PartialDependenceDisplay

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import draw_effects
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    >>> model = GreedyNetRegressor(max_nodes=12).fit(X, np.abs(X[:, 0]) + X[:, 1])
    >>> display = draw_effects(model, X, features=[0, 1])
    >>> [ax.get_xlabel() for ax in display.axes_.ravel()]
    ['$x_1$', '$x_2$']
    """
    require("matplotlib", "plots", _CALLER)
    from sklearn.inspection import PartialDependenceDisplay

    network = fitted(estimator, "network_", Network, _CALLER)
    if n_nodes is not None:
        network = fitted(estimator, "path_", SelectionPath, _CALLER).network_at(n_nodes)
    rows = check_matrix(network_inputs(estimator, X), "X")
    few = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(np.intp)]
    classes = getattr(estimator_of(estimator), "classes_", None)
    if classes is None:
        output = check_output(network.n_outputs, target)
    else:
        output = _class_position(classes.tolist(), target)
    inputs = _inputs(estimator, network)
    names = [one.name for one in inputs]
    chosen = feature_positions(features, names)
    found = {}
    for i in chosen:
        values = inputs[i].values(rows)
        means = feature_effect(network, few, inputs[i].at, values, classes=classes is not None)
        labels = inputs[i].labels
        grid = values if labels is None else np.array(labels, dtype=object)
        found[i] = Bunch(grid_values=[grid], average=means.T)
    if features is None:
        chosen = sorted(chosen, key=lambda i: -float(np.ptp(found[i].average[output])))
        chosen = chosen[:MOST_FEATURES]
    display = PartialDependenceDisplay(
        [found[i] for i in chosen],
        features=[(i,) for i in chosen],
        feature_names=names,
        target_idx=output,
        deciles={
            i: np.quantile(rows[:, inputs[i].at[0]], _DECILES)
            for i in chosen
            if inputs[i].labels is None
        },
        is_categorical=[(inputs[i].labels is not None,) for i in chosen],
    )
    display.plot(**kwargs)
    if "ax" not in kwargs:
        display.figure_.set_layout_engine("constrained")  # there is room for long names of levels
    return display


def _inputs(estimator: Any, network: Network) -> list[EffectInput]:
    """Return what can vary: parts of columns of a table, or single features."""
    if isinstance(estimator, TableModel):
        return [part for parts in effect_inputs(estimator.columns) for part in parts]
    names = input_names(network, network.n_features)
    return [EffectInput(name, (i,)) for i, name in enumerate(names)]


def _class_position(classes: list[Any], target: Any) -> int:
    if target is None and len(classes) == 2:
        return 1
    if target not in classes:
        raise ValueError(
            f"`target` must be one of the classes {classes}, got {target!r}: its probability is "
            "drawn."
        )
    return classes.index(target)


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
