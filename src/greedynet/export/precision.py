"""The precision of an export: float32 or float64."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greedynet.model.bounds import OutputBounds
from greedynet.model.network import WEIGHTS, Network
from greedynet.model.ramps import Ramps, RampTable, ramp_table
from greedynet.support.files import require

DType = Literal["float32", "float64"]


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


def rounded_weights(network: Network, dtype: DType, caller: str) -> dict[str, NDArray[np.floating]]:
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


def rounded_ramps(ramps: Ramps | None, dtype: DType, caller: str) -> RampTable | None:
    """Return the ramps of a first layer in the precision of the export, with finite bounds.

    Exports consist of ramps rather than hinges: next to knots that are close to each other, hinges
    have large weights that cancel, and float32 has too few digits for them.
    """
    if ramps is None:
        return None
    exact = ramps.table
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        table = ramp_table(ramps.features, ramps.knots.astype(dtype))
        # Different knots may be rounded to the same number; a step is left of their ramp.
        widths = np.where(table.widths > 0, table.widths, exact.widths.astype(dtype))
    if not (np.isfinite(table.starts).all() and np.isfinite(widths).all() and widths.all()):
        raise ValueError(
            f"The knots of the network must be finite and different in {dtype}, got values up to "
            f"{np.abs(ramps.knots).max():.3g} at distances from {exact.widths.min():.3g}: "
            f"`{caller}` can export no others; rescale the data, or write dtype='float64'."
        )
    most = np.finfo(dtype).max
    low, high = (np.clip(bounds, -most, most) for bounds in (table.low, table.high))
    return table._replace(widths=widths, low=low, high=high)


def rounded_bounds(network: Network, dtype: DType) -> OutputBounds | None:
    """Return the bounds on the outputs, rounded inwards to the precision of the export."""
    return None if network.bounds is None else network.bounds.within(dtype)


def rounded_box(network: Network, dtype: DType) -> NDArray[np.floating] | None:
    """Return what inputs are clipped to, in the precision of the export.

    Rounded to the nearest, which leaves all numbers of this precision inside the box as they are.
    """
    with np.errstate(over="ignore"):
        return None if network.box is None else network.box.astype(dtype)


def exact_bounds(
    read: OutputBounds | None, known: Network | None, dtype: DType
) -> OutputBounds | None:
    """Return bounds that were read from an export; as in a known network, if they are rounded ones.

    Those of the known network, too, if none were read: it may have been trained without them.
    """
    if known is None or known.bounds is None:
        return read
    rounded = known.bounds.within(dtype)
    return known.bounds if read is None or read.pairs() == rounded.pairs() else read


def check_x64(dtype: DType, caller: str) -> None:
    """Raise an error unless JAX, which must be installed, computes in the given precision."""
    if dtype == "float64" and not require("jax", "train", caller).config.jax_enable_x64:
        raise ValueError(
            f"`dtype` of `{caller}` must be 'float32' while JAX computes in float32, got "
            "'float64': write jax.config.update('jax_enable_x64', True) first."
        )
