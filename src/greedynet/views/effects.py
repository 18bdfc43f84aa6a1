"""Effects: the mean prediction as a function of the value of one feature, or of one category.

For rows `x_i`, features `J` and a value `v`, the effect (partial dependence) is

    e(v) = mean_i g(x_i with x_iJ = v).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from greedynet.losses.logistic import probabilities
from greedynet.model.network import Network
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns


def feature_effect(
    network: Network,
    X: ArrayLike,
    features: int | Sequence[int],
    values: ArrayLike,
    *,
    classes: bool = False,
) -> Float64:
    """Return the effect of a feature on the predictions, or on the class probabilities.

    `features` are several for a category, which has one per level, and `values` are then
    `(n_values, len(features))`: `np.eye(n_levels)` for all levels. With `classes`, the outputs are
    logits, and the effect is that on the probabilities. Returns `(n_values, n_outputs)`.
    """
    rows = check_matrix(X, "X").copy()
    columns = np.atleast_1d(np.asarray(features, dtype=np.intp))
    settings = np.asarray(values, dtype=np.float64).reshape(-1, len(columns))
    effect = []
    for setting in settings:
        rows[:, columns] = setting
        outputs = network.predict_of(network.neuron_inputs(rows)).reshape(len(rows), -1)
        effect.append((probabilities(outputs) if classes else outputs).mean(axis=0))
    return np.array(effect)


def effect_grid(column: ArrayLike, n_values: int = 41) -> Float64:
    """Return a grid of values of a feature: its own values if few, otherwise evenly spaced.

    The grid excludes the lowest and the highest hundredth of the data, where there are hardly any
    rows.
    """
    cells = np.asarray(column, dtype=np.float64)
    distinct = np.unique(cells)
    if len(distinct) <= min(n_values, 12):
        return distinct
    low, high = np.quantile(cells, [0.01, 0.99])
    if low == high:
        low, high = distinct[0], distinct[-1]
    return np.linspace(low, high, n_values)


@dataclass(frozen=True, eq=False)
class EffectInput:
    """What varies in an effect: a number, or a category, which has several features."""

    name: str
    at: tuple[int, ...]  # its features
    settings: Float64 | None = None  # those of each level of a category
    labels: Sequence[str] | None = None  # the names of the levels

    def values(self, rows: Float64, n_values: int = 41) -> Float64:
        """Return the values it is set to: a grid of those in the rows, or the levels."""
        if self.settings is not None:
            return self.settings
        return effect_grid(rows[:, self.at[0]], n_values)


def effect_inputs(columns: Columns) -> list[list[EffectInput]]:
    """Return what varies in each column of a table; a date has several parts, such as its month."""
    starts = np.cumsum([0, *(column.n_features for column in columns.inputs)]).tolist()
    return [
        [
            EffectInput(part.name, tuple(start + i for i in part.at), part.values, part.labels)
            for part in column.parts
        ]
        for start, column in zip(starts, columns.inputs, strict=False)
    ]
