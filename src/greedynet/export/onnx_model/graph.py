"""The ONNX operators of a network.

In the order of the operators: where gaps have been learned, `IsNaN -> Where` of the inputs, beside
their indicators; the box of the inputs, `Max -> Min`; the ramps of a first layer, `Gather -> Sub ->
Div -> Max -> Min` of the inputs, beside the inputs themselves; the neurons, `Gemm -> activation ->
Gemm`, with an affine term as a third `Gemm`, which the last one adds; bounds on the outputs, `Max
-> Min`. Labels follow from logits by `ArgMax -> Gather`, and probabilities by `Softmax`.

Only operators are used that onnxruntime supports in the given precision: in opset 17 it computes
`Erf` and `Softplus` in float32 only, and the slope of `LeakyRelu` is a float32.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx

from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import (
    DType,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import translate
from greedynet.model.network import Network
from greedynet.model.ramps import RampTable
from greedynet.rows.missing import Filling

_PLACE = "greedynet.export.onnx_model.ACTIVATION_OPERATORS"

# The types of numbers, as numbered by ONNX.
_TYPE_NUMBERS: dict[DType, int] = {"float32": 1, "float64": 11}


@dataclass(frozen=True)
class Node:
    """An operator with its arguments."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, int]


@dataclass
class Graph:
    """Operators in order and their constant arrays, in one precision."""

    dtype: DType
    nodes: list[Node] = field(default_factory=list)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str | float, to: str = "", **attributes: int) -> str:
        """Append an operator on values, given by name, and numbers; return the output's name."""
        names = tuple(x if isinstance(x, str) else self.constant("number", x) for x in inputs)
        output = to or self.unique(operator.lower())
        self.nodes.append(Node(operator, names, output, attributes))
        return output

    def unique(self, word: str) -> str:
        """Return a name that no other value has."""
        return f"greedynet_{word}_{len(self.nodes) + len(self.arrays)}"

    def cast(self, value: str) -> str:
        """Append the conversion of a value to the type of all others; return its name."""
        output = self.unique("cast")
        self.nodes.append(Node("Cast", (value,), output, {"to": _TYPE_NUMBERS[self.dtype]}))
        return output

    def constant(self, word: str, value: ArrayLike) -> str:
        """Add a constant array to the graph; return its name."""
        return self.table(word, np.asarray(value, dtype=self.dtype))

    def table(self, word: str, values: NDArray[Any]) -> str:
        """Add a constant array of any type, such as text; return its name."""
        name = self.unique(word)
        self.arrays[name] = values
        return name


Translation = Callable[[Graph, str, Any], str]


def _relu2(graph: Graph, z: str, own: Any) -> str:
    """`max(z, 0)**2`."""
    r = graph.add("Relu", z)
    return graph.add("Mul", r, r)


def _relu3(graph: Graph, z: str, own: Any) -> str:
    """`max(z, 0)**3`."""
    return graph.add("Mul", graph.add("Relu", z), _relu2(graph, z, own))


def _gelu(graph: Graph, z: str, own: Any) -> str:
    """`z Phi(z)`, as `(z / 2)(1 + erf(z / sqrt(2)))`; onnxruntime has no erf for doubles.

    For doubles, `max(z, 0) - |z| Q(|z|)`, where `Q = 1 - Phi` is
    `exp(-z**2 / 2) t p(t) / 2` with `t = 3 / (3 + |z| / sqrt(2))` and a polynomial `p`.
    """
    add = graph.add
    if graph.dtype == "float32":
        phi = add("Add", add("Erf", add("Mul", z, np.sqrt(0.5))), 1.0)
        return add("Mul", add("Mul", z, 0.5), phi)
    size = add("Abs", z)
    t = add("Div", 3.0, add("Add", add("Mul", size, np.sqrt(0.5)), 3.0))
    first, *rest = _erfcx_coefficients()
    p = add("Add", add("Mul", t, first), rest[0])
    for coefficient in rest[1:]:
        p = add("Add", add("Mul", p, t), coefficient)
    density = add("Exp", add("Mul", add("Mul", z, z), -0.5))
    tail = add("Mul", add("Mul", density, t), add("Mul", p, 0.5))
    return add("Sub", add("Relu", z), add("Mul", size, tail))


def _erfcx_coefficients() -> list[float]:
    """Coefficients of `p` in `exp(x**2) erfc(x) = t p(t)`, `t = 3 / (3 + x)`, highest first."""
    tiny = np.finfo(float).tiny
    p = Chebyshev.interpolate(
        lambda t: erfcx(3 / np.maximum(t, tiny) - 3) / np.maximum(t, tiny), 20, domain=[0, 1]
    )
    return [float(c) for c in p.convert(kind=Polynomial).coef[::-1]]


def _softplus(graph: Graph, z: str, own: Any) -> str:
    """`log(1 + exp(z))`; for doubles, by `max(z, 0) + log(1 + exp(-|z|))`."""
    add = graph.add
    if graph.dtype == "float32":
        return add("Softplus", z)
    small = add("Exp", add("Neg", add("Abs", z)))
    return add("Add", add("Relu", z), add("Log", add("Add", small, 1.0)))


def _gaussian(graph: Graph, z: str, own: Any) -> str:
    """`exp(-z**2)`."""
    return graph.add("Exp", graph.add("Neg", graph.add("Mul", z, z)))


def _operator(name: str) -> Translation:
    """Return the translation of an activation that is a single operator."""
    return lambda graph, z, own: graph.add(name, z)


# Our name -> a function of the graph, the name of `z` and the activation that adds the operators
# and returns the name of the output. Users may add their own activations.
ACTIVATION_OPERATORS: dict[str, Translation] = {
    "relu": _operator("Relu"),
    "relu2": _relu2,
    "relu3": _relu3,
    # The slope of LeakyRelu is always a float32.
    "leaky_relu": lambda graph, z, own: graph.add("PRelu", z, own.negative_slope),
    "abs": _operator("Abs"),
    "tanh": _operator("Tanh"),
    "sigmoid": _operator("Sigmoid"),
    "gelu": _gelu,
    "softplus": _softplus,
    "sin": _operator("Sin"),
    "gaussian": _gaussian,
}


# The network


def add_network(graph: Graph, network: Network, X: str, *, to: str = "") -> str:
    """Add the operators from the input `X` to the outputs; return the name of the outputs."""
    layers = with_hidden_layer(network)
    activation = translate(layers, ACTIVATION_OPERATORS, "to_onnx", _PLACE)
    weights = rounded_weights(layers, graph.dtype, "to_onnx")
    names = {name: graph.constant(name, array) for name, array in weights.items()}
    box = rounded_box(network, graph.dtype)
    if box is not None:
        X = graph.add("Max", X, graph.constant("box", box[0]))
        X = graph.add("Min", X, graph.constant("box", box[1]))
    ramps = rounded_ramps(network.ramps, graph.dtype, "to_onnx")
    if ramps is not None:
        X = _add_ramps(graph, ramps, X)
    constant = (names["intercept"],) if "intercept" in names else ()
    z = graph.add("Gemm", X, names["inner_weights"], names["biases"], transB=1)
    hidden = activation(graph, z, network.activation)
    if "linear_weights" in names:
        constant = (graph.add("Gemm", X, names["linear_weights"], *constant),)
    bounds = rounded_bounds(network, graph.dtype)
    if bounds is None:
        return graph.add("Gemm", hidden, names["outer_weights"], *constant, to=to)
    y = graph.add("Gemm", hidden, names["outer_weights"], *constant)
    y = graph.add("Max", y, graph.constant("low", bounds.low))
    return graph.add("Min", y, graph.constant("high", bounds.high), to=to)


def add_filling(graph: Graph, filling: Filling | None, X: str) -> str:
    """Add what is inserted for NaN; return the name of the inputs of the network."""
    if filling is None:
        return X
    gaps = missing = graph.add("IsNaN", X)
    if filling.empty.any():
        missing = graph.add("Or", gaps, graph.table("empty", filling.empty))
    z = graph.add("Where", missing, graph.constant("filling", filling.values), X)
    if not filling.indicated.any():
        return z
    columns = graph.table("gaps", np.flatnonzero(filling.indicated).astype(np.int64))
    indicators = graph.add("Gather", gaps, columns, axis=1)
    m = graph.cast(indicators)
    return graph.add("Concat", z, m, axis=1)


def _add_ramps(graph: Graph, ramps: RampTable, X: str) -> str:
    """Add a first layer; return the name of the inputs and ramps, side by side."""
    columns = graph.table("columns", ramps.columns.astype(np.int64))
    steps = {"Sub": ramps.starts, "Div": ramps.widths, "Max": ramps.low, "Min": ramps.high}
    r = graph.add("Gather", X, columns, axis=1)
    for operator, values in steps.items():
        r = graph.add(operator, r, graph.constant("ramps", values))
    return graph.add("Concat", X, r, axis=1)


def add_classes(graph: Graph, logits: str, labels: NDArray[Any], to: tuple[str, str]) -> None:
    """Add the operators from logits to labels and probabilities.

    The single logit `f` of two classes becomes the two logits `-f / 2` and `f / 2`, which is exact,
    with the softmax `1 / (1 + exp(f))` and `1 / (1 + exp(-f))`. onnxruntime subtracts the largest
    logit first, so small probabilities are accurate, unlike those of its `Sigmoid`.
    """
    label, probabilities = to
    halves = logits
    if len(labels) == 2:
        halves = graph.add("Mul", logits, graph.constant("halves", [[-0.5, 0.5]]))
    index = graph.add("ArgMax", halves, axis=1, keepdims=0)
    graph.add("Gather", graph.table("classes", labels), index, to=label, axis=0)
    graph.add("Softmax", halves, to=probabilities, axis=1)
