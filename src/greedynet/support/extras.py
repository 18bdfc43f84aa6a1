"""Optional dependencies: imported when a function that needs them is called."""

from importlib import import_module
from typing import Any


def require(module: str, extra: str, caller: str) -> Any:
    """Import an optional dependency; if it is missing, the error says how to install it.

    `extra` is the extra of greedynet that installs it, and `caller` the public function that needs
    it. Of "onnx.helper", the innermost module is returned.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed library that lacks one of its own dependencies has the better error message.
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"`{caller}` needs {error.name}, which is not installed: "
            f'pip install "greedynet[{extra}]"',
            name=error.name,
        ) from None
