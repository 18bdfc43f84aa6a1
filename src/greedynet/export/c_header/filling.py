"""Additions to the C header of a network that has learned from gaps: what to insert for NaN.

NaN is the only number that differs from itself, so no header is needed to find it.
"""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from greedynet.export.c_header.numbers import declaration
from greedynet.export.precision import DType
from greedynet.rows.missing import Filling

FILLING_ARRAY = "filling"

_SIZES = """\
#define {PREFIX}_N_GAPS {n_gaps}
#define {PREFIX}_N_FILLED ({PREFIX}_N_FEATURES + {PREFIX}_N_GAPS)
"""

_FILL = """
    /* NaN in x is a missing value; do not compile with -ffast-math. */
    {type} f[{PREFIX}_N_FILLED]; /* the inputs without gaps, and 1 for each gap */
    for (int i = 0; i < {PREFIX}_N_FEATURES; ++i) {{
        f[i] = x[i] != x[i] ? {prefix}_filling[i] : x[i];
    }}{others}"""

_IGNORED = """
    f[{column}] = {prefix}_filling[{column}]; /* without any value in training */"""
_INDICATED = """
    f[{at}] = x[{column}] != x[{column}] ? 1 : 0;"""


def filling_parts(
    filling: Filling | None, words: Mapping[str, str], dtype: DType
) -> tuple[str, str, tuple[str, ...]]:
    """Return definitions of numbers, the statements that compute `f`, and declarations.

    Parameters
    ----------
    filling : Filling or None
        None for nothing of all this.
    words : mapping
        The `prefix` of names, `PREFIX` in capitals, and the `type` of numbers.
    dtype : {"float32", "float64"}
    """
    if filling is None:
        return "", "", ()
    ignored = np.flatnonzero(filling.empty).tolist()
    indicated = np.flatnonzero(filling.indicated).tolist()
    others = [_IGNORED.format(column=j, **words) for j in ignored]
    others += [
        _INDICATED.format(at=at, column=j) for at, j in enumerate(indicated, len(filling.values))
    ]
    values = declaration(words["prefix"], FILLING_ARRAY, filling.values.astype(dtype), dtype)
    return (
        _SIZES.format(**words, n_gaps=len(indicated)),
        _FILL.format(**words, others="".join(others)),
        (values,),
    )


def read_filling(
    text: str, prefix: str, arrays: Mapping[str, NDArray[np.floating]]
) -> Filling | None:
    """Return the filling in the text of a header, of which the `arrays` are read; None without."""
    if FILLING_ARRAY not in arrays:
        return None
    values = arrays[FILLING_ARRAY].astype(np.float64)
    indicated, empty = np.zeros((2, len(values)), dtype=np.bool_)
    indicated[[int(j) for j in re.findall(r"= x\[(\d+)\] != x", text)]] = True
    empty[[int(j) for j in re.findall(rf"f\[(\d+)\] = {prefix}_filling", text)]] = True
    return Filling(values, ~empty, empty, indicated)
