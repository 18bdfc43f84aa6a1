"""Keras: a network from a model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.activations import Activation, get_activation
from greedynet.export.agreement import check_agreement
from greedynet.export.keras_model.activations import ACTIVATION_FUNCTIONS
from greedynet.export.keras_model.model import AFFINE, INNER, OUTER, SCALING, import_keras
from greedynet.export.precision import check_dtype, exact_bounds
from greedynet.export.resolve import Model, Original, as_network, comparable, within_bounds
from greedynet.export.scaling import InputLayer
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import keras


def from_keras(keras_model: "keras.Model", *, like: Model | None = None) -> Any:
    """Read a network back from a model, trained or not, and give back an estimator like another.

    Parameters
    ----------
    keras_model : keras.Model
        Any result of `to_keras`, or a saved one that was loaded.
    like : fitted estimator, TableModel, network, str, path or None, default=None
        The model that was exported, or a saved file of it: its feature names, training range, shape
        of the outputs, classes and bounds are those of the result. Necessary for two hidden layers,
        whose knots are its own, and for activations that Keras does not know by name.

    Returns
    -------
    model : fitted estimator, TableModel or Network
        Of the kind of `like`, a network if that is None; see `from_torch`.
    """
    keras = import_keras()
    original = Original(like, "from_keras")
    layer, inner, outer, affine = _parts(keras, keras_model)
    name = check_dtype(inner.compute_dtype, "from_keras")
    weights, box = _array(keras, inner.kernel).T, _read_box(keras_model)
    has_ramps = weights.shape[1] > keras_model.input_shape[-1]
    network = Network(
        inner_weights=weights,
        biases=_array(keras, inner.bias),
        outer_weights=_array(keras, outer.kernel),
        linear_weights=None if affine is None else _array(keras, affine.kernel),
        intercept=_array(keras, (affine or outer).bias),
        activation=_read_activation(inner, original.network),
        single_output=outer.units == 1,
        bounds=exact_bounds(_read_bounds(keras_model), original.network, name),
        input_range=box,
        ramps=_known_ramps(original.network, layer) if has_ramps else None,
    )
    if layer is not None:
        network = layer.outside(network)
    model = original.given_back(network)
    found = as_network(model, "from_keras")
    predict = within_bounds(found, lambda X: keras.ops.convert_to_numpy(keras_model(X)))
    check_agreement(comparable(found, box), predict, dtype=name, caller="from_keras")
    return model


def _parts(keras: Any, model: Any) -> tuple[InputLayer | None, Any, Any, Any]:
    """Return the scaling, the inner, the outer and the affine layer of a model."""
    layers = {layer.name: layer for layer in model.layers} if isinstance(model, keras.Model) else {}
    if not {INNER, OUTER} <= set(layers):
        got = ", ".join(layers) or type(model).__name__
        raise TypeError(
            "`keras_model` must be a model that `to_keras` returned, trained or not, with layers "
            f"named {INNER!r} and {OUTER!r}, got {got}."
        )
    scaled = layers.get(SCALING)
    layer = None if scaled is None else _read_scaling(keras, scaled)
    return layer, layers[INNER], layers[OUTER], layers.get(AFFINE)


def _read_scaling(keras: Any, layer: Any) -> InputLayer:
    center = _array(keras, layer.mean).reshape(-1)
    return InputLayer(center, np.sqrt(_array(keras, layer.variance)).reshape(-1))


def _read_bounds(model: Any) -> OutputBounds | None:
    """Return the bounds of the last two operations of a model, if any."""
    ends = _read_ends(model.get_config()["layers"][-2:])
    return None if ends is None else OutputBounds(*ends)


def _read_box(model: Any) -> Float64 | None:
    """Return what inputs are clipped to by the two operations after their scaling, if any."""
    operations = [
        layer
        for layer in model.get_config()["layers"]
        if layer["class_name"] not in ("InputLayer", "Normalization")
    ]
    return _read_ends(operations[:2])


def _read_ends(operations: list[Any]) -> Float64 | None:
    """Return the lower and the upper ends of two operations that clip, None for others."""
    if [layer["class_name"] for layer in operations] != ["Maximum", "Minimum"]:
        return None
    ends = [layer["inbound_nodes"][0]["args"][1]["config"]["value"] for layer in operations]
    return np.array(ends, dtype=np.float64)


def _read_activation(inner: Any, known: Network | None) -> Activation:
    """Return the activation, by the name that Keras has for it or as in a known network."""
    name = inner.activation.__name__
    if ACTIVATION_FUNCTIONS.get(name) == name:
        return get_activation(name)
    if known is None:
        raise ValueError(
            f"`like` of `from_keras` must be the model that was exported, since the activation "
            f"of the hidden layer, {name!r}, has no name in Keras, got None."
        )
    return known.activation


def _known_ramps(known: Network | None, layer: InputLayer | None) -> Ramps:
    if known is None or known.ramps is None:
        got = "None" if known is None else "one hidden layer"
        raise ValueError(
            "`like` of `from_keras` must be the model that was exported, since it has two hidden "
            f"layers and its knots are not read from Keras, got {got}."
        )
    return known.ramps if layer is None else layer.ramps_inside(known.ramps)


def _array(keras: Any, variable: Any) -> Float64:
    tensor = keras.ops.convert_to_tensor(variable)
    return np.asarray(keras.ops.convert_to_numpy(tensor), dtype=np.float64)
