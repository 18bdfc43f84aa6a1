"""ONNX: `Gemm -> activation -> Gemm`, an affine term being a third `Gemm` that the last one adds.

The same nodes go into a model of their own (`to_onnx`) and, by skl2onnx, into a whole pipeline.
Opset 17 and IR 8: what onnx writes by default is newer than what runtimes read.
"""

import json
import os
from itertools import count
from typing import TYPE_CHECKING, Any

from greedynet.estimators import GreedyNetRegressor
from greedynet.export.agreement import check_agreement
from greedynet.export.fold import with_hidden_layer
from greedynet.export.onnx_model.activations import ACTIVATION_OPERATORS, Graph
from greedynet.export.precision import DType, check_dtype, rounded_weights
from greedynet.export.resolve import Model, as_network, translate
from greedynet.extras import require
from greedynet.files import write_atomically
from greedynet.network import ShallowNetwork
from greedynet.tensorfile import library_version

if TYPE_CHECKING:
    import onnx

_PLACE = "greedynet.export.onnx_model.ACTIVATION_OPERATORS"

OPSET = 17
IR_VERSION = 8


def to_onnx(
    model: Model,
    path: str | os.PathLike[str],
    *,
    dtype: DType = "float32",
    input_name: str = "X",
    output_name: str = "y",
) -> "onnx.ModelProto":
    """Write the network as an ONNX model that onnxruntime and others run.

    Parameters
    ----------
    model : ShallowNetwork, fitted estimator, str or path
        The network, or a saved file with it.
    path : str or path
        File to write, such as "model.onnx".
    dtype : {"float32", "float64"}, default="float32"
        Type of inputs, weights and outputs.
    input_name, output_name : str
        Names of the input `(n_rows, n_features)` and of the output `(n_rows, n_outputs)`; the
        number of rows is free.

    Returns
    -------
    proto : onnx.ModelProto
        What was written.

    Raises
    ------
    DisagreementError
        If onnxruntime does not compute what the network does; nothing is written then.
    """
    network = as_network(model, "to_onnx")
    name = check_dtype(dtype, "to_onnx")
    if not input_name or not output_name or input_name == output_name:
        raise ValueError(
            "`input_name` and `output_name` must be two different names, got "
            f"{input_name!r} and {output_name!r}."
        )
    proto = _checked_proto(network, name, input_name, output_name, caller="to_onnx")
    write_atomically(path, proto.SerializeToString())
    return proto


def register_skl2onnx() -> None:
    """Teach skl2onnx the estimators of greedynet, so that it converts pipelines that hold one.

    Examples
    --------
    >>> from greedynet.export import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    >>> proto = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32))  # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", "onnx", "register_skl2onnx")
    skl2onnx.update_registered_converter(
        GreedyNetRegressor, "GreedyNetRegressor", _infer_shape, _convert
    )


# The graph


def _fill(graph: Graph, network: ShallowNetwork, X: str, y: str, caller: str) -> None:
    """Add the operators from the input `X` to the output `y`."""
    activation = translate(network, ACTIVATION_OPERATORS, "to_onnx", _PLACE)
    weights = rounded_weights(network, graph.dtype, caller)
    names = {name: graph.constant(name, array) for name, array in weights.items()}
    constant = (names["intercept"],) if "intercept" in names else ()
    z = graph.add("Gemm", X, names["inner_weights"], names["biases"], transB=1)
    hidden = activation(graph, z, network.activation)
    if "linear_weights" in names:
        constant = (graph.add("Gemm", X, names["linear_weights"], *constant),)
    graph.add("Gemm", hidden, names["outer_weights"], *constant, to=y)


def _checked_proto(network: ShallowNetwork, dtype: DType, X: str, y: str, *, caller: str) -> Any:
    """Build the model and compare what onnxruntime makes of it."""
    runtime = require("onnxruntime", "onnx", caller)
    proto = _proto(network, dtype, X, y, caller)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    check_agreement(
        network, lambda rows: session.run([y], {X: rows})[0], dtype=dtype, caller=caller
    )
    return proto


def _proto(network: ShallowNetwork, dtype: DType, X: str, y: str, caller: str) -> Any:
    """Build the model."""
    onnx = require("onnx", "onnx", caller)
    helper, types = onnx.helper, onnx.TensorProto
    numbers = count()
    graph = Graph(dtype, lambda word: f"greedynet_{word}_{next(numbers)}")
    _fill(graph, with_hidden_layer(network), X, y, caller)
    kind = {"float32": types.FLOAT, "float64": types.DOUBLE}[dtype]
    made = helper.make_graph(
        [
            helper.make_node(node.operator, node.inputs, [node.output], **node.attributes)
            for node in graph.nodes
        ],
        "greedynet",
        [helper.make_tensor_value_info(X, kind, ["n_rows", network.n_features])],
        [helper.make_tensor_value_info(y, kind, ["n_rows", network.n_outputs])],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.arrays.items()],
    )
    proto = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="greedynet",
        producer_version=library_version(),
        doc_string=network.describe().splitlines()[0],
    )
    helper.set_model_props(proto, _properties(network))
    onnx.checker.check_model(proto, full_check=True)
    return proto


def _properties(network: ShallowNetwork) -> dict[str, str]:
    """Metadata of the model: where it comes from and what its inputs are."""
    properties = {
        "library": "greedynet",
        "library_version": library_version(),
        "activation": network.activation.name,
        "n_nodes": str(network.n_nodes),
    }
    if network.feature_names is not None:
        properties["feature_names"] = json.dumps(network.feature_names)
    if network.input_range is not None:
        properties["input_range"] = json.dumps(network.input_range.tolist())
    return properties


# skl2onnx: the types of the output, then the nodes


def _infer_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    (variable,) = operator.inputs
    double = isinstance(variable.type, DoubleTensorType)
    outputs = [variable.get_first_dimension(), operator.raw_operator.network_.n_outputs]
    operator.outputs[0].type = (DoubleTensorType if double else FloatTensorType)(outputs)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    network = operator.raw_operator.network_
    (variable,) = operator.inputs
    dtype: DType = "float64" if isinstance(variable.type, DoubleTensorType) else "float32"
    kind = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    # What goes into the pipeline is the graph that has just been found to agree.
    _checked_proto(network, dtype, "X", "y", caller="skl2onnx")
    X = variable.full_name
    if not isinstance(variable.type, DoubleTensorType | FloatTensorType):
        X = scope.get_unique_variable_name("cast")
        container.add_node("Cast", variable.full_name, X, op_version=13, to=kind)
    graph = Graph(dtype, scope.get_unique_variable_name)
    _fill(graph, with_hidden_layer(network), X, operator.outputs[0].full_name, "skl2onnx")
    for name, array in graph.arrays.items():
        container.add_initializer(name, kind, array.shape, array.ravel())
    for node in graph.nodes:
        container.add_node(
            node.operator, list(node.inputs), node.output, op_version=13, **node.attributes
        )
