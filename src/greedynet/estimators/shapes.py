"""`monotonic_cst`, `convex` and `bounds`, checked: what shape predictions have, and where they end.

Outputs outside the bounds would be errors that no network within them can avoid, so they are
refused. Where all outputs are inside, no prediction is made worse by its bound: it moves towards
the output, whichever that is.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_monotonic_cst

from greedynet.activations import get_activation, has_small_slopes, is_convex
from greedynet.estimators.frames import features_of, known_levels
from greedynet.fitting.plan import HiddenLayers
from greedynet.model.bounds import OutputBounds
from greedynet.model.coordinates import proves_shape
from greedynet.model.network import Network
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.checks import check_float, is_number
from greedynet.support.types import Float64

CST = "monotonic_cst"
_MEANINGS = {
    CST: "1 for increasing, -1 for decreasing, 0 for any",
    "convex": "1 for convex, -1 for concave, 0 for any",
}
# The parameters for shapes.
SHAPES = tuple(_MEANINGS)


def is_asked_for(value: Any) -> bool:
    """Whether a shape is asked for: an array or a dict with a number that is not 0."""
    if value is None:
        return False
    return any(v != 0 for v in (value.values() if isinstance(value, dict) else np.ravel(value)))


def extrapolates(model: Any) -> bool:
    """Whether the network takes inputs outside the training rows as they are.

    Always with `convex`: where a convex function becomes constant, it bends the other way. A
    monotone one stays monotone.
    """
    return bool(model.extrapolate) or is_asked_for(model.convex)


def layers_of(model: Any) -> HiddenLayers:
    """Return the number of hidden layers to try.

    By default one; with `monotonic_cst` alone also two, because a network of one layer whose
    neurons are all monotone cannot rise between two plateaus.
    """
    is_flexible = is_asked_for(model.monotonic_cst) and not is_asked_for(model.convex)
    if model.hidden_layers is not None:
        layers: HiddenLayers = model.hidden_layers
        return 1 if layers == "auto" and is_asked_for(model.convex) else layers
    return "auto" if is_flexible else 1


def shape_of(model: Any, n_inputs: int, n_outputs: int) -> Shape | None:
    """Return the shape along the inputs of the network, None if any will do."""
    parts = [_of_features(model, name, n_inputs) for name in _MEANINGS]
    if not any(part.any() for part in parts):
        return None
    _check_others(model, n_outputs)
    return Shape(*parts)


def _of_features(model: Any, name: str, n_inputs: int) -> Float64:
    by_column, levels = _of_columns(model, name), known_levels(model)
    columns = list(getattr(model, "feature_names_in_", range(len(by_column))))
    for column, value in zip(columns, by_column.tolist(), strict=True):
        if value and column in levels:
            raise ValueError(
                f"`{name}` must be 0 for the column {column!r}, which has categories and no order, "
                f"got {value:.0f}: leave it out."
            )
    of_features = np.repeat(by_column, [len(features_of(column, levels)) for column in columns])
    return np.append(of_features, np.zeros(n_inputs - len(of_features)))


def _of_columns(model: Any, name: str) -> Float64:
    """Return what is asked for of each column of `X`, as scikit-learn reads it."""
    given = getattr(model, name)
    try:
        if isinstance(given, dict):
            given = given or None  # an array without names needs none
        elif np.ndim(given) > 1:
            raise ValueError(f"{CST} has the shape {np.shape(given)}, not one dimension.")
        return np.asarray(_check_monotonic_cst(model, given), dtype=np.float64)
    except (TypeError, ValueError) as error:
        said = str(error).replace(CST, f"`{name}`")
        wanted = f"`{name}` must be {_MEANINGS[name]} for each column of `X`"
        raise ValueError(f"{wanted}: {said}") from None


def _check_others(model: Any, n_outputs: int) -> None:
    """Raise an error for parameters that do not go with a shape."""
    name = next(name for name in _MEANINGS if is_asked_for(getattr(model, name)))
    for wanted, is_so, got, instead in (
        ("one output", n_outputs == 1, f"{n_outputs} outputs or classes", _for_outputs(model)),
        (
            "an activation with slopes between 0 and 1",
            has_small_slopes(get_activation(model.activation)),
            f"activation={model.activation!r}",
            'write activation="relu", "softplus", "tanh" or "sigmoid"',
        ),
        (
            'search="continuous"',
            model.search == "continuous",
            f"search={model.search!r}",
            'write search="continuous"',
        ),
        ("corrected neurons", bool(model.correct), "correct=False", "write correct=True"),
        (
            'loss="squared_error"',
            getattr(model, "loss", "squared_error") == "squared_error",
            f"loss={getattr(model, 'loss', None)!r}",
            'write loss="squared_error"',
        ),
    ):
        if not is_so:
            raise ValueError(f"`{name}` needs {wanted}, got {got}: {instead}.")
    if is_asked_for(model.convex) and not is_convex(get_activation(model.activation)):
        raise ValueError(
            f"`convex` needs a convex activation, got activation={model.activation!r}: write "
            'activation="relu" or "softplus".'
        )
    _check_bounds(model)
    if is_asked_for(model.convex) and model.hidden_layers == 2:
        raise ValueError(
            "`convex` needs one hidden layer, got hidden_layers=2: ramps of a column are not "
            "convex. Write hidden_layers=1."
        )


def _check_bounds(model: Any) -> None:
    """Raise an error for bounds at which a function would bend the other way."""
    asked = model.convex
    if asked is None or getattr(model, "bounds", None) is None:
        return
    values = set(asked.values() if isinstance(asked, dict) else np.ravel(asked).tolist())
    low, high = (model.bounds,) * 2 if isinstance(model.bounds, str) else model.bounds
    for number, end, name, shape in ((1, high, "upper", "convex"), (-1, low, "lower", "concave")):
        if number in values and end is not None:
            raise ValueError(
                f"`bounds` must have no {name} end for a {shape} function, got {end!r}: it would "
                "bend the other way there. Write None."
            )


def _for_outputs(model: Any) -> str:
    if hasattr(model, "classes_"):
        return "fit one classifier for each class against the others"
    return "fit one model for each output"


def check_shape(network: Network, shape: Shape) -> None:
    if not proves_shape(network, shape):
        raise RuntimeError(
            "The network does not have the shape that `monotonic_cst` and `convex` ask for. This "
            "is a fault of greedynet: please report it with the data."
        )


# Bounds


def check_bounds(bounds: Any) -> OutputBounds | None:
    """Return the bounds of all outputs, None if both ends are open, or raise an error."""
    if bounds is None:
        return None
    pair = list(bounds) if np.ndim(bounds) == 1 else []
    for end in pair:
        check_float(end, "bounds")
    if len(pair) != 2 or not all(end is None or _is_end(end) for end in pair):
        raise ValueError(
            "`bounds` must be a pair (low, high) of numbers, with None for an open end, got "
            f"{bounds!r}: write bounds=(0, None) for outputs that are not negative."
        )
    found = OutputBounds(*pair)
    return None if found.is_open else found


def _is_end(value: Any) -> bool:
    return is_number(value) and not isinstance(value, bool | np.bool_) and not np.isnan(value)


def number_bounds(
    bounds: Any, training: Rows | Blocks, validation: Rows | None
) -> OutputBounds | None:
    """Return the bounds of a regression; raise an error for outputs outside them."""
    if isinstance(bounds, str):
        return OutputBounds(*_range(training))
    found = check_bounds(bounds)
    if found is not None:
        for name, data in (("y", training), ("y_val", validation)):
            if data is not None:
                _check_inside(found, _range(data), name)
    return found


def _range(data: Rows | Blocks) -> tuple[Float64, Float64]:
    """Return the smallest and the largest value of each output in rows with a positive weight."""
    if not isinstance(data, Rows):
        low, high = data.survey().output_range
        return low, high
    Y = data.Y if data.weights is None else data.Y[data.weights > 0]
    return Y.min(axis=0, initial=np.inf), Y.max(axis=0, initial=-np.inf)


def _check_inside(bounds: OutputBounds, seen: tuple[Float64, Float64], name: str) -> None:
    low, high = bounds.pairs()[0]
    least, most = float(seen[0].min()), float(seen[1].max())
    beyond = least if low is not None and least < low else most
    if (low is None or least >= low) and (high is None or most <= high):
        return
    wider = (
        None if low is None else min(low, least),
        None if high is None else max(high, most),
    )
    raise ValueError(
        f"`{name}` must lie within `bounds`, {bounds.sentence()}, got {beyond!r}: remove such "
        f"rows, or write bounds={wider!r}."
    )
