"""Models, inputs and outputs of which a chart is made, checked; errors name the argument."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.model.network import Network
from greedynet.support.types import Float64
from greedynet.tables.model import TableModel


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
    """Return `estimator.attribute`; raise an error if it is not of the expected type."""
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


def check_kind(value: object, kind: type, name: str, caller: str) -> None:
    """Raise an error unless `value` is of the class, and point to `from_estimator`."""
    if not isinstance(value, kind):
        raise TypeError(
            f"`{name}` of `{caller}` must be a {kind.__name__}, got {type(value).__name__}: for a "
            "fitted estimator use `from_estimator`."
        )


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
    """Return the positions of the requested features."""
    if features is None:
        return list(range(len(names)))
    wanted = [features] if isinstance(features, int | np.integer | str) else list(features)
    for feature in wanted:
        known = feature in names if isinstance(feature, str) else 0 <= feature < len(names)
        if not known:
            listed = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(
                f"`features` must be positions from 0 to {len(names) - 1} or names ({listed}), got "
                f"{feature!r}."
            )
    return [names.index(f) if isinstance(f, str) else int(f) for f in wanted]
