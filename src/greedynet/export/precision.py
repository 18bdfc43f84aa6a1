"""The precision of an export: float32 or float64."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import ShallowNetwork
from greedynet.support.extras import require

DType = Literal["float32", "float64"]

WEIGHTS = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")


def check_dtype(dtype: Any, caller: str) -> DType:
    """Return "float32" or "float64"; types of NumPy and torch are accepted too."""
    name = getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
    if name == "float32":
        return "float32"
    if name == "float64":
        return "float64"
    raise ValueError(
        f"`dtype` of `{caller}` must be 'float32' or 'float64', got {dtype!r}: for other types, "
        "export in float32 and convert the result."
    )


def rounded_weights(
    network: ShallowNetwork, dtype: DType, caller: str
) -> dict[str, NDArray[np.floating]]:
    """Return the weights of the network, by name, in the precision of the export."""
    rounded = {}
    for name in WEIGHTS:
        exact = getattr(network, name)
        if exact is None:
            continue
        with np.errstate(over="ignore"):
            rounded[name] = exact.astype(dtype)
        if not np.isfinite(rounded[name]).all():
            raise ValueError(
                f"`{name}` of the network must be finite in {dtype}, got values up to "
                f"{np.abs(exact).max():.3g}: `{caller}` can export finite weights only; rescale "
                "the data, or write dtype='float64'."
            )
    return rounded


def check_x64(dtype: DType, caller: str) -> None:
    """Raise an error unless JAX, which must be installed, computes in the given precision."""
    if dtype == "float64" and not require("jax", "train", caller).config.jax_enable_x64:
        raise ValueError(
            f"`dtype` of `{caller}` must be 'float32' while JAX computes in float32, got "
            "'float64': write jax.config.update('jax_enable_x64', True) first."
        )
