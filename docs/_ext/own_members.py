"""Leave out of a class's page what other libraries gave it: their docstrings have their own."""

import inspect
from typing import Any

from sphinx.application import Sphinx


def skip_foreign(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Skip a member that is defined outside of greedynet; None leaves the decision to Sphinx."""
    function = getattr(obj, "fget", None) or inspect.unwrap(getattr(obj, "__func__", obj))
    module = getattr(function, "__module__", None)
    return True if module is not None and not module.startswith("greedynet") else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True}
