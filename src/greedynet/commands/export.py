"""The command `greedynet export`: a saved model into a file for somewhere else."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from greedynet.export.c_header import to_c
from greedynet.export.keras_model import to_keras
from greedynet.export.onnx_model import to_onnx
from greedynet.export.precision import DType
from greedynet.export.resolve import as_network
from greedynet.export.torch_module import to_torch
from greedynet.extras import require
from greedynet.files import write_atomically

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
    network = as_network(model, "greedynet export")
    path = out or model.with_suffix(ENDINGS[target])
    _WRITERS[target](model, path, dtype)
    return f"wrote {path}: {network.describe().splitlines()[0]}\n{_HINTS[target].format(path=path)}"


def _write_onnx(model: Path, path: Path, dtype: DType) -> None:
    to_onnx(model, path, dtype=dtype)


def _write_c(model: Path, path: Path, dtype: DType) -> None:
    to_c(model, path, dtype=dtype)


def _write_torch(model: Path, path: Path, dtype: DType) -> None:
    """Weights only, which PyTorch loads without running any code."""
    module = to_torch(model, dtype=dtype)
    buffer = io.BytesIO()
    require("torch", "torch", "greedynet export").save(module.state_dict(), buffer)
    write_atomically(path, buffer.getvalue())


def _write_keras(model: Path, path: Path, dtype: DType) -> None:
    if path.suffix != ".keras":
        raise ValueError(f"`--out` must end in .keras for a Keras model, got {str(path)!r}.")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.keras")
        to_keras(model, dtype=dtype).save(file)
        write_atomically(path, Path(file).read_bytes())


_WRITERS: dict[str, Callable[[Path, Path, DType], None]] = {
    "onnx": _write_onnx,
    "torch": _write_torch,
    "keras": _write_keras,
    "c": _write_c,
}

_HINTS = {
    "onnx": 'load it with onnxruntime.InferenceSession("{path}")',
    "torch": (
        "load it into nn.Sequential(nn.Linear(d, n), nn.ReLU(), nn.Linear(n, t)) with "
        'load_state_dict(torch.load("{path}", weights_only=True))'
    ),
    "keras": 'load it with keras.saving.load_model("{path}")',
    "c": 'include it with #include "{path}"; the comment at its top shows the call',
}
