"""The file of a module: weights only, which PyTorch loads without executing any code."""

import io
from pathlib import Path
from typing import Any

from greedynet.export.fold import folds
from greedynet.export.precision import DType
from greedynet.export.resolve import Model, as_network
from greedynet.export.torch_module.module import to_torch
from greedynet.support.files import require, write_atomically


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`, with plain layers if possible; return its usage."""
    network = as_network(model, "greedynet export")
    module = to_torch(network, dtype=dtype, fold_affine=folds(network))
    buffer = io.BytesIO()
    require("torch", "torch", "greedynet export").save(module.state_dict(), buffer)
    write_atomically(path, buffer.getvalue())
    double = ".double()" if dtype == "float64" else ""
    return (
        f"load it into {_constructor(module)}{double} with "
        f'load_state_dict(torch.load("{path}", weights_only=True))'
    )


def _constructor(module: Any) -> str:
    """Return the code that constructs a module with the same layers."""
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
