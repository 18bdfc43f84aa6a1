"""Additions to the C header of a network with bounds on its outputs."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from greedynet.export.c_header.numbers import declaration
from greedynet.export.precision import DType
from greedynet.model.bounds import OutputBounds

# Names of the arrays of numbers in the header.
BOUND_ARRAYS = ("lowest", "highest")

# NaN stays NaN: it is neither below nor above a bound.
_LIMIT = """
    for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{{comparisons}
    }}"""
_COMPARISONS = {
    "lowest": """
        if (y[j] < {prefix}_lowest[j]) y[j] = {prefix}_lowest[j];""",
    "highest": """
        if (y[j] > {prefix}_highest[j]) y[j] = {prefix}_highest[j];""",
}


def bound_parts(
    bounds: OutputBounds | None, words: Mapping[str, str], dtype: DType
) -> tuple[str, list[str]]:
    """Return the statements that limit `y`, and declarations, both of finite ends only.

    Parameters
    ----------
    bounds : OutputBounds or None
        Rounded to the precision; None for nothing of all this.
    words : mapping
        The `prefix` of names, and `PREFIX` in capitals.
    dtype : {"float32", "float64"}
    """
    if bounds is None:
        return "", []
    # An output without the bound beside one that has it: no number is beyond the largest.
    most = np.finfo(dtype).max
    ends = zip(BOUND_ARRAYS, (bounds.low, bounds.high), strict=True)
    found = {name: np.clip(end, -most, most) for name, end in ends if np.isfinite(end).any()}
    comparisons = "".join(_COMPARISONS[name].format(**words) for name in found)
    arrays = [
        declaration(words["prefix"], name, end.astype(dtype), dtype) for name, end in found.items()
    ]
    return _LIMIT.format(**words, comparisons=comparisons), arrays


def read_bounds(arrays: Mapping[str, NDArray[np.floating]]) -> OutputBounds | None:
    """Return the bounds among the arrays of a header; None without any."""
    low, high = (arrays.get(name) for name in BOUND_ARRAYS)
    return None if low is None and high is None else OutputBounds(low, high)
