"""The command `greedynet export`: a saved model into a file for somewhere else."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from greedynet.activations import odd_part
from greedynet.cli.commands.places import check_places
from greedynet.export.c_header import to_c
from greedynet.export.keras_model import to_keras
from greedynet.export.onnx_model import to_onnx
from greedynet.export.precision import DType
from greedynet.export.resolve import Model, as_network, as_network_and_classes
from greedynet.export.torch_module import to_torch
from greedynet.model.network import ShallowNetwork
from greedynet.support.extras import require
from greedynet.support.files import write_atomically
from greedynet.tables.load import load

ENDINGS = {"onnx": ".onnx", "torch": ".pt", "keras": ".keras", "c": ".h"}


def run(model: Path, target: str, out: Path | None, dtype: DType) -> str:
    """Write the model for the target; return the lines that say what to do with the file.

    Parameters
    ----------
    model : Path
        A file written by `save`.
    target : {"onnx", "torch", "keras", "c"}
        What to write.
    out : Path or None
        Where to; None for the model's name with the target's ending.
    dtype : {"float32", "float64"}
        Precision of the weights.
    """
    path = out or model.with_suffix(ENDINGS[target])
    check_places({"MODEL": model}, {"--out": path})
    saved = load(model)
    network, classes = as_network_and_classes(saved, "greedynet export")
    hint = _WRITERS[target](saved, path, dtype)
    lines = [f"wrote {path}: {network.describe().splitlines()[0]}", hint]
    if classes is not None:
        lines.insert(1, f"{_CLASS_OUTPUTS[target]} of the classes {_listed(classes.tolist())}")
    return "\n".join(lines)


# What comes out of a classifier.
_CLASS_OUTPUTS = {
    "onnx": 'outputs "label" and "probabilities",',
    "torch": "outputs are logits",
    "keras": "outputs are logits",
    "c": "logits and the index",
}


def _listed(classes: list[Any]) -> str:
    shown = ", ".join(map(repr, classes[:6]))
    return f"{shown}, ... ({len(classes)})" if len(classes) > 6 else shown


def _write_onnx(model: Model, path: Path, dtype: DType) -> str:
    to_onnx(model, path, dtype=dtype)
    return f'load it with onnxruntime.InferenceSession("{path}")'


def _write_c(model: Model, path: Path, dtype: DType) -> str:
    to_c(model, path, dtype=dtype)
    return f'include it with #include "{path}"; the comment at its top shows the call'


def _write_torch(model: Model, path: Path, dtype: DType) -> str:
    """Weights only, which PyTorch loads without running any code."""
    network = as_network(model, "greedynet export")
    module = to_torch(network, dtype=dtype, fold_affine=_folds(network))
    buffer = io.BytesIO()
    require("torch", "torch", "greedynet export").save(module.state_dict(), buffer)
    write_atomically(path, buffer.getvalue())
    double = ".double()" if dtype == "float64" else ""
    return (
        f"load it into {_constructor(module)}{double} with "
        f'load_state_dict(torch.load("{path}", weights_only=True))'
    )


def _write_keras(model: Model, path: Path, dtype: DType) -> str:
    network = as_network(model, "greedynet export")
    if path.suffix != ".keras":
        raise ValueError(f"`--out` must end in .keras for a Keras model, got {str(path)!r}.")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.keras")
        to_keras(network, dtype=dtype, fold_affine=_folds(network)).save(file)
        write_atomically(path, Path(file).read_bytes())
    return f'load it with keras.saving.load_model("{path}")'


def _folds(network: ShallowNetwork) -> bool:
    """Whether the affine term becomes neurons; where it can, the model is plain layers."""
    return network.linear_weights is None or odd_part(network.activation) is not None


def _constructor(module: Any) -> str:
    """What to write for a module of the same layers; modules of ours with the place they are at."""
    children = list(module.children())
    if not children:
        text = repr(module)
    else:
        text = f"{type(module).__name__}({', '.join(map(_constructor, children))})"
    if type(module).__name__ == "Linear":
        bias = "" if module.bias is not None else ", bias=False"
        text = f"Linear({module.in_features}, {module.out_features}{bias})"
    place = type(module).__module__
    return f"nn.{text}" if place.startswith("torch.") else f"{place}.{text}"


_WRITERS: dict[str, Callable[[Model, Path, DType], str]] = {
    "onnx": _write_onnx,
    "torch": _write_torch,
    "keras": _write_keras,
    "c": _write_c,
}
