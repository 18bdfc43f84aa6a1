"""Optional libraries: imported when a function that needs them is called."""

from importlib import import_module
from typing import Any


def require(module: str, extra: str, caller: str) -> Any:
    """Import an optional library, or say how to install it.

    Parameters
    ----------
    module : str
        What to import, such as "onnx.helper".
    extra : str
        The extra of greedynet that brings it.
    caller : str
        The public function that needs it.

    Returns
    -------
    module : module
        The innermost one: `onnx.helper` for "onnx.helper".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A library that is there but lacks something of its own says so better than we could.
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"`{caller}` needs {error.name}, which is not installed: "
            f'pip install "greedynet[{extra}]"',
            name=error.name,
        ) from None
