"""ONNX: the network as a model of its own, and as a step of pipelines that skl2onnx converts.

Opset 17 and IR 8 are used: the defaults of onnx are newer than what many runtimes support.
"""

import json
import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.export.agreement import check_agreement, check_class_agreement
from greedynet.export.onnx_model.graph import (
    ACTIVATION_OPERATORS,
    Graph,
    add_classes,
    add_filling,
    add_network,
)
from greedynet.export.precision import DType, check_dtype
from greedynet.export.resolve import Model, Parts, as_parts, filling_of, label_table
from greedynet.model.network import Network
from greedynet.support.files import require, write_atomically
from greedynet.support.tensorfile import library_version

if TYPE_CHECKING:
    import onnx

__all__ = ["ACTIVATION_OPERATORS", "register_skl2onnx", "to_onnx", "write_file"]

OPSET = 17
IR_VERSION = 8
# The names used by skl2onnx for classifiers.
_CLASS_OUTPUTS = ("label", "probabilities")


def to_onnx(
    model: Model,
    path: str | os.PathLike[str],
    *,
    dtype: DType = "float32",
    input_name: str = "X",
    output_name: str | None = None,
) -> "onnx.ModelProto":
    """Write the network as an ONNX model, for onnxruntime and other runtimes.

    The model of a classifier has two outputs, named as in skl2onnx: "label" `(n_rows,)`, text if
    the classes are text, otherwise int64 (booleans as 0 and 1, floats as integers), and
    "probabilities" `(n_rows, n_classes)`, in the order of `classes_`, which is also in the
    metadata. `to_onnx(classifier.network_, path)` exports only the logits. The model of an
    estimator with `missing="learn"` takes NaN for missing values.

    Parameters
    ----------
    model : Network, fitted estimator, str or path
        The network, or a saved file.
    path : str or path
        File to write, such as "model.onnx".
    dtype : {"float32", "float64"}, default="float32"
        Type of inputs, weights and outputs.
    input_name : str, default="X"
        Name of the input `(n_rows, n_features)`, with any number of rows.
    output_name : str or None, default=None
        Name of the output `(n_rows, n_outputs)`; None for "y". Not for a classifier.

    Returns
    -------
    proto : onnx.ModelProto
        The model that was written.

    Raises
    ------
    DisagreementError
        If the outputs in onnxruntime differ from those of the network; nothing is written then.
    """
    parts = as_parts(model, "to_onnx")
    name = check_dtype(dtype, "to_onnx")
    if parts.classes is not None and output_name is not None:
        raise ValueError(
            f"`output_name` must be None for a classifier, whose outputs are {_CLASS_OUTPUTS}, got "
            f"{output_name!r}: to name logits, export `model.network_`."
        )
    one = "y" if output_name is None else output_name
    outputs = (one,) if parts.classes is None else _CLASS_OUTPUTS
    if not input_name or not all(outputs) or input_name in outputs:
        raise ValueError(
            "`input_name` and `output_name` must be two different names, got "
            f"{input_name!r} and {' and '.join(map(repr, outputs))}."
        )
    proto = _checked_model(parts, name, input_name, outputs, "to_onnx")
    write_atomically(path, proto.SerializeToString())
    return proto


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`; return how to load it."""
    to_onnx(model, path, dtype=dtype)
    return f'load it with onnxruntime.InferenceSession("{path}")'


def _checked_model(
    parts: Parts, dtype: DType, X: str, outputs: tuple[str, ...], caller: str
) -> Any:
    """Build the model and compare its outputs in onnxruntime.

    `X` and `outputs` are names: of a classifier, the latter are those of labels and probabilities.
    """
    network, classes, filling = parts
    runtime = require("onnxruntime", "onnx", caller)
    proto = _model(parts, dtype, X, outputs, caller)
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
        _checked_model(parts._replace(classes=None), dtype, "X", ("y",), caller)
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


# Pipelines: skl2onnx asks for the types of the outputs of a step first, and then for its nodes

# The options of the classifiers of scikit-learn.
_CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}


def register_skl2onnx() -> None:
    """Register the estimators of greedynet with skl2onnx, so that it converts pipelines with them.

    A classifier has the options of scikit-learn's classifiers: with `options={"zipmap": False}` the
    outputs are "label" and "probabilities", a plain tensor; without it, they are "output_label" and
    "output_probability", a list of dictionaries, the default of skl2onnx.

    Examples
    --------
    >>> from greedynet.export import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    >>> proto = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32))  # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", "onnx", "register_skl2onnx")
    skl2onnx.update_registered_converter(
        GreedyNetRegressor, "GreedyNetRegressor", _regressor_types, _convert_regressor
    )
    # The option `zipmap` selects the parser of classifiers, which declares two outputs.
    skl2onnx.update_registered_converter(
        GreedyNetClassifier,
        "GreedyNetClassifier",
        _classifier_types,
        _convert_classifier,
        options=_CLASSIFIER_OPTIONS,
    )


def _regressor_types(operator: Any) -> None:
    (variable,) = operator.inputs
    outputs = [variable.get_first_dimension(), operator.raw_operator.network_.n_outputs]
    operator.outputs[0].type = _float_type(variable)(outputs)


def _classifier_types(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    (variable,) = operator.inputs
    labels = label_table(_classes(operator.scope_inst, operator), "skl2onnx")
    n_rows = variable.get_first_dimension()
    kind = StringTensorType if labels.dtype == object else Int64TensorType
    operator.outputs[0].type = kind([n_rows])
    operator.outputs[1].type = _float_type(variable)([n_rows, len(labels)])


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    step = operator.raw_operator
    parts = Parts(step.network_, None, filling_of(step))
    graph, X = _start(scope, operator, container)
    # Check the same graph before it is added to the pipeline.
    _checked_model(parts, graph.dtype, "X", ("y",), "skl2onnx")
    X = add_filling(graph, parts.filling, X)
    add_network(graph, parts.network, X, "skl2onnx", to=operator.outputs[0].full_name)
    _hand_over(graph, container)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    step, classes = operator.raw_operator, _classes(scope, operator)
    parts = Parts(step.network_, classes, filling_of(step))
    raw = container.get_options(step, {"raw_scores": False})["raw_scores"]
    graph, X = _start(scope, operator, container)
    _checked_model(parts, graph.dtype, "X", ("l", "p"), "skl2onnx")
    X = add_filling(graph, parts.filling, X)
    logits = add_network(graph, parts.network, X, "skl2onnx")
    label, probabilities = (variable.full_name for variable in operator.outputs)
    labels = label_table(classes, "skl2onnx")
    add_classes(graph, logits, labels, (label, probabilities), raw=raw)
    _hand_over(graph, container)


def _classes(scope: Any, operator: Any) -> NDArray[Any]:
    """Return the classes, or their indices if the option `nocl` is set."""
    from skl2onnx.common.utils_classifier import get_label_classes

    return np.asarray(get_label_classes(scope, operator.raw_operator))


def _float_type(variable: Any) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(variable.type, DoubleTensorType) else FloatTensorType


def _start(scope: Any, operator: Any, container: Any) -> tuple[Graph, str]:
    """Return an empty graph in the precision of the input, and the name of the float input."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    (variable,) = operator.inputs
    dtype: DType = "float64" if isinstance(variable.type, DoubleTensorType) else "float32"
    X = variable.full_name
    if not isinstance(variable.type, DoubleTensorType | FloatTensorType):
        X = scope.get_unique_variable_name("cast")
        kind = _tensor_kind(np.empty(0, dtype))
        container.add_node("Cast", variable.full_name, X, op_version=13, to=kind)
    return Graph(dtype, scope.get_unique_variable_name), X


def _hand_over(graph: Graph, container: Any) -> None:
    """Add the arrays and nodes of the graph to the container of skl2onnx."""
    for name, array in graph.arrays.items():
        values = array.ravel()
        if array.dtype == object:
            values = np.array([text.encode() for text in array], dtype=object)
        container.add_initializer(name, _tensor_kind(array), array.shape, values)
    for node in graph.nodes:
        container.add_node(
            node.operator, list(node.inputs), node.output, op_version=13, **node.attributes
        )


def _tensor_kind(array: NDArray[Any]) -> int:
    """Return the ONNX type number of the values of an array; objects are text."""
    from onnx import TensorProto

    kinds = {
        "float32": TensorProto.FLOAT,
        "float64": TensorProto.DOUBLE,
        "int64": TensorProto.INT64,
        "bool": TensorProto.BOOL,
        "object": TensorProto.STRING,
    }
    return int(kinds[array.dtype.name])
