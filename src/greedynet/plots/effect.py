"""`EffectDisplay`: how the prediction depends on single features, with the deciles of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.losses.logistic import probabilities
from greedynet.model.effects import effect_grid, feature_effect
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath
from greedynet.plots.canvas import many_axes
from greedynet.plots.inputs import (
    feature_positions,
    fitted,
    input_names,
    network_inputs,
    pick_output,
    unwrapped,
)
from greedynet.plots.style import GREY, INK, RED, merged, one_scale, style_axes
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.tables.model import TableModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_CALLER = "EffectDisplay.from_estimator"
# More rows hardly change the mean, and each value of each feature is evaluated on all of them.
MAX_ROWS = 1000
# The most panels that are legible side by side.
MOST_FEATURES = 4
_DECILES = np.linspace(0.1, 0.9, 9)


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of one feature.

    Attributes
    ----------
    name : str
        The feature.
    values : ndarray of shape (n_values,)
        Values the feature is set to: numbers, or the levels of a category.
    means : ndarray of shape (n_values,)
        The mean prediction at each value.
    deciles : ndarray or None
        Deciles of the data; None for a category.
    """

    name: str
    values: NDArray[Any]
    means: Float64
    deciles: Float64 | None = None


class EffectDisplay:
    """Effects of features: the mean prediction with a feature set to each of its values.

    For rows `x_i`, a network `g` and a feature `j`, the curve is (partial dependence)

        e(v) = mean_i g(x_i with x_ij = v).

    It is drawn in the units of the prediction, all panels on one scale, with the mean prediction as
    a dotted line. Ticks at the bottom are the deciles of the data: far from them, the network was
    fitted to few rows. If features are correlated, the average includes combinations that cannot
    occur.

    Parameters
    ----------
    effects : sequence of Effect
        One for each panel.
    mean : float or None, default=None
        The mean prediction.
    label : str, default="mean prediction"
        What is predicted.

    Attributes
    ----------
    ax_ : Axes or ndarray of Axes
        Axes of the picture; an array if there are several panels.
    figure_ : Figure
        Figure of the picture.
    lines_ : list of Line2D
        The effects; for a category, one point per level.
    rugs_ : list of Line2D or None
        The deciles; None for a category.
    mean_lines_ : list of Line2D
        The mean prediction in each panel, if it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.plots import EffectDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    >>> model = GreedyNetRegressor(max_nodes=12).fit(X, np.abs(X[:, 0]) + X[:, 1])
    >>> display = EffectDisplay.from_estimator(model, X, features=[0, 1])
    >>> [effect.name for effect in display.effects]
    ['$x_1$', '$x_2$']
    """

    def __init__(
        self,
        effects: Sequence[Effect],
        *,
        mean: float | None = None,
        label: str = "mean prediction",
    ) -> None:
        self.effects = list(effects)
        self.mean, self.label = mean, label
        if not self.effects:
            raise ValueError("`effects` must have at least one Effect, got none.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: int | str | Sequence[int | str] | None = None,
        *,
        target: Any = None,
        n_nodes: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "EffectDisplay":
        """Draw the effects of features of a fitted estimator.

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
        ax : Axes, array of Axes or None, default=None
            Where to draw, one for each feature; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : EffectDisplay
        """
        network = fitted(estimator, "network_", Network, _CALLER)
        if n_nodes is not None:
            path = fitted(estimator, "path_", SelectionPath, _CALLER)
            network = path.network_at(n_nodes)
        table = estimator if isinstance(estimator, TableModel) else None
        rows = check_matrix(network_inputs(estimator, X), "X")
        classes = getattr(unwrapped(estimator), "classes_", None)
        output = target if classes is None else _class(classes.tolist(), target)
        sources = _sources(network) if table is None else _columns(table)
        chosen = feature_positions(features, [source.name for source in sources])
        few = rows[_spread(len(rows))]

        def means(source: _Source, values: ArrayLike) -> Float64:
            effect = feature_effect(network, few, source.at, values, classes=classes is not None)
            return pick_output(effect, output)

        effects = [sources[i].effect(rows, means) for i in chosen]
        if features is None:
            effects.sort(key=lambda effect: -float(np.ptp(effect.means)))
            effects = effects[:MOST_FEATURES]
        outputs = network.predict(few).reshape(len(few), -1)
        if classes is not None:
            outputs = probabilities(outputs)
        mean = float(pick_output(outputs, output).mean())
        label = "mean prediction" if table is None else f"mean prediction of {table.target}"
        if classes is not None:
            label = f"mean probability of {classes[output]}"
        return cls(effects, mean=mean, label=label).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "EffectDisplay":
        """Draw the effects.

        Parameters
        ----------
        ax : Axes, array of Axes or None, default=None
            Where to draw, one for each feature; None for a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for the effects.

        Returns
        -------
        self : EffectDisplay
        """
        n = len(self.effects)
        axes = many_axes(ax, "EffectDisplay.plot", n, (1.0 + 2.6 * n, 2.8))
        self.figure_ = axes[0].figure
        self.ax_ = axes[0] if n == 1 else np.array(axes, dtype=object)
        self.lines_, self.rugs_, self.mean_lines_ = [], [], []
        for one, effect in zip(axes, self.effects, strict=True):
            if self.mean is not None:
                options: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": ":"}
                self.mean_lines_.append(one.axhline(self.mean, zorder=1, **options))
            self.lines_.append(_draw(one, effect, kwargs))
            self.rugs_.append(_rug(one, effect))
            one.set_xlabel(effect.name)
            style_axes(one)
        axes[0].set_ylabel(self.label)
        one_scale(axes)
        return self


# Arguments


@dataclass(frozen=True)
class _Source:
    """What varies: its name, its features, and their settings and names if it is no number."""

    name: str
    at: tuple[int, ...]
    settings: Float64 | None = None
    labels: Sequence[Any] | None = None

    def effect(self, rows: Float64, means: Any) -> Effect:
        if self.settings is not None:
            values = means(self, self.settings)
            return Effect(self.name, np.array(self.labels, dtype=object), values)
        grid = effect_grid(rows[:, self.at[0]])
        return Effect(self.name, grid, means(self, grid), np.quantile(rows[:, self.at], _DECILES))


def _sources(network: Network) -> list[_Source]:
    names = input_names(network, network.n_features)
    return [_Source(name, (i,)) for i, name in enumerate(names)]


def _columns(model: TableModel) -> list[_Source]:
    found, start = [], 0
    for column in model.columns.inputs:
        for part in column.parts:
            at = tuple(start + i for i in part.at)
            found.append(_Source(part.name, at, part.values, part.labels))
        start += column.n_features
    return found


def _class(classes: list[Any], target: Any) -> int:
    if target is None and len(classes) == 2:
        return 1
    if target not in classes:
        raise ValueError(
            f"`target` must be one of the classes {classes}, got {target!r}: its probability is "
            "drawn."
        )
    return classes.index(target)


def _spread(n_rows: int) -> NDArray[np.intp]:
    """Return the positions of all rows, or of `MAX_ROWS` evenly spaced ones."""
    return np.linspace(0, n_rows - 1, min(n_rows, MAX_ROWS)).astype(np.intp)


# The picture


def _draw(ax: "Axes", effect: Effect, given: dict[str, Any]) -> Any:
    options: dict[str, Any] = {"color": RED, "linewidth": 1.6, "zorder": 3}
    if effect.values.dtype != object:
        (line,) = ax.plot(effect.values, effect.means, **merged(options, given))
        return line
    options |= {"linestyle": "none", "marker": "o", "markersize": 6}
    places = np.arange(len(effect.values))
    (line,) = ax.plot(places, effect.means, **merged(options, given))
    ax.set_xticks(places, effect.values.tolist())
    ax.set_xlim(-0.5, len(places) - 0.5)
    if sum(map(len, effect.values)) > 24:
        ax.tick_params(axis="x", labelrotation=90)
    return line


def _rug(ax: "Axes", effect: Effect) -> Any:
    """Draw the deciles that lie within the plotted range."""
    if effect.deciles is None:
        return None
    low, high = effect.values.min(), effect.values.max()
    inside = effect.deciles[(effect.deciles >= low) & (effect.deciles <= high)]
    (rug,) = ax.plot(
        inside,
        np.full(len(inside), 0.025),
        "|",
        transform=ax.get_xaxis_transform(),
        color=INK,
        markersize=6,
        markeredgewidth=0.8,
    )
    return rug
