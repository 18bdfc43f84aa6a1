"""Take a network anywhere: PyTorch, ONNX, Keras, JAX, C.

Every function takes a network, a fitted estimator or a file saved by one, and compares what it made
with `predict` before it hands it out. The libraries are imported when a function is called.

Of a classifier ONNX gives labels and probabilities, C logits and the index of the class, and the
others, which are there to be trained on, logits.
"""

from greedynet.export.agreement import DisagreementError
from greedynet.export.c_header import to_c
from greedynet.export.fold import fold_affine
from greedynet.export.jax_function import to_jax
from greedynet.export.keras_model import to_keras
from greedynet.export.onnx_model import register_skl2onnx, to_onnx
from greedynet.export.torch_module import from_torch, init_torch_, to_torch

__all__ = [
    "DisagreementError",
    "fold_affine",
    "from_torch",
    "init_torch_",
    "register_skl2onnx",
    "to_c",
    "to_jax",
    "to_keras",
    "to_onnx",
    "to_torch",
]
