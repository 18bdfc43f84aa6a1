"""The exporters, an entry each, and nothing imported for it.

From this table follow the public names of `greedynet.export`, what `greedynet export --to` takes,
its help, its errors and what it says of a file, and what the tests of all exporters run over.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Exporter:
    """One way to take a network elsewhere: the function `to_<name>`, and `--to <name>`.

    Attributes
    ----------
    name : str
        "onnx" for `to_onnx(model, ...)` and `greedynet export --to onnx`.
    title : str
        What people call it, such as "ONNX".
    home : str
        The module of `greedynet.export` that holds the function, imported when it is asked for.
    suffix : str or None
        Ending of the file that `greedynet export` writes, such as ".onnx", by the home's function
        `write_file(model, path, dtype)`, which returns a line on how to load it. None where there
        is no such file.
    libraries : tuple of str
        What the function imports beyond the core, in this order.
    extra : str or None
        The extra of greedynet that brings the libraries.
    class_outputs : str
        What comes out of a classifier, to be followed by "of the classes ...".
    has_labels : bool
        Whether the names of the classes go along, which must then have names elsewhere too.
    more : tuple of str
        Other public names of the home.
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
        """The function's name in `greedynet.export`."""
        return f"to_{self.name}"

    def module(self) -> ModuleType:
        """Import the home."""
        return import_module(f"greedynet.export.{self.home}")

    def write_file(self, model: Any, path: Path, dtype: str) -> str:
        """Write the file of `greedynet export`; return the line that says how to load it."""
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
    ),
    Exporter("jax", "JAX", home="jax_function", libraries=("jax",), extra="train"),
    Exporter(
        "c",
        "C",
        home="c_header",
        suffix=".h",
        class_outputs="logits and the index",
        has_labels=True,
    ),
)

# Those that `greedynet export` can write, by what `--to` takes.
FILE_EXPORTERS = {exporter.name: exporter for exporter in EXPORTERS if exporter.suffix is not None}
