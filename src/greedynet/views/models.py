"""What charts show of a model: its inputs and outputs, its values on a grid, and its neurons.

Errors name the argument.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.model.network import Network
from greedynet.support.checks import check_columns, check_matrix, check_same_length
from greedynet.support.types import Float64
from greedynet.tables.model import TableModel

Function = Callable[[Float64], Float64]

# The test grids of the paper: on its domain, the errors agree with its tables.
N_GRID = {1: 1000, 2: 100}


def estimator_of(model: Any) -> Any:
    """Return the estimator of a `TableModel`, and any other model unchanged."""
    return model.estimator if isinstance(model, TableModel) else model


def network_inputs(model: Any, X: Any) -> Any:
    """Return inputs as the network takes them: encoded, if the model has columns or categories."""
    if isinstance(model, TableModel):
        return model.inputs(X)
    learned = (getattr(model, name, None) for name in ("filling_", "categories_"))
    return X if all(what is None for what in learned) else model.network_inputs(X)


def fitted(estimator: Any, attribute: str, kind: type, caller: str) -> Any:
    """Return `estimator.attribute`, or a network itself; raise an error for anything else."""
    if kind is Network and isinstance(estimator, Network):
        return estimator
    estimator = estimator_of(estimator)
    check_is_fitted(estimator)
    value = getattr(estimator, attribute, None)
    if not isinstance(value, kind):
        last = ": pass its last step, `pipeline[-1]`" if isinstance(estimator, Pipeline) else ""
        raise TypeError(
            f"`estimator` of `{caller}` must be a fitted greedynet estimator, which has "
            f"`{attribute}`, got {type(estimator).__name__}{last}."
        )
    return value


def check_features(n: int, allowed: Sequence[int], name: str, advice: str) -> None:
    """Raise an error unless this number of inputs can be drawn."""
    if n not in allowed:
        wanted = " or ".join(map(str, allowed))
        plural = "input" if wanted == "1" else "inputs"
        raise ValueError(f"`{name}` must have {wanted} {plural} to be drawn, got {n}: {advice}.")


def pick_output(values: Float64, output: int | None) -> Float64:
    """Return one output of `(n,)` or `(n, n_outputs)` values."""
    columns = values.reshape(len(values), -1)
    return columns[:, check_output(columns.shape[1], output)]


def check_output(n: int, output: int | None) -> int:
    """Return the position of the output to show, of `n`; raise an error if it must be chosen."""
    if output is None and n == 1:
        return 0
    if output is None or not 0 <= output < n:
        raise ValueError(
            f"`output` must select one of the {n} outputs to show, got {output}: write `output=0` "
            "for the first."
        )
    return output


def input_names(network: Network | None, n_features: int) -> list[str]:
    """Return labels for the axes: the names of the features, or x."""
    if network is not None and network.feature_names is not None:
        return list(network.feature_names)
    return ["$x$"] if n_features == 1 else [f"$x_{i + 1}$" for i in range(n_features)]


def feature_positions(features: Any, names: list[str]) -> list[int]:
    if features is None:
        return list(range(len(names)))
    wanted = [features] if isinstance(features, int | np.integer | str) else list(features)
    if not wanted:
        raise ValueError("`features` must have at least one position or name, got none.")
    for feature in wanted:
        known = feature in names if isinstance(feature, str) else 0 <= feature < len(names)
        if not known:
            listed = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(
                f"`features` must be positions from 0 to {len(names) - 1} or names ({listed}), got "
                f"{feature!r}."
            )
    return [names.index(f) if isinstance(f, str) else int(f) for f in wanted]


# Functions of one or two variables


def sample_network(
    network: Network,
    X: ArrayLike | None,
    y: ArrayLike | None,
    *,
    target: Function | None,
    output: int | None,
) -> dict[str, Any]:
    """Evaluate a network on the range of `X`, or of its training data.

    Returns the arguments of `ApproximationDisplay`; see there.
    """
    d = network.n_features
    advice = "draw the errors along the path with `PathDisplay` instead"
    check_features(d, [1, 2], "estimator", advice)
    if X is None and y is not None:
        raise ValueError("`X` must be given together with `y`, got None: give both or neither.")
    X = network.input_range if X is None else X
    if X is None:
        raise ValueError(
            "`X` must be given for a network that does not store the range of its training data, "
            f"got None: write `X={[[-1] * d, [1] * d]}` for inputs between -1 and 1."
        )
    X = check_matrix(X, "X")
    low, high = X.min(axis=0), X.max(axis=0)
    if not (low < high).all():
        raise ValueError(
            "`X` must have at least two distinct values in every column, which span the picture, "
            f"got only {low[low == high][0]:g} in one of them: give more rows."
        )

    def values_at(rows: Float64) -> Float64:
        return pick_output(network.predict(rows), output)

    grid = tuple(np.linspace(low[k], high[k], N_GRID[d]) for k in range(d))
    found: dict[str, Any] = {"name": f"{network.n_nodes} nodes"}
    if y is not None:
        data = _column(y, "y", output)
        check_same_length(X=X, y=data)
        found["error"] = relative_error(values_at(X), data)
        if d == 1:
            found |= {"X": X[:, 0], "y": data}
    if target is not None:
        rows = _grid_rows(grid)
        wanted = _column(target(rows), "target", output)
        found["error"] = relative_error(values_at(rows), wanted)
    if d == network.n_lifted == 1:
        kinks = _kinks(network, output)
        found["kinks"] = kinks = kinks[(kinks > low[0]) & (kinks < high[0])]
        grid = (np.union1d(grid[0], kinks),)  # so that the corners of the curve are drawn
    rows, shape = _grid_rows(grid), tuple(map(len, grid))
    if target is not None:
        found["target"] = _column(target(rows), "target", output).reshape(shape)
    prediction, names = values_at(rows).reshape(shape), input_names(network, d)
    return found | {"grid": grid, "prediction": prediction, "feature_names": names}


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


def _grid_rows(grid: Sequence[Float64]) -> Float64:
    """Return the points of a grid as rows; the last coordinate changes fastest."""
    return np.column_stack([axis.ravel() for axis in np.meshgrid(*grid, indexing="ij")])


def neurons_on_sphere(inner_weights: Float64, biases: Float64, domain: Float64) -> Float64:
    """Return the neurons as points of the sphere, for inputs scaled from the domain to [-1, 1].

    The neuron `sigma(a . x + b)` is the point `(a, b)`, divided by its norm. The domain has the
    smallest and the largest value of each input, `(2, d)`. A neuron without weights and bias stays
    at zero.
    """
    middle, half = (domain[0] + domain[1]) / 2, (domain[1] - domain[0]) / 2
    points = np.column_stack([inner_weights * half, biases + inner_weights @ middle])
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(lengths > 0, lengths, 1.0))
