"""C: a single C99 header without dependencies, for microcontrollers.

Weights are `static const` arrays, so they can stay in flash memory; the function needs no heap and
hardly any stack: an array of the inputs, and with two hidden layers one of their ramps. From the
standard library it only uses `math.h`, and only if the activation needs it. A classifier has a
second function, for the index of the class.
"""

import os
import re
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, expit

from greedynet.export.agreement import check_agreement, check_class_agreement
from greedynet.export.c_header.text import (
    SUFFIX,
    header,
    number,
    read_arrays,
    read_classes,
    read_filling,
)
from greedynet.export.precision import DType, check_dtype
from greedynet.export.resolve import Model, as_parts, label_table, translate
from greedynet.losses.logistic import probabilities
from greedynet.model.network import Network
from greedynet.support.files import write_atomically

Array = NDArray[np.floating]

# Our name -> an expression in `z`, and the same in NumPy, a function of `z` and the activation. In
# the expression, `{f}` is the suffix of function names and decimal numbers, so that floats are
# computed in single precision, and numeric attributes of the activation appear by name. NaN must
# give NaN. Users may add their own activations.
ACTIVATION_EXPRESSIONS: dict[str, tuple[str, Callable[[Array, Any], Array]]] = {
    "relu": ("z < 0 ? 0 : z", lambda z, own: np.where(z < 0, 0, z)),
    "relu2": ("z < 0 ? 0 : z * z", lambda z, own: np.where(z < 0, 0, z * z)),
    "relu3": ("z < 0 ? 0 : z * z * z", lambda z, own: np.where(z < 0, 0, z * z * z)),
    "leaky_relu": (
        "z < 0 ? {negative_slope} * z : z",
        lambda z, own: np.where(z < 0, z.dtype.type(own.negative_slope) * z, z),
    ),
    "abs": ("fabs{f}(z)", lambda z, own: np.abs(z)),
    "tanh": ("tanh{f}(z)", lambda z, own: np.tanh(z)),
    # exp may overflow to infinity: the value is then 0, as it should be.
    "sigmoid": ("1 / (1 + exp{f}(-z))", lambda z, own: expit(z)),
    # z Phi(z) by erfc: 1 + erf would lose digits of small values.
    "gelu": (
        "z / 2 * erfc{f}(-0.70710678118654752440{f} * z)",
        lambda z, own: z / 2 * erfc(-z.dtype.type(np.sqrt(0.5)) * z),
    ),
    "softplus": (
        "(z < 0 ? 0 : z) + log1p{f}(exp{f}(-fabs{f}(z)))",
        lambda z, own: np.where(z < 0, 0, z) + np.log1p(np.exp(-np.abs(z))),
    ),
    "sin": ("sin{f}(z)", lambda z, own: np.sin(z)),
    "gaussian": ("exp{f}(-z * z)", lambda z, own: np.exp(-z * z)),
}

_PLACE = "greedynet.export.c_header.ACTIVATION_EXPRESSIONS"


def to_c(
    model: Model,
    path: str | os.PathLike[str],
    *,
    dtype: DType = "float32",
    name: str | None = None,
) -> None:
    """Write the network as a C header with the function `void <name>_predict(x, y)`.

    The check against `predict` reads the numbers back from the text and adds them in the same order
    as the C function. An activation such as `tanh` needs `math.h`, which on some systems requires
    linking with `-lm`; the comment at the top of the header says so.

    For a classifier the outputs `y` are logits: one, of the second class, for two classes;
    otherwise one for each class. `int <name>_class(x)` returns the index of the class with the
    largest probability, or -1 if an output is NaN, and `<name>_classes[index]` is the class itself:
    text in UTF-8 if the classes are text, otherwise an integer (booleans are 0 and 1).

    The function of an estimator with `missing="learn"` takes NaN for missing values.

    Parameters
    ----------
    model : Network, fitted estimator, str or path
        The network, or a saved file.
    path : str or path
        File to write, such as "model.h".
    dtype : {"float32", "float64"}, default="float32"
        `float` or `double`.
    name : str or None, default=None
        Prefix of the names in the header; None for the name of the file.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network; nothing is written then.
    """
    network, classes, filling = as_parts(model, "to_c")
    labels = None if classes is None else label_table(classes, "to_c")
    precision = check_dtype(dtype, "to_c")
    prefix = _identifier(Path(path).stem) if name is None else name
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix) is None:
        raise ValueError(
            f"`name` must be a C identifier, a letter followed by letters, digits and underscores, "
            f"got {name!r}: write name={_identifier(prefix)!r}."
        )
    text = header(network, labels, filling, prefix, precision, _expression(network, precision))
    how: dict[str, Any] = {"dtype": precision, "caller": "to_c", "filling": filling}
    check_agreement(network, lambda X: _evaluate(text, prefix, network, X), **how)
    if classes is not None:
        check_class_agreement(
            network, classes, lambda X: _classify(text, prefix, network, X), **how
        )
    write_atomically(path, text.encode("ascii"))


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`; return how to use it."""
    to_c(model, path, dtype=dtype)
    return f'include it with #include "{path}"; the comment at its top shows the call'


def _identifier(text: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return words if words[:1].isalpha() else f"model_{words}".rstrip("_")


def _expression(network: Network, dtype: DType) -> str:
    """Return the activation in C, with its numeric attributes."""
    own = getattr(network.activation, "__dict__", {})
    numbers = {
        name: number(np.dtype(dtype).type(value), dtype)
        for name, value in own.items()
        if isinstance(value, Real)
    }
    text = translate(network, ACTIVATION_EXPRESSIONS, "to_c", _PLACE)[0]
    return text.format(f=SUFFIX[dtype], **numbers)


# Evaluation of the C function, from the numbers in the text


def _evaluate(text: str, prefix: str, network: Network, X: Array) -> Array:
    """Return the output of the C function for every row of `X`, with the same order of terms."""
    arrays = read_arrays(text, prefix, X.dtype)
    filling = read_filling(text, prefix, arrays)
    X = X if filling is None else filling.apply(X)
    if "box_low" in arrays:
        X = np.clip(X, arrays["box_low"], arrays["box_high"])
    if "ramp_columns" in arrays:
        rises = (X[:, arrays["ramp_columns"]] - arrays["ramp_starts"]) / arrays["ramp_widths"]
        X = np.hstack([X, np.clip(rises, arrays["ramp_low"], arrays["ramp_high"])])
    y = np.zeros((len(X), network.n_outputs), dtype=X.dtype)
    if "intercept" in arrays:
        y += arrays["intercept"]
    z = np.tile(arrays["biases"], (len(X), 1))
    for i, x in enumerate(X.T):
        z += arrays["inner_weights"][:, i] * x[:, None]
        if "linear_weights" in arrays:
            y += arrays["linear_weights"][i] * x[:, None]
    activation = translate(network, ACTIVATION_EXPRESSIONS, "to_c", _PLACE)[1]
    with np.errstate(over="ignore"):  # C does not report it, and exp(-inf) is correct
        values = activation(z, network.activation)
    for n, hidden in enumerate(values.T):
        y += arrays["outer_weights"][n] * hidden[:, None]
    y = np.maximum(y, arrays.get("lowest", -np.inf))
    return np.minimum(y, arrays.get("highest", np.inf))


def _classify(text: str, prefix: str, network: Network, X: Array) -> tuple[Any, Array]:
    """Return the classes given by the C functions, and the probabilities of the logits."""
    y = _evaluate(text, prefix, network, X)
    index = (y[:, 0] > 0).astype(int) if y.shape[1] == 1 else y.argmax(axis=1)
    return read_classes(text, prefix)[index], probabilities(y.astype(np.float64))
