"""What questions ask of any model: its network, its columns, the box of its data, its outputs."""

from typing import Any

import numpy as np

from greedynet.model.network import Network
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64
from greedynet.tables.columns import Columns
from greedynet.tables.load import known_names, with_columns
from greedynet.tables.model import TableModel


def network_of(model: Any) -> Network:
    """Return the network of a model; raise an error for anything else."""
    if isinstance(model, TableModel):
        return model.network
    found = model if isinstance(model, Network) else getattr(model, "network_", None)
    if not isinstance(found, Network):
        raise TypeError(
            "`model` must be a TableModel, a fitted greedynet estimator or a Network, got "
            f"{type(model).__name__}."
        )
    return found


def columns_of(model: Any) -> Columns:
    """Return the columns that a model takes, each a number if it knows nothing of them."""
    network_of(model)
    if isinstance(model, TableModel):
        return model.columns
    names, n_columns = known_names(model)
    return with_columns(model, names or tuple(f"x{j}" for j in range(n_columns))).columns


def box_of(model: Any, X: Any = None) -> Float64 | None:
    """Return the smallest and largest features of rows, or of the training data if known.

    Parameters
    ----------
    model : TableModel, estimator or Network
    X : array-like of shape (n_rows, n_features), a table, or None
        The rows; None for the training data.

    Returns
    -------
    box : ndarray of shape (2, n_features) or None
    """
    network = network_of(model)
    if X is None:
        return network.input_range
    if isinstance(model, TableModel):
        X = model.inputs(X)
    elif hasattr(model, "categories_") or hasattr(model, "filling_"):
        X = model.network_inputs(X)
    rows = check_matrix(X, "X")
    if rows.shape[1] != network.n_features or not len(rows):
        raise ValueError(
            f"`X` must have rows of {network.n_features} features, got the shape {rows.shape}."
        )
    return np.array([rows.min(axis=0), rows.max(axis=0)])


def output_of(model: Any, output: Any) -> int:
    """Return the position of the output that is asked about."""
    network, classes = network_of(model), _classes(model)
    if output is None:
        if network.n_outputs == 1:
            return 0
        of = "outputs" if classes is None else f"classes {classes[:8]}"
        raise ValueError(f"`output` must choose one of the {network.n_outputs} {of}, got None.")
    if classes is not None and network.n_outputs > 1 and output in classes:
        return int(classes.index(output))
    if isinstance(output, int | np.integer) and classes is None and 0 <= output < network.n_outputs:
        return int(output)
    known = f"a position below {network.n_outputs}" if classes is None else f"one of {classes[:8]}"
    if classes is not None and network.n_outputs == 1:
        known = f"None: with two classes, it is the log-odds of {classes[1]!r}"
    raise ValueError(f"`output` must be {known}, got {output!r}.")


def _classes(model: Any) -> list[Any] | None:
    classes = getattr(model, "classes_", None)
    return None if classes is None else list(classes.tolist())
