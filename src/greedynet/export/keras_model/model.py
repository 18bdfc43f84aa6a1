"""Keras 3: a model from a network, with the JAX backend unless another is in use."""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.export.agreement import check_agreement
from greedynet.export.fold import fold_affine as folded
from greedynet.export.fold import folds, with_hidden_layer
from greedynet.export.keras_model.activations import ACTIVATION_FUNCTIONS, IN_FLOAT64, PLACE
from greedynet.export.precision import (
    DType,
    check_dtype,
    check_x64,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Model, as_network, translate
from greedynet.export.scaling import InputLayer, Scaling, behind_layer
from greedynet.model.bounds import OutputBounds
from greedynet.model.ramps import RampTable
from greedynet.support.files import require, write_atomically

if TYPE_CHECKING:
    import keras

# Names of the layers.
SCALING, INNER, OUTER, AFFINE = "scaling", "inner", "outer", "affine"


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
        Whether an affine term is converted to neurons of the hidden layer (two of them for one
        output). With False it is a separate linear layer whose outputs are added. This is the only
        option for activations of which two neurons cannot form a linear function: all but ReLU,
        leaky ReLU, GELU and softplus.
    scaling : {"layer", "folded"}, default="layer"
        "folded" includes the scaling of the inputs in the weights: there is no `Normalization`, as
        there is none for a network whose training range is not known. The model computes the same,
        but training it needs inputs of size one.

    Returns
    -------
    keras_model : keras.Model
        Takes inputs `(n_rows, n_features)`, returns outputs `(n_rows, n_outputs)`.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network.
    """
    keras = import_keras()
    network = as_network(model, "to_keras")
    name = check_dtype(dtype, "to_keras")
    if keras.backend.backend() == "jax":
        check_x64(name, "to_keras")
    layer, inside = behind_layer(network, scaling, name, "to_keras")
    layers = with_hidden_layer(folded(inside) if fold_affine else inside)
    functions = ACTIVATION_FUNCTIONS | (IN_FLOAT64 if name == "float64" else {})
    activation = translate(network, functions, "to_keras", PLACE)
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


def import_keras() -> Any:
    """Import Keras, with the JAX backend unless another has been selected."""
    if "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ:
        os.environ["KERAS_BACKEND"] = "jax"
    if os.environ.get("KERAS_BACKEND") == "jax":
        require("jax", "keras", "to_keras")
    return require("keras", "keras", "to_keras")
