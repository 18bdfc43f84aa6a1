"""Functions of one or two variables on grids: a model, its data, its target and its kinks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from greedynet.model.network import Network
from greedynet.support.checks import check_columns, check_matrix, check_same_length
from greedynet.support.types import Float64
from greedynet.views.models import (
    check_features,
    estimator_of,
    input_names,
    network_inputs,
    pick_output,
)

Function = Callable[[Float64], Float64]

# The test grids of the paper: on its domain, the errors agree with its tables.
N_GRID = {1: 1000, 2: 100}
_ADVICE = "draw the errors along the path with `PathDisplay` instead"


@dataclass(frozen=True, eq=False)
class Sample:
    """The arguments of `ApproximationDisplay`; see there."""

    grid: tuple[Float64, ...]
    prediction: Float64
    target: Float64 | None
    X: Float64 | None
    y: Float64 | None
    kinks: Float64 | None
    error: float | None
    name: str
    feature_names: list[str]


def sample_network(
    network: Network,
    X: ArrayLike | None,
    y: ArrayLike | None,
    *,
    target: Function | None,
    output: int | None,
    argument: str = "network",
) -> Sample:
    """Evaluate a network on the range of `X`, or of its training data."""
    d = network.n_features
    check_features(d, [1, 2], argument, _ADVICE)
    if X is None and y is not None:
        raise ValueError("`X` must be given together with `y`, got None: give both or neither.")
    X = network.input_range if X is None else X
    if X is None:
        raise ValueError(
            "`X` must be given for a network that does not store the range of its training data, "
            f"got None: write `X={[[-1] * d, [1] * d]}` for inputs between -1 and 1."
        )
    return _sample(
        network.predict,
        check_matrix(X, "X"),
        y,
        target=target,
        output=output,
        kinks=_kinks(network, output) if d == network.n_lifted == 1 else None,
        name=f"{network.n_nodes} nodes",
        feature_names=input_names(network, d),
    )


def sample_estimator(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    target: Function | None,
    output: int | None,
) -> Sample:
    """Evaluate a fitted estimator on the range of `X`; a table is encoded as in its fit."""
    estimator, X = estimator_of(estimator), network_inputs(estimator, X)
    check_is_fitted(estimator)
    network = getattr(estimator, "network_", None)
    if isinstance(network, Network):
        return sample_network(network, X, y, target=target, output=output, argument="estimator")
    if not callable(getattr(estimator, "predict", None)):
        raise TypeError(
            "`estimator` must have a `predict` method to be drawn, got "
            f"{type(estimator).__name__}: give a regressor, or a pipeline that ends in one."
        )
    rows = check_matrix(X, "X")
    check_features(rows.shape[1], [1, 2], "X", _ADVICE)
    columns, frame_type = getattr(X, "columns", None), cast("Any", type(X))

    def predict(inputs: Float64) -> Float64:
        # A data frame as in the fit: scikit-learn warns if feature names are missing.
        frame = inputs if columns is None else frame_type(inputs, columns=columns)
        return np.asarray(estimator.predict(frame), dtype=np.float64)

    names = input_names(None, rows.shape[1]) if columns is None else list(map(str, columns))
    kind = type(estimator).__name__
    return _sample(
        predict, rows, y, target=target, output=output, kinks=None, name=kind, feature_names=names
    )


def _sample(
    predict: Function,
    X: Float64,
    y: ArrayLike | None,
    *,
    target: Function | None,
    output: int | None,
    kinks: Float64 | None,
    name: str,
    feature_names: list[str],
) -> Sample:
    def values_at(rows: Float64) -> Float64:
        return pick_output(predict(rows), output)

    def target_at(rows: Float64) -> Float64:
        return _column(target(rows), "target", output)  # type: ignore[misc]

    low, high, d = X.min(axis=0), X.max(axis=0), X.shape[1]
    if not (low < high).all():
        raise ValueError(
            "`X` must have at least two distinct values in every column, which span the picture, "
            f"got only {low[low == high][0]:g} in one of them: give more rows."
        )
    data = None if y is None else _column(y, "y", output)
    error = None
    if data is not None:
        check_same_length(X=X, y=data)
        error = relative_error(values_at(X), data)
    grid = tuple(np.linspace(low[k], high[k], N_GRID[d]) for k in range(d))
    rows = grid_rows(grid)
    if target is not None:
        error = relative_error(values_at(rows), target_at(rows))
    if kinks is not None:
        kinks = kinks[(kinks > low[0]) & (kinks < high[0])]
        grid = (np.union1d(grid[0], kinks),)  # so that the corners of the curve are drawn
        rows = grid_rows(grid)
    shape = tuple(map(len, grid))
    return Sample(
        grid,
        values_at(rows).reshape(shape),
        None if target is None else target_at(rows).reshape(shape),
        X[:, 0] if d == 1 and data is not None else None,
        data if d == 1 else None,
        kinks,
        error,
        name,
        feature_names,
    )


def _column(values: ArrayLike, name: str, output: int | None) -> Float64:
    """Return the values of the output to draw; a single column is taken to be that output."""
    columns = check_columns(values, name)
    return columns[:, 0] if columns.shape[1] == 1 else pick_output(columns, output)


def relative_error(found: Float64, wanted: Float64) -> float:
    """Return `|| found - wanted || / || wanted ||`, and `|| found ||` if `wanted` is zero."""
    return float(np.linalg.norm(found - wanted) / (np.linalg.norm(wanted) or 1.0))


def kinks_of_neurons(network: Network) -> Float64:
    """Return where each neuron of one input bends, `x = -b / a`; NaN where it has no slope."""
    slopes = network.inner_weights[:, 0]
    kinks = np.full(len(slopes), np.nan)
    return np.divide(-network.biases, slopes, out=kinks, where=slopes != 0)


def _kinks(network: Network, output: int | None) -> Float64:
    """Return where the function of one input bends."""
    found = kinks_of_neurons(network)
    kinks = np.unique(found[~np.isnan(found) & (pick_output(network.outer_weights, output) != 0)])
    return kinks[network.within_box(kinks[:, None])[:, 0] == kinks]  # beyond, it is constant


def grid_rows(grid: Sequence[Float64]) -> Float64:
    """Return the points of a grid as rows; the last coordinate changes fastest."""
    return np.column_stack([axis.ravel() for axis in np.meshgrid(*grid, indexing="ij")])
