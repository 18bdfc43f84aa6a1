"""skl2onnx: the estimators as steps of pipelines, with the same operators as in `to_onnx`.

skl2onnx first requests the types of the outputs of an operator, and then its nodes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.export.onnx_model.activations import Graph
from greedynet.export.onnx_model.model import (
    add_classes,
    add_filling,
    add_network,
    checked_model,
)
from greedynet.export.precision import DType
from greedynet.export.resolve import filling_of, label_table
from greedynet.support.files import require

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
    network, filling = operator.raw_operator.network_, filling_of(operator.raw_operator)
    graph, X = _start(scope, operator, container)
    # Check the same graph before it is added to the pipeline.
    checked_model(network, None, graph.dtype, "X", ("y",), caller="skl2onnx", filling=filling)
    X = add_filling(graph, filling, X)
    add_network(graph, network, X, "skl2onnx", to=operator.outputs[0].full_name)
    _hand_over(graph, container)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    network, classes = operator.raw_operator.network_, _classes(scope, operator)
    filling = filling_of(operator.raw_operator)
    raw = container.get_options(operator.raw_operator, {"raw_scores": False})["raw_scores"]
    graph, X = _start(scope, operator, container)
    checked_model(
        network, classes, graph.dtype, "X", ("l", "p"), caller="skl2onnx", filling=filling
    )
    X = add_filling(graph, filling, X)
    logits = add_network(graph, network, X, "skl2onnx")
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

    kinds = {"float32": "FLOAT", "float64": "DOUBLE", "int64": "INT64", "object": "STRING"}
    kinds["bool"] = "BOOL"
    return int(getattr(TensorProto, kinds[array.dtype.name]))
