"""Activations in Keras."""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np


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
IN_FLOAT64: dict[str, str | Callable[[Any, Any, Any], Any]] = {"tanh": _tanh, "sin": _sin}

PLACE = "greedynet.export.keras_model.ACTIVATION_FUNCTIONS"
