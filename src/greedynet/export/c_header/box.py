"""Additions to the C header of a network that clips its inputs to the box of the training rows."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from greedynet.export.c_header.numbers import declaration
from greedynet.export.precision import DType

# Names of the arrays of numbers in the header.
BOX_ARRAYS = ("box_low", "box_high")

# NaN stays NaN: it is neither below nor above an end.
_CLIP = """
    {type} c[{N_X}]; /* the inputs within the range of the training rows */
    for (int i = 0; i < {N_X}; ++i) {{
        const {type} low = {prefix}_box_low[i], high = {prefix}_box_high[i];
        c[i] = {x}[i] < low ? low : {x}[i] > high ? high : {x}[i];
    }}"""


def box_parts(
    box: NDArray[np.floating] | None, words: dict[str, str], dtype: DType
) -> tuple[str, list[str]]:
    """Return the statements that compute `c`, and declarations.

    Parameters
    ----------
    box : ndarray of shape (2, n_features) or None
        In the precision; None for nothing of all this.
    words : mapping
        The `prefix` of names, the `type` of numbers, and the name `x` of the inputs with their
        number `N_X`.
    dtype : {"float32", "float64"}
    """
    if box is None:
        return "", []
    ends = zip(BOX_ARRAYS, box, strict=True)
    arrays = [declaration(words["prefix"], name, end, dtype) for name, end in ends]
    return _CLIP.format(**words), arrays


def read_box(arrays: Mapping[str, NDArray[np.floating]]) -> NDArray[np.floating] | None:
    """Return the box among the arrays of a header; None without one."""
    if BOX_ARRAYS[0] not in arrays:
        return None
    return np.stack([arrays[name] for name in BOX_ARRAYS])
