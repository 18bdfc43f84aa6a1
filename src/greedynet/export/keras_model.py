"""Keras 3: a model out of a network, on the JAX backend unless another is in use."""

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.export.agreement import check_agreement
from greedynet.export.fold import fold_affine as folded
from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import DType, check_dtype, check_x64, rounded_weights
from greedynet.export.resolve import Model, as_network, translate
from greedynet.extras import require

if TYPE_CHECKING:
    import keras

# Our name -> the name in `keras.activations`.
ACTIVATION_NAMES = {"relu": "relu"}


def to_keras(model: Model, *, dtype: DType = "float32", fold_affine: bool = True) -> "keras.Model":
    """Return `Dense -> Dense` with the network's weights, ready to train or to save.

    Keras decides on a backend when it is first imported. If that has not happened and
    `KERAS_BACKEND` is not set, JAX is chosen.

    Parameters
    ----------
    model : ShallowNetwork, fitted estimator, str or path
        The network, or a saved file with it.
    dtype : {"float32", "float64"}, default="float32"
        Type of the weights.
    fold_affine : bool, default=True
        Whether an affine term becomes neurons of the hidden layer (two of them for one output).
        False keeps it apart, as a linear layer whose outputs are added.

    Returns
    -------
    keras_model : keras.Model
        Takes inputs `(n_rows, n_features)`, returns outputs `(n_rows, n_outputs)`.

    Raises
    ------
    DisagreementError
        If the model does not compute what the network does.
    """
    keras = _keras()
    network = as_network(model, "to_keras")
    name = check_dtype(dtype, "to_keras")
    if keras.backend.backend() == "jax":
        check_x64(name, "to_keras")
    layers = with_hidden_layer(folded(network) if fold_affine else network)
    activation = translate(network, ACTIVATION_NAMES, "to_keras")
    result = _build(keras, rounded_weights(layers, name, "to_keras"), activation, name)
    check_agreement(
        network,
        lambda X: keras.ops.convert_to_numpy(result(X)),
        dtype=name,
        caller="to_keras",
    )
    return result


def _build(
    keras: Any, weights: dict[str, NDArray[np.floating]], activation: str, dtype: DType
) -> Any:
    """Make the model: layers, their connections, their weights."""
    n_outputs = weights["outer_weights"].shape[1]
    intercept = weights.get("intercept", np.zeros(n_outputs, dtype=dtype))

    def dense(units: int, *, use_bias: bool = True, activation: str = "linear") -> Any:
        # Zeros at first: the weights come below, and the user's random numbers stay untouched.
        return keras.layers.Dense(
            units, activation, use_bias, kernel_initializer="zeros", dtype=dtype
        )

    inputs = keras.Input((weights["inner_weights"].shape[1],), dtype=dtype)
    inner = dense(len(weights["biases"]), activation=activation)
    if "linear_weights" not in weights:
        outer = dense(n_outputs)
        model = keras.Sequential([inputs, inner, outer])
        outer.set_weights([weights["outer_weights"], intercept])
    else:
        outer, affine = dense(n_outputs, use_bias=False), dense(n_outputs)
        added = keras.layers.Add(dtype=dtype)([outer(inner(inputs)), affine(inputs)])
        model = keras.Model(inputs, added)
        outer.set_weights([weights["outer_weights"]])
        affine.set_weights([weights["linear_weights"], intercept])
    inner.set_weights([weights["inner_weights"].T, weights["biases"]])
    return model


def _keras() -> Any:
    """Import Keras, on JAX if nobody has chosen."""
    if "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ:
        os.environ["KERAS_BACKEND"] = "jax"
    if os.environ.get("KERAS_BACKEND") == "jax":
        require("jax", "keras", "to_keras")
    return require("keras", "keras", "to_keras")
