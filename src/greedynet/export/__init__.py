"""Exporters: networks in the formats of ONNX, PyTorch, Keras, JAX, C and others.

May import everything up to `tables`; independent of plots, report and dask.

Every function takes a network, a fitted estimator or a saved file, and compares its result with
`predict` before returning it. The libraries are imported when a function is called.

A network with two hidden layers has its ramps along single columns first. They are fixed: what is
trained further is the second layer.

PyTorch, Keras and JAX are for further training: a fixed first layer scales the inputs, unless
`scaling="folded"`, and `from_torch`, `from_keras` and `from_jax` give back a fitted estimator. In
ONNX and C, the scaling is part of the weights.

For a classifier, the ONNX model returns labels and probabilities, the C code logits and the index
of the class, and the others, which are meant for further training, logits.

The exporters are listed in `registry.py`. Names are imported when they are first used, so that the
command line can use this list and still start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greedynet.export.registry import EXPORTERS

# Type checkers cannot evaluate the table: a name that is missing here works, but has no type.
if TYPE_CHECKING:
    from greedynet.export.agreement import DisagreementError as DisagreementError
    from greedynet.export.c_header import to_c as to_c
    from greedynet.export.fold import fold_affine as fold_affine
    from greedynet.export.jax_function import from_jax as from_jax
    from greedynet.export.jax_function import to_jax as to_jax
    from greedynet.export.keras_model import from_keras as from_keras
    from greedynet.export.keras_model import to_keras as to_keras
    from greedynet.export.onnx_model import to_onnx as to_onnx
    from greedynet.export.torch_module import from_torch as from_torch
    from greedynet.export.torch_module import to_torch as to_torch

_HOMES = {"DisagreementError": "agreement", "fold_affine": "fold"} | {
    name: exporter.home for exporter in EXPORTERS for name in (exporter.function, *exporter.more)
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(
            f"module 'greedynet.export' has no attribute {name!r}, only {', '.join(__all__)}."
        )
    value = getattr(import_module(f"greedynet.export.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
