"""The table of exporters, which imports none of their dependencies.

This table determines the public names of `greedynet.export`, the options, help, errors and output
of `greedynet export`, and the cases of the tests of all exporters.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Exporter:
    """One export format: the function `to_<name>`, and `--to <name>`.

    Attributes
    ----------
    name : str
        "onnx" for `to_onnx(model, ...)` and `greedynet export --to onnx`.
    title : str
        The usual name, such as "ONNX".
    home : str
        The module of `greedynet.export` that contains the function, imported when it is used.
    suffix : str or None
        Suffix of the file that `greedynet export` writes, such as ".onnx", by the function
        `write_file(model, path, dtype)` of that module, which returns a line on how to load it.
        None if there is no such file.
    libraries : tuple of str
        Optional dependencies of the function, in the order of their import.
    extra : str or None
        The extra of greedynet that installs the libraries.
    class_outputs : str
        The outputs of a classifier, to be followed by "of the classes ...".
    has_labels : bool
        Whether class labels are exported, which restricts their types.
    more : tuple of str
        Other public names of the module.
    """

    name: str
    title: str
    home: str
    suffix: str | None = None
    libraries: tuple[str, ...] = ()
    extra: str | None = None
    class_outputs: str = "outputs are logits"
    has_labels: bool = False
    more: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """Name of the function in `greedynet.export`."""
        return f"to_{self.name}"

    def module(self) -> ModuleType:
        """Import the module."""
        return import_module(f"greedynet.export.{self.home}")

    def write_file(self, model: Any, path: Path, dtype: str) -> str:
        """Write the file of `greedynet export`; return a line on how to load it."""
        return str(self.module().write_file(model, path, dtype))


EXPORTERS = (
    Exporter(
        "onnx",
        "ONNX",
        home="onnx_model",
        suffix=".onnx",
        libraries=("onnxruntime", "onnx"),
        extra="onnx",
        class_outputs='outputs "label" and "probabilities",',
        has_labels=True,
        more=("register_skl2onnx",),
    ),
    Exporter(
        "torch",
        "PyTorch",
        home="torch_module",
        suffix=".pt",
        libraries=("torch",),
        extra="torch",
        more=("init_torch_", "from_torch"),
    ),
    Exporter(
        "keras",
        "Keras",
        home="keras_model",
        suffix=".keras",
        libraries=("jax", "keras"),
        extra="keras",
        more=("from_keras",),
    ),
    Exporter(
        "jax",
        "JAX",
        home="jax_function",
        libraries=("jax",),
        extra="train",
        more=("from_jax",),
    ),
    Exporter(
        "c",
        "C",
        home="c_header",
        suffix=".h",
        class_outputs="logits and the index",
        has_labels=True,
    ),
)

# The exporters of `greedynet export`, by the value of `--to`.
FILE_EXPORTERS = {exporter.name: exporter for exporter in EXPORTERS if exporter.suffix is not None}
