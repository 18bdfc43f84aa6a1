"""ONNX: `Gemm -> activation -> Gemm`; an affine term is a third `Gemm`, added by the last one.

A first layer of ramps is a few elementwise operators before them.

The same nodes are used in a separate model (`to_onnx`) and, by skl2onnx, in a whole pipeline. Opset
17 and IR 8 are used: the defaults of onnx are newer than what many runtimes support.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from greedynet.export.onnx_model.activations import ACTIVATION_OPERATORS
from greedynet.export.onnx_model.model import checked_model
from greedynet.export.onnx_model.pipeline import register_skl2onnx
from greedynet.export.precision import DType, check_dtype
from greedynet.export.resolve import Model, as_parts
from greedynet.support.files import write_atomically

if TYPE_CHECKING:
    import onnx

__all__ = ["ACTIVATION_OPERATORS", "register_skl2onnx", "to_onnx", "write_file"]

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
    network, classes, filling = as_parts(model, "to_onnx")
    name = check_dtype(dtype, "to_onnx")
    if classes is not None and output_name is not None:
        raise ValueError(
            f"`output_name` must be None for a classifier, whose outputs are {_CLASS_OUTPUTS}, got "
            f"{output_name!r}: to name logits, export `model.network_`."
        )
    one = "y" if output_name is None else output_name
    outputs = (one,) if classes is None else _CLASS_OUTPUTS
    if not input_name or not all(outputs) or input_name in outputs:
        raise ValueError(
            "`input_name` and `output_name` must be two different names, got "
            f"{input_name!r} and {' and '.join(map(repr, outputs))}."
        )
    proto = checked_model(
        network, classes, name, input_name, outputs, caller="to_onnx", filling=filling
    )
    write_atomically(path, proto.SerializeToString())
    return proto


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`; return how to load it."""
    to_onnx(model, path, dtype=dtype)
    return f'load it with onnxruntime.InferenceSession("{path}")'
