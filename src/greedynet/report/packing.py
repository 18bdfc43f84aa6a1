"""Numbers for the page: rounded if they are read, packed if they are drawn."""

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rounded(value: Any, digits: int = 5) -> Any:
    """Return numbers or lists of them, rounded to significant digits; None if not finite."""
    if isinstance(value, np.ndarray):
        return rounded(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [rounded(part, digits) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def packed(values: ArrayLike, low: float, high: float, *, bits: int = 16) -> dict[str, Any]:
    """Return an array quantised to integers of 8 or 16 bits between two values, in base 64.

    Parameters
    ----------
    values : array-like
        The values, which are clipped to the limits.
    low, high : float
        Values that 0 and the largest integer stand for.
    bits : {8, 16}
        Bits for each number.
    """
    array = np.asarray(values, dtype=np.float64)
    top = 2**bits - 1
    share = np.clip((array - low) / ((high - low) or 1.0), 0.0, 1.0)
    data = np.round(share * top).astype(f"<u{bits // 8}")
    return {"low": float(low), "high": float(high), **packed_bytes(data)}


def packed_bytes(data: NDArray[Any]) -> dict[str, Any]:
    """Return integers of 8 or 16 bits in base 64."""
    text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
    return {"bits": 8 * data.dtype.itemsize, "shape": list(data.shape), "data": text}


def limits(*arrays: ArrayLike, margin: float = 0.0) -> tuple[float, float]:
    """Return the smallest and the largest of all values, extended by a relative margin."""
    low = min(float(np.min(array)) for array in arrays)
    high = max(float(np.max(array)) for array in arrays)
    if low == high:
        half = 0.5 * abs(low) or 1.0
        return low - half, high + half
    return low - margin * (high - low), high + margin * (high - low)
