"""ONNX: the network as a model of its own.

Opset 17 and IR 8 are used: the defaults of onnx are newer than what many runtimes support.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.export.agreement import check_agreement, check_class_agreement
from greedynet.export.onnx_model.graph import (
    ACTIVATION_OPERATORS,
    Graph,
    add_classes,
    add_filling,
    add_network,
)
from greedynet.export.precision import DType, check_dtype
from greedynet.export.resolve import Model, Parts, as_parts, label_table
from greedynet.model.network import Network
from greedynet.support.files import require, write_atomically
from greedynet.support.tensorfile import library_version

if TYPE_CHECKING:
    import onnx

__all__ = ["ACTIVATION_OPERATORS", "to_onnx", "write_file"]

OPSET = 17
IR_VERSION = 8
# As in the models that skl2onnx makes of classifiers.
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
    proto = _checked_model(parts, name, input_name, outputs)
    write_atomically(path, proto.SerializeToString())
    return proto


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`; return how to load it."""
    to_onnx(model, path, dtype=dtype)
    return f'load it with onnxruntime.InferenceSession("{path}")'


def _checked_model(parts: Parts, dtype: DType, X: str, outputs: tuple[str, ...]) -> Any:
    """Build the model and compare its outputs in onnxruntime.

    `X` and `outputs` are names: of a classifier, the latter are those of labels and probabilities.
    """
    network, classes, filling = parts
    runtime = require("onnxruntime", "onnx", "to_onnx")
    proto = _model(parts, dtype, X, outputs)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(rows: NDArray[np.floating]) -> Any:
        return session.run(list(outputs), {X: rows})

    how: dict[str, Any] = {"dtype": dtype, "caller": "to_onnx", "filling": filling}
    if classes is None:
        check_agreement(network, lambda rows: run(rows)[0], **how)
    else:
        _checked_model(parts._replace(classes=None), dtype, "X", ("y",))
        check_class_agreement(network, classes, run, **how)
    return proto


def _model(parts: Parts, dtype: DType, X: str, outputs: tuple[str, ...]) -> Any:
    network, classes, filling = parts
    onnx = require("onnx", "onnx", "to_onnx")
    helper, types = onnx.helper, onnx.TensorProto
    kind = {"float32": types.FLOAT, "float64": types.DOUBLE}[dtype]
    graph = Graph(dtype)
    filled = add_filling(graph, filling, X)
    n_given = network.n_features if filling is None else len(filling.values)
    properties = _properties(network, n_given)
    if classes is None:
        add_network(graph, network, filled, to=outputs[0])
        made = [(kind, ["n_rows", network.n_outputs])]
    else:
        labels = label_table(classes, "to_onnx")
        logits = add_network(graph, network, filled)
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
