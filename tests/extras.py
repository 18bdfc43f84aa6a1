"""Optional libraries in tests: skip where one is missing, fail where all must be there."""

import importlib
import os
from typing import Any

import pytest


def need(module: str) -> Any:
    """Import a library, or skip the test; with GREEDYNET_REQUIRE_EXTRAS=1 a missing one fails."""
    if module == "keras":
        os.environ.setdefault("KERAS_BACKEND", "jax")  # TensorFlow, its default, is not installed
    if os.environ.get("GREEDYNET_REQUIRE_EXTRAS") == "1":
        return importlib.import_module(module)
    return pytest.importorskip(module)
