"""C: a single C99 header without dependencies, for microcontrollers.

Weights are `static const` arrays, so they can stay in flash memory; the function needs no heap and
hardly any stack: an array of the inputs, and with two hidden layers one of their ramps. From the
standard library it only uses `math.h`, and only if the activation needs it. A classifier has a
second function, for the index of the class.
"""

import os
import re
import textwrap
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, expit

from greedynet.export.agreement import check_agreement, check_class_agreement
from greedynet.export.c_header.bounds import BOUND_ARRAYS, bound_parts, read_bounds
from greedynet.export.c_header.box import BOX_ARRAYS, box_parts, read_box
from greedynet.export.c_header.classes import USE, read_classes, write_classes
from greedynet.export.c_header.filling import FILLING_ARRAY, filling_parts, read_filling
from greedynet.export.c_header.numbers import C_TYPES, SUFFIX, declaration, number
from greedynet.export.c_header.ramps import RAMP_ARRAYS, FirstLayer, read_ramps
from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import (
    DType,
    check_dtype,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Model, as_parts, label_table, translate
from greedynet.losses.logistic import probabilities
from greedynet.model.network import WEIGHTS, Network
from greedynet.rows.missing import Filling
from greedynet.support.files import write_atomically
from greedynet.support.tensorfile import library_version

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

_ARRAYS = (*WEIGHTS, *BOX_ARRAYS, *RAMP_ARRAYS, FILLING_ARRAY, *BOUND_ARRAYS)
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
    text = _header(network, labels, precision, prefix, filling)
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


def _header(
    network: Network,
    labels: NDArray[Any] | None,
    dtype: DType,
    prefix: str,
    filling: Filling | None = None,
) -> str:
    """Return the text of the header."""
    layers = with_hidden_layer(network)
    weights = rounded_weights(layers, dtype, "to_c")
    words = {"prefix": prefix, "PREFIX": prefix.upper(), "type": C_TYPES[dtype]}
    words |= {"x": "x", "N_X": f"{prefix.upper()}_N_FEATURES"}
    table = rounded_ramps(network.ramps, dtype, "to_c")
    sizes, fill, fill_arrays = filling_parts(filling, words, dtype)
    if filling is not None:
        words |= {"x": "f", "N_X": f"{prefix.upper()}_N_FILLED"}
    clip, box_arrays = box_parts(rounded_box(network, dtype), words, dtype)
    words |= {"x": "c"} if clip else {}
    first = FirstLayer.of(table, words, dtype)
    words |= {"u": first.result, "N_INPUTS": first.size}
    arrays = [declaration(prefix, name, array, dtype) for name, array in weights.items()]
    limit, bound_arrays = bound_parts(rounded_bounds(network, dtype), words, dtype)
    activation = _expression(network, dtype)
    calls = re.search(r"\w\(", activation) is not None
    use, classes = (
        ("", "") if labels is None else (USE.format(**words), write_classes(labels, words))
    )
    n_features = network.n_features if filling is None else len(filling.values)
    return _TEMPLATE.format(
        **words,
        comment=_comment(network, n_features),
        n_features=n_features,
        n_neurons=layers.n_neurons,
        n_outputs=layers.n_outputs,
        sizes=sizes + first.sizes,
        arrays="\n".join([*fill_arrays, *box_arrays, *first.arrays, *arrays, *bound_arrays]),
        lift=fill + clip + first.statements,
        start=f"{prefix}_intercept[j]" if "intercept" in weights else "0",
        linear=_LINEAR.format(**words) if "linear_weights" in weights else "",
        activation=activation,
        limit=limit,
        library=" Link with -lm." if calls else "",
        include="#include <math.h>\n\n" if calls else "",
        use=use,
        classes=classes,
    )


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


def _comment(network: Network, n_features: int) -> str:
    """Return the lines of the top comment, which names of the first features cannot terminate."""
    lines = [f"Made by greedynet {library_version()}.", network.describe().splitlines()[0]]
    if network.bounds is not None:
        lines.append(f"Outputs {network.bounds.sentence()}.")
    if network.feature_names is not None:
        lines += textwrap.wrap(f"Inputs: {', '.join(network.feature_names[:n_features])}", 96)
    # Delimiters of comments, line continuations, trigraphs and non-ASCII characters.
    return "\n".join(" * " + re.sub(r"[^ -~]|[*/\\?]", "_", line) for line in lines)


_TEMPLATE = """\
/*
{comment}
 *
 * Use: {type} y[{PREFIX}_N_OUTPUTS]; {prefix}_predict(x, y);{library}{use}
 */
#ifndef {PREFIX}_H
#define {PREFIX}_H

{include}#define {PREFIX}_N_FEATURES {n_features}
#define {PREFIX}_N_NEURONS {n_neurons}
#define {PREFIX}_N_OUTPUTS {n_outputs}
{sizes}
{arrays}
static inline void {prefix}_predict(
    const {type} x[{PREFIX}_N_FEATURES], {type} y[{PREFIX}_N_OUTPUTS])
{{{lift}
    for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{
        y[j] = {start};{linear}
    }}
    for (int n = 0; n < {PREFIX}_N_NEURONS; ++n) {{
        {type} z = {prefix}_biases[n];
        for (int i = 0; i < {N_INPUTS}; ++i) {{
            z += {prefix}_inner_weights[n][i] * {u}[i];
        }}
        const {type} hidden = {activation};
        for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{
            y[j] += {prefix}_outer_weights[n][j] * hidden;
        }}
    }}{limit}
}}
{classes}
#endif
"""

_LINEAR = """
        for (int i = 0; i < {N_INPUTS}; ++i) {{
            y[j] += {prefix}_linear_weights[i][j] * {u}[i];
        }}"""


# Evaluation of the C function, from the numbers in the text


def _evaluate(text: str, prefix: str, network: Network, X: Array) -> Array:
    """Return the output of the C function for every row of `X`, with the same order of terms."""
    weights = _read_back(text, prefix, X.dtype)
    filling = read_filling(text, prefix, weights)
    X = X if filling is None else filling.apply(X)
    box = read_box(weights)
    X = X if box is None else np.clip(X, *box)
    ramps = read_ramps(text, prefix, weights)
    if ramps is not None:
        rises = (X[:, ramps.columns] - ramps.starts) / ramps.widths
        X = np.hstack([X, np.clip(rises, ramps.low, ramps.high)])
    y = np.zeros((len(X), network.n_outputs), dtype=X.dtype)
    if "intercept" in weights:
        y += weights["intercept"]
    z = np.tile(weights["biases"], (len(X), 1))
    for i, x in enumerate(X.T):
        z += weights["inner_weights"][:, i] * x[:, None]
        if "linear_weights" in weights:
            y += weights["linear_weights"][i] * x[:, None]
    activation = translate(network, ACTIVATION_EXPRESSIONS, "to_c", _PLACE)[1]
    with np.errstate(over="ignore"):  # C does not report it, and exp(-inf) is correct
        values = activation(z, network.activation)
    for n, hidden in enumerate(values.T):
        y += weights["outer_weights"][n] * hidden[:, None]
    bounds = read_bounds(weights)
    return y if bounds is None else bounds.apply(y).astype(X.dtype)


def _classify(text: str, prefix: str, network: Network, X: Array) -> tuple[Any, Array]:
    """Return the classes given by the C functions, and the probabilities of the logits."""
    y = _evaluate(text, prefix, network, X)
    index = (y[:, 0] > 0).astype(int) if y.shape[1] == 1 else y.argmax(axis=1)
    return read_classes(text, prefix)[index], probabilities(y.astype(np.float64))


def _read_back(text: str, prefix: str, dtype: np.dtype[np.floating]) -> dict[str, Array]:
    """Return the arrays declared in the text, by their names in the network."""
    arrays = {}
    declared = rf"static const \w+ {prefix}_({'|'.join(_ARRAYS)})([\[\]\d]+) = {{(.*?)}};"
    for name, sizes, body in re.findall(declared, text, re.DOTALL):
        shape = [int(size) for size in re.findall(r"\d+", sizes)]
        numbers = re.findall(r"-?\d\.\d+e[+-]\d+", body)
        arrays[name] = np.array(numbers, dtype=dtype).reshape(shape)
    return arrays
