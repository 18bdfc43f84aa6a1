"""The ONNX graph of a network, and the complete model, checked with onnxruntime.

Outputs, or logits, are `Gemm -> activation -> Gemm`; the ramps of a first layer come before, as
`Gather -> Sub -> Div -> Max -> Min` of the inputs, beside the inputs themselves. The box of the
inputs is `Max -> Min` before them, bounds on the outputs are `Max -> Min` after all. Where gaps
have been learned, `IsNaN -> Where` of the inputs, beside their indicators, comes before all. Labels
follow from logits by `ArgMax -> Gather` and probabilities by `Softmax`, which onnxruntime also
supports in float64.
"""

import json
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.export.agreement import check_agreement, check_class_agreement
from greedynet.export.fold import with_hidden_layer
from greedynet.export.onnx_model.activations import ACTIVATION_OPERATORS, Graph
from greedynet.export.precision import (
    DType,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Parts, label_table, translate
from greedynet.model.network import Network
from greedynet.model.ramps import RampTable
from greedynet.rows.missing import Filling
from greedynet.support.files import require
from greedynet.support.tensorfile import library_version

_PLACE = "greedynet.export.onnx_model.ACTIVATION_OPERATORS"

OPSET = 17
IR_VERSION = 8


def add_network(graph: Graph, network: Network, X: str, caller: str, *, to: str = "") -> str:
    """Add the operators from the input `X` to the outputs; return the name of the outputs."""
    layers = with_hidden_layer(network)
    activation = translate(layers, ACTIVATION_OPERATORS, "to_onnx", _PLACE)
    weights = rounded_weights(layers, graph.dtype, caller)
    names = {name: graph.constant(name, array) for name, array in weights.items()}
    box = rounded_box(network, graph.dtype)
    if box is not None:
        X = graph.add("Max", X, graph.constant("box", box[0]))
        X = graph.add("Min", X, graph.constant("box", box[1]))
    ramps = rounded_ramps(network.ramps, graph.dtype, caller)
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


def add_classes(
    graph: Graph, logits: str, labels: NDArray[Any], to: tuple[str, str], *, raw: bool = False
) -> None:
    """Add the operators from logits to labels and probabilities, or logits of each class if `raw`.

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
    if not raw:
        graph.add("Softmax", halves, to=probabilities, axis=1)
    else:
        graph.add("Mul", halves, 2.0 if len(labels) == 2 else 1.0, to=probabilities)  # -f and f


def checked_model(
    network: Network,
    classes: NDArray[Any] | None,
    dtype: DType,
    X: str,
    outputs: tuple[str, ...],
    *,
    caller: str,
    filling: Filling | None = None,
) -> Any:
    """Build the model and compare its outputs in onnxruntime.

    Parameters
    ----------
    network : Network
        The network to export.
    classes : ndarray of shape (n_classes,) or None
        Classes of a classifier: the model then has two outputs, labels and probabilities.
    dtype : {"float32", "float64"}
        Precision.
    X, outputs : str, tuple of str
        Names of the input and of the outputs.
    caller : str
        The public function, for error messages.
    filling : Filling or None
        What to insert for NaN.

    Returns
    -------
    proto : onnx.ModelProto
    """
    runtime = require("onnxruntime", "onnx", caller)
    proto = _model(Parts(network, classes, filling), dtype, X, outputs, caller)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(rows: NDArray[np.floating]) -> Any:
        return session.run(list(outputs), {X: rows})

    how: dict[str, Any] = {"dtype": dtype, "caller": caller, "filling": filling}
    if classes is None:
        check_agreement(network, lambda rows: run(rows)[0], **how)
    else:
        checked_model(network, None, dtype, "X", ("y",), caller=caller, filling=filling)
        check_class_agreement(network, classes, run, **how)
    return proto


def _model(parts: Parts, dtype: DType, X: str, outputs: tuple[str, ...], caller: str) -> Any:
    network, classes, filling = parts
    onnx = require("onnx", "onnx", caller)
    helper, types = onnx.helper, onnx.TensorProto
    kind = {"float32": types.FLOAT, "float64": types.DOUBLE}[dtype]
    numbers = count()
    graph = Graph(dtype, lambda word: f"greedynet_{word}_{next(numbers)}")
    filled = add_filling(graph, filling, X)
    n_given = network.n_features if filling is None else len(filling.values)
    properties = _properties(network, n_given)
    if classes is None:
        add_network(graph, network, filled, caller, to=outputs[0])
        made = [(kind, ["n_rows", network.n_outputs])]
    else:
        labels = label_table(classes, caller)
        logits = add_network(graph, network, filled, caller)
        add_classes(graph, logits, labels, (outputs[0], outputs[1]))
        text = types.STRING if labels.dtype == object else types.INT64
        made = [(text, ["n_rows"]), (kind, ["n_rows", len(labels)])]
        properties["classes"] = json.dumps(labels.tolist())
    body = helper.make_graph(
        [
            helper.make_node(node.operator, node.inputs, [node.output], **node.attributes)
            for node in graph.nodes
        ],
        "greedynet",
        [helper.make_tensor_value_info(X, kind, ["n_rows", n_given])],
        [
            helper.make_tensor_value_info(name, *type_and_shape)
            for name, type_and_shape in zip(outputs, made, strict=True)
        ],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.arrays.items()],
    )
    proto = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="greedynet",
        producer_version=library_version(),
        doc_string=network.describe().splitlines()[0],
    )
    helper.set_model_props(proto, properties)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def _properties(network: Network, n_given: int) -> dict[str, str]:
    """Return metadata of the model: its origin and its inputs, the first ones of the network."""
    properties = {
        "library": "greedynet",
        "library_version": library_version(),
        "activation": network.activation.name,
        "n_nodes": str(network.n_nodes),
    }
    if network.feature_names is not None:
        properties["feature_names"] = json.dumps(network.feature_names[:n_given])
    if network.input_range is not None:
        properties["input_range"] = json.dumps(network.input_range[:, :n_given].tolist())
    if network.bounds is not None:
        properties["bounds"] = json.dumps(network.bounds.pairs())
    return properties
