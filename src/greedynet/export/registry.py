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
    """One export format: the function `to_<name>`, and `--to <name>`."""

    name: str  # "onnx" for `to_onnx(model, ...)` and `greedynet export --to onnx`
    title: str  # the usual name, such as "ONNX"
    home: str  # the module with the function, imported when it is used
    # Of the file that `greedynet export` writes, by the function `write_file(model, path, dtype)`
    # of the module, which returns a line on how to load it; None if there is no such file.
    suffix: str | None = None
    libraries: tuple[str, ...] = ()  # in the order of their import
    extra: str | None = None  # of greedynet, which installs the libraries
    class_outputs: str = "outputs are logits"  # to be followed by "of the classes ..."
    has_labels: bool = False  # are class labels exported, which restricts their types?
    more: tuple[str, ...] = ()  # other public names of the module

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
    ),
    Exporter(
        "torch",
        "PyTorch",
        home="torch_module",
        suffix=".pt",
        libraries=("torch",),
        extra="torch",
        more=("from_torch",),
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
        "jax", "JAX", home="jax_function", libraries=("jax",), extra="train", more=("from_jax",)
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
