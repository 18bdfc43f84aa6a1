"""Numbers and arrays of them in C."""

import textwrap
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from greedynet.export.precision import DType

C_TYPES = {"float32": "float", "float64": "double"}
# Of function names and decimal numbers.
SUFFIX = {"float32": "f", "float64": ""}


def declaration(prefix: str, name: str, array: NDArray[np.floating], dtype: DType) -> str:
    """Return the declaration of the constant array `<prefix>_<name>`."""
    sizes = "".join(f"[{size}]" for size in array.shape)
    if array.ndim == 1:
        body = lines(_written(array, dtype), indent=4)
    else:
        rows = (lines(_written(row, dtype), indent=5) for row in array)
        body = ",\n".join(f"    {{{row[5:]}}}" for row in rows)
    return f"static const {C_TYPES[dtype]} {prefix}_{name}{sizes} = {{\n{body}\n}};\n"


def number(x: np.floating, dtype: DType) -> str:
    """Return the shortest decimal that represents the same binary number."""
    return np.format_float_scientific(x, trim="0") + SUFFIX[dtype]


def lines(values: Iterable[str], *, indent: int) -> str:
    """Return values with commas in between, in lines."""
    return textwrap.fill(
        ", ".join(values),
        96,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _written(row: NDArray[np.floating], dtype: DType) -> Iterable[str]:
    return (number(x, dtype) for x in row)
