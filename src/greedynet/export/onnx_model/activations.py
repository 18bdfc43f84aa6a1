"""Activations in ONNX: operators that onnxruntime supports in the given precision.

In opset 17 it computes `Erf` and `Softplus` in float32 only; the slope of `LeakyRelu` is a float32.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx

from greedynet.export.precision import DType

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
    """Operators in order and their constant arrays, in one precision.

    Attributes
    ----------
    dtype : {"float32", "float64"}
        Type of all computed values.
    unique : callable
        Makes a unique name from a word.
    """

    dtype: DType
    unique: Callable[[str], str]
    nodes: list[Node] = field(default_factory=list)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str | float, to: str = "", **attributes: int) -> str:
        """Append an operator on values, given by name, and numbers; return the output's name."""
        names = tuple(x if isinstance(x, str) else self.constant("number", x) for x in inputs)
        output = to or self.unique(operator.lower())
        self.nodes.append(Node(operator, names, output, attributes))
        return output

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
