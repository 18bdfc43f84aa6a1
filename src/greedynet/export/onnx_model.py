"""ONNX: `Gemm -> activation -> Gemm`, an affine term being a third `Gemm` that the last one adds.

The same nodes go into a model of their own (`to_onnx`) and, by skl2onnx, into a whole pipeline.
Opset 17 and IR 8: what onnx writes by default is newer than what runtimes read.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greedynet.estimators import GreedyNetRegressor
from greedynet.export.agreement import check_agreement
from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import WEIGHTS, DType, check_dtype, rounded_weights
from greedynet.export.resolve import Model, as_network, translate
from greedynet.extras import require
from greedynet.files import write_atomically
from greedynet.network import ShallowNetwork
from greedynet.tensorfile import library_version

if TYPE_CHECKING:
    import onnx

OPSET = 17
IR_VERSION = 8

# Our name -> the operator.
ACTIVATION_OPERATORS = {"relu": "Relu"}


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


@dataclass(frozen=True)
class _Node:
    """An operator with its arguments."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, int]


# Everything between input and output that needs a name.
_INSIDE = (*WEIGHTS, "z", "hidden", "affine")


def _nodes(network: ShallowNetwork, names: Mapping[str, str], X: str, y: str) -> list[_Node]:
    """The operators from the input `X` to the output `y`; `names` are those of `_INSIDE`."""
    activation = translate(network, ACTIVATION_OPERATORS, "to_onnx")
    constant = () if network.intercept is None else (names["intercept"],)
    inner = (X, names["inner_weights"], names["biases"])
    nodes = [
        _Node("Gemm", inner, names["z"], {"transB": 1}),
        _Node(activation, (names["z"],), names["hidden"], {}),
    ]
    if network.linear_weights is not None:
        linear = (X, names["linear_weights"], *constant)
        nodes.append(_Node("Gemm", linear, names["affine"], {}))
        constant = (names["affine"],)
    outer = (names["hidden"], names["outer_weights"], *constant)
    return [*nodes, _Node("Gemm", outer, y, {})]


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
    layers = with_hidden_layer(network)
    names = {name: f"greedynet_{name}" for name in _INSIDE}
    kind = {"float32": types.FLOAT, "float64": types.DOUBLE}[dtype]
    graph = helper.make_graph(
        [
            helper.make_node(node.operator, node.inputs, [node.output], **node.attributes)
            for node in _nodes(layers, names, X, y)
        ],
        "greedynet",
        [helper.make_tensor_value_info(X, kind, ["n_rows", network.n_features])],
        [helper.make_tensor_value_info(y, kind, ["n_rows", network.n_outputs])],
        [
            onnx.numpy_helper.from_array(array, names[name])
            for name, array in rounded_weights(layers, dtype, caller).items()
        ],
    )
    proto = helper.make_model(
        graph,
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
    layers = with_hidden_layer(network)
    names = {name: scope.get_unique_variable_name(name) for name in _INSIDE}
    for name, array in rounded_weights(layers, dtype, "skl2onnx").items():
        container.add_initializer(names[name], kind, array.shape, array.ravel())
    X = variable.full_name
    if not isinstance(variable.type, DoubleTensorType | FloatTensorType):
        X = scope.get_unique_variable_name("cast")
        container.add_node("Cast", variable.full_name, X, op_version=13, to=kind)
    for node in _nodes(layers, names, X, operator.outputs[0].full_name):
        container.add_node(
            node.operator, list(node.inputs), node.output, op_version=13, **node.attributes
        )
