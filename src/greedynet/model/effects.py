"""The effect of a feature: the mean prediction as a function of the value of that feature.

For rows `x_i`, features `J` and a value `v`, the effect (partial dependence) is

    e(v) = mean_i g(x_i with x_iJ = v).

The networks of a path share their neurons, so their means are computed once,

    h_n(v) = mean_i sigma(a_n . x_i(v) + b_n),    e(v) = sum_n c_n h_n(v) + l . mean_i x_i(v) + m,

and each width only needs its outer weights. Class probabilities and outputs with bounds are not
sums of neurons: there the mean over the rows is taken last.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import activate
from greedynet.losses.logistic import probabilities
from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64


def feature_effect(
    network: Network,
    X: ArrayLike,
    features: int | Sequence[int],
    values: ArrayLike,
    *,
    classes: bool = False,
) -> Float64:
    """Return the effect of a feature on the predictions, or on the class probabilities.

    Parameters
    ----------
    network : ShallowNetwork or DeepNetwork
        The network.
    X : array-like of shape (n_rows, n_features)
        Rows over which the mean is taken.
    features : int or sequence of int
        The column that is set; several for a categorical feature, which has a column per level.
    values : array-like of shape (n_values,) or (n_values, len(features))
        The values; `np.eye(n_levels)` for all levels of a categorical feature.
    classes : bool, default=False
        Whether the outputs are logits, and the effect is that on the probabilities.

    Returns
    -------
    effect : ndarray of shape (n_values, n_outputs) or (n_values, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import ShallowNetwork
    >>> from greedynet.model.effects import feature_effect
    >>> network = ShallowNetwork(np.eye(2), np.zeros(2), np.array([[1.0], [10.0]]))
    >>> feature_effect(network, [[0.0, 1.0], [0.0, 3.0]], 0, [-1.0, 0.0, 2.0])[:, 0]
    array([20., 20., 22.])
    """
    return path_effects([network], X, features, values, classes=classes)[0]


def path_effects(
    networks: Sequence[Network],
    X: ArrayLike,
    features: int | Sequence[int],
    values: ArrayLike,
    *,
    classes: bool = False,
) -> Float64:
    """Return the effect of a feature for networks of one path, at the cost of the widest.

    With `classes=True`, and for outputs with bounds, the neurons are stored for all values and rows
    at once: pass a few hundred rows.

    Parameters
    ----------
    networks : sequence of ShallowNetwork or of DeepNetwork
        Networks whose neurons are the first neurons of the widest, such as
        `[path.network.truncate(n) for n in path.n_nodes]`.
    X, features, values, classes
        As in `feature_effect`.

    Returns
    -------
    effects : ndarray of shape (n_networks, n_values, n_outputs or n_classes)
    """
    rows = check_matrix(X, "X")
    columns = np.atleast_1d(np.asarray(features, dtype=np.intp))
    settings = np.asarray(values, dtype=np.float64).reshape(-1, len(columns))
    widest = max(networks, key=lambda network: network.n_neurons)
    average = not classes and all(network.bounds is None for network in networks)
    if isinstance(widest, DeepNetwork):
        hidden, inputs = _varied_in_layers(widest, rows, columns, settings, average=average)
        networks = [network.over for network in networks if isinstance(network, DeepNetwork)]
    else:
        hidden, inputs = _varied(widest, rows, columns, settings, average=average)
    effects = []
    for network in networks:
        outputs = combined(network, hidden, inputs)
        if classes:
            outputs = probabilities(outputs)
        effects.append(outputs.reshape(len(settings), -1, outputs.shape[1]).mean(axis=1))
    return np.array(effects)


def combined(network: Network, hidden: Float64, X: Float64) -> Float64:
    """Return the outputs of a network from the values of its neurons, `(n_rows, n_outputs)`.

    Parameters
    ----------
    network : ShallowNetwork or DeepNetwork
        The network.
    hidden : ndarray of shape (at least n_neurons, n_rows)
        Values of the neurons of this network, possibly followed by others.
    X : ndarray of shape (n_rows, n_features)
        The rows.
    """
    if isinstance(network, DeepNetwork):
        return combined(network.over, hidden, network.ramps.lift(X))
    outputs = (network.outer_weights.T @ hidden[: network.n_neurons]).T
    if network.linear_weights is not None:
        outputs += X @ network.linear_weights
    if network.intercept is not None:
        outputs += network.intercept
    return np.asarray(outputs if network.bounds is None else network.bounds.apply(outputs))


def effect_grid(column: ArrayLike, n_values: int = 41) -> Float64:
    """Return a grid of values of a feature: its own values if few, otherwise evenly spaced.

    The grid excludes the lowest and the highest hundredth of the data, where there are hardly any
    rows.

    Parameters
    ----------
    column : array-like of shape (n_rows,)
        The feature.
    n_values : int, default=41
        Maximum number of values.

    Returns
    -------
    values : ndarray of shape (at most n_values,)
    """
    cells = np.asarray(column, dtype=np.float64)
    distinct = np.unique(cells)
    if len(distinct) <= min(n_values, 12):
        return distinct
    low, high = np.quantile(cells, [0.01, 0.99])
    if low == high:
        low, high = distinct[0], distinct[-1]
    return np.linspace(low, high, n_values)


def _varied(
    network: ShallowNetwork,
    rows: Float64,
    columns: NDArray[np.intp],
    settings: Float64,
    *,
    average: bool,
) -> tuple[Float64, Float64]:
    """Return neurons and inputs for every value and row, or their means over the rows.

    Returns
    -------
    hidden : ndarray of shape (n_neurons, n_values * n_rows) or (n_neurons, n_values)
    inputs : ndarray of shape (n_values * n_rows, n_features) or (n_values, n_features)
    """
    rest = rows.copy()
    rest[:, columns] = 0.0
    fixed = rest @ network.inner_weights.T + network.biases
    shifts = settings @ network.inner_weights[:, columns].T
    if average:
        rest = rest.mean(axis=0, keepdims=True)
    hidden, inputs = [], []
    for shift, setting in zip(shifts, settings, strict=True):
        values = np.asarray(activate(network.activation, fixed + shift))
        hidden.append(values.mean(axis=0, keepdims=True) if average else values)
        x = rest.copy()
        x[:, columns] = setting
        inputs.append(x)
    return np.ascontiguousarray(np.concatenate(hidden).T), np.concatenate(inputs)


def _varied_in_layers(
    network: DeepNetwork,
    rows: Float64,
    columns: NDArray[np.intp],
    settings: Float64,
    *,
    average: bool,
) -> tuple[Float64, Float64]:
    """Return neurons and lifted inputs for every value and row, or their means over the rows."""
    hidden, inputs = [], []
    for setting in settings:
        x = rows.copy()
        x[:, columns] = setting
        lifted = network.ramps.lift(x)
        values = network.over.hidden(lifted)
        hidden.append(values.mean(axis=0, keepdims=True) if average else values)
        inputs.append(lifted.mean(axis=0, keepdims=True) if average else lifted)
    return np.ascontiguousarray(np.concatenate(hidden).T), np.concatenate(inputs)
