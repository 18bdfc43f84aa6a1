"""Keras 3: models from networks, networks from models, and files of them.

The backend is JAX unless another one is in use.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, get_activation
from greedynet.export.agreement import check_agreement
from greedynet.export.fold import fold_affine as folded
from greedynet.export.fold import folds, with_hidden_layer
from greedynet.export.precision import (
    DType,
    check_dtype,
    check_x64,
    exact_bounds,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import (
    Model,
    Original,
    as_network,
    comparable,
    translate,
    within_bounds,
)
from greedynet.export.scaling import InputLayer, Scaling, behind_layer
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps, RampTable
from greedynet.support.files import require, write_atomically
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import keras

# Names of the layers.
SCALING, INNER, OUTER, AFFINE = "scaling", "inner", "outer", "affine"


def _tanh(keras: Any, own: Any, z: Any) -> Any:
    """`tanh(z) = s(2z) - s(-2z)` with the logistic function `s`."""
    return keras.ops.sigmoid(z + z) - keras.ops.sigmoid(-z - z)


def _sin(keras: Any, own: Any, z: Any) -> Any:
    """`sin(z)` by the Taylor series at `r = z - 2 pi k`, the remainder in [-pi, pi]."""

    def number(x: float) -> Any:
        # As a tensor: with a Python number, the product would be float32.
        return keras.ops.convert_to_tensor(x, dtype="float64")

    # 2 pi in two parts, the first with so few digits that its multiples are exact.
    first = np.round(2 * np.pi * 2**28) / 2**28
    second = 2 * np.pi - first - np.sin(2 * np.pi)  # sin(2 pi) is the rounding error of 2 pi
    k = keras.ops.round(z * number(0.5 / np.pi))
    r = z - k * number(first) - k * number(second)
    square = r * r
    highest, *lower = [(-1) ** j / factorial(2 * j + 1) for j in range(14, -1, -1)]
    series = number(highest)
    for coefficient in lower:
        series = square * series + number(coefficient)
    return r * series


# Our name -> the name in `keras.activations`, or a function of Keras, the activation and `z`,
# composed of Keras operations: a saved model can then be loaded without greedynet. Users may add
# their own activations.
ACTIVATION_FUNCTIONS: dict[str, str | Callable[[Any, Any, Any], Any]] = {
    "relu": "relu",
    "relu2": lambda keras, own, z: keras.ops.square(keras.ops.relu(z)),
    "relu3": lambda keras, own, z: keras.ops.relu(z) * keras.ops.square(keras.ops.relu(z)),
    # By name it would have the default slope of Keras.
    "leaky_relu": lambda keras, own, z: keras.ops.leaky_relu(z, negative_slope=own.negative_slope),
    "abs": lambda keras, own, z: keras.ops.abs(z),
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "gelu": "gelu",
    "softplus": "softplus",
    "sin": lambda keras, own, z: keras.ops.sin(z),
    "gaussian": lambda keras, own, z: keras.ops.exp(-keras.ops.square(z)),
}

# Functions that Keras always computes in float32, except with the TensorFlow backend.
_IN_FLOAT64: dict[str, str | Callable[[Any, Any, Any], Any]] = {"tanh": _tanh, "sin": _sin}

_PLACE = "greedynet.export.keras_model.ACTIVATION_FUNCTIONS"


def to_keras(
    model: Model,
    *,
    dtype: DType = "float32",
    fold_affine: bool = True,
    scaling: Scaling = "layer",
) -> "keras.Model":
    """Return `Normalization -> Dense -> Dense` with the network's weights, to train or to save.

    The first layer is `x -> (x - center) / scale`, with columns of size one as its outputs, for
    which optimizers such as Adam have their defaults. Training does not change it. Keras operations
    clip its outputs to the box of the training rows, unless the network extrapolates.

    Keras selects its backend when it is first imported. If it has not been imported and
    `KERAS_BACKEND` is not set, JAX is used.

    A network that extrapolates is a `keras.Sequential` for the activations that Keras knows by
    name: `relu`, `tanh` (in float32), `sigmoid`, `gelu` and `softplus`. Others are composed of
    Keras operations between the layers. All models can be saved as `.keras` files, which can be
    loaded without greedynet.

    With two hidden layers, Keras operations form the ramps of the inputs, and the layers follow.
    Training changes the weights of the layers; the knots stay. Bounds on the outputs are Keras
    operations at the end.

    The model of a classifier returns logits, for losses with `from_logits=True`: one, of the second
    class, for two classes; otherwise one for each class.

    Parameters
    ----------
    model : Network, fitted estimator, str or path
        The network, or a saved file.
    dtype : {"float32", "float64"}, default="float32"
        Type of the weights.
    fold_affine : bool, default=True
        Whether an affine term is converted to neurons, as for `to_torch`; otherwise it is a linear
        layer of its own, whose outputs are added.
    scaling : {"layer", "folded"}, default="layer"
        "folded" for weights that include the scaling, without a `Normalization`; as for `to_torch`.

    Returns
    -------
    keras_model : keras.Model
        Takes inputs `(n_rows, n_features)`, returns outputs `(n_rows, n_outputs)`.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network.
    """
    keras = _import_keras()
    network = as_network(model, "to_keras")
    name = check_dtype(dtype, "to_keras")
    if keras.backend.backend() == "jax":
        check_x64(name, "to_keras")
    layer, inside = behind_layer(network, scaling, name, "to_keras")
    layers = with_hidden_layer(folded(inside) if fold_affine else inside)
    functions = ACTIVATION_FUNCTIONS | (_IN_FLOAT64 if name == "float64" else {})
    activation = translate(network, functions, "to_keras", _PLACE)
    if not isinstance(activation, str):
        activation = partial(activation, keras, network.activation)
    weights = rounded_weights(layers, name, "to_keras")
    table = rounded_ramps(inside.ramps, name, "to_keras")
    fixed = _Fixed(layer, rounded_box(inside, name), table, rounded_bounds(network, name))
    result = _build(keras, fixed, weights, activation, name)
    check_agreement(
        network,
        lambda X: keras.ops.convert_to_numpy(result(X)),
        dtype=name,
        caller="to_keras",
    )
    return result


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`, with plain layers if possible; return its usage."""
    network = as_network(model, "greedynet export")
    if path.suffix != ".keras":
        raise ValueError(f"`--out` must end in .keras for a Keras model, got {str(path)!r}.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.keras")
        to_keras(network, dtype=dtype, fold_affine=folds(network)).save(file)
        write_atomically(path, file.read_bytes())
    return f'load it with keras.saving.load_model("{path}")'


class _Fixed(NamedTuple):
    """What comes before the layers that are trained, and after them."""

    scaling: InputLayer | None
    box: NDArray[np.floating] | None
    ramps: RampTable | None
    bounds: OutputBounds | None


def _build(
    keras: Any,
    fixed: _Fixed,
    weights: dict[str, NDArray[np.floating]],
    activation: str | Callable[[Any], Any],
    dtype: DType,
) -> Any:
    """Build the model: layers, connections and weights."""
    n_inputs, n_outputs = weights["inner_weights"].shape[1], weights["outer_weights"].shape[1]
    intercept = weights.get("intercept", np.zeros(n_outputs, dtype=dtype))

    def dense(name: str, units: int, *, use_bias: bool = True, activation: str = "linear") -> Any:
        # Zeros at first: the weights come below, and the user's random numbers stay untouched.
        return keras.layers.Dense(
            units, activation, use_bias, kernel_initializer="zeros", dtype=dtype, name=name
        )

    # A named activation is part of the layer; any other is applied to the output of the layer.
    name, after = (activation, None) if isinstance(activation, str) else ("linear", activation)
    box, ramps, bounds = fixed.box, fixed.ramps, fixed.bounds
    inputs = keras.Input((n_inputs - (0 if ramps is None else len(ramps.columns)),), dtype=dtype)
    scaled = [] if fixed.scaling is None else [_scaling_layer(keras, fixed.scaling, dtype)]
    inner = dense(INNER, len(weights["biases"]), activation=name)
    outer = dense(OUTER, n_outputs, use_bias="linear_weights" not in weights)
    is_plain = box is None and ramps is None and bounds is None and "linear_weights" not in weights
    if after is None and is_plain:
        model = keras.Sequential([inputs, *scaled, inner, outer])
    else:
        lifted = scaled[0](inputs) if scaled else inputs
        lifted = lifted if box is None else _clipped(keras, lifted, box)
        lifted = lifted if ramps is None else _lifted(keras, ramps, lifted, dtype)
        outputs = outer(after(inner(lifted)) if after else inner(lifted))
        if "linear_weights" in weights:
            affine = dense(AFFINE, n_outputs)
            outputs = keras.layers.Add(dtype=dtype)([outputs, affine(lifted)])
            affine.set_weights([weights["linear_weights"], intercept])
        if bounds is not None:
            outputs = _clipped(keras, outputs, np.stack([bounds.low, bounds.high]).astype(dtype))
        model = keras.Model(inputs, outputs)
    inner.set_weights([weights["inner_weights"].T, weights["biases"]])
    outer.set_weights([weights["outer_weights"], intercept][: 1 + outer.use_bias])
    return model


def _scaling_layer(keras: Any, layer: InputLayer, dtype: DType) -> Any:
    """Return the layer before all others; scales are powers of two, and so are their squares."""
    return keras.layers.Normalization(
        mean=layer.center.tolist(),
        variance=np.square(layer.scale).tolist(),
        dtype=dtype,
        name=SCALING,
    )


def _clipped(keras: Any, values: Any, ends: NDArray[np.floating]) -> Any:
    """Return values between the lower and the upper ends."""
    return keras.ops.minimum(keras.ops.maximum(values, ends[0]), ends[1])


def _lifted(keras: Any, ramps: RampTable, inputs: Any, dtype: DType) -> Any:
    """Return the inputs and their ramps, side by side."""
    ops = keras.ops
    rises = ops.take(inputs, ramps.columns, axis=-1)
    rises = ops.divide(ops.subtract(rises, ramps.starts), ramps.widths)
    rises = ops.minimum(ops.maximum(rises, ramps.low), ramps.high)
    return keras.layers.Concatenate(dtype=dtype)([inputs, rises])


def _import_keras() -> Any:
    """Import Keras, with the JAX backend unless another has been selected."""
    if "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ:
        os.environ["KERAS_BACKEND"] = "jax"
    if os.environ.get("KERAS_BACKEND") == "jax":
        require("jax", "keras", "to_keras")
    return require("keras", "keras", "to_keras")


# A network from a model


def from_keras(keras_model: "keras.Model", *, like: Model | None = None) -> Any:
    """Read a network back from a model, trained or not, and give back an estimator like another.

    Parameters
    ----------
    keras_model : keras.Model
        Any result of `to_keras`, or a saved one that was loaded.
    like : fitted estimator, TableModel, network, str, path or None, default=None
        The model that was exported, as for `from_torch`. Necessary for two hidden layers, whose
        knots are its own, and for activations that Keras does not know by name.

    Returns
    -------
    model : fitted estimator, TableModel or Network
        Of the kind of `like`, a network if that is None; see `from_torch`.
    """
    keras = _import_keras()
    original = Original(like, "from_keras")
    layer, inner, outer, affine = _parts(keras, keras_model)
    name = check_dtype(inner.compute_dtype, "from_keras")
    weights = _array(keras, inner.kernel).T
    # What inputs are clipped to, after their scaling, and outputs: two operations each.
    operations = keras_model.get_config()["layers"]
    clips = [o for o in operations if o["class_name"] not in ("InputLayer", "Normalization")]
    box, bounds = _read_ends(clips[:2]), _read_ends(operations[-2:])
    has_ramps = weights.shape[1] > keras_model.input_shape[-1]
    network = Network(
        inner_weights=weights,
        biases=_array(keras, inner.bias),
        outer_weights=_array(keras, outer.kernel),
        linear_weights=None if affine is None else _array(keras, affine.kernel),
        intercept=_array(keras, (affine or outer).bias),
        activation=_read_activation(inner, original.network),
        single_output=outer.units == 1,
        bounds=exact_bounds(
            None if bounds is None else OutputBounds(*bounds), original.network, name
        ),
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
    layer = None
    if SCALING in layers:
        center, variance = layers[SCALING].mean, layers[SCALING].variance
        scale = np.sqrt(_array(keras, variance))
        layer = InputLayer(_array(keras, center).reshape(-1), scale.reshape(-1))
    return layer, layers[INNER], layers[OUTER], layers.get(AFFINE)


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
