"""Additions to the C header of a network that has learned from gaps: what to insert for NaN.

NaN is the only number that differs from itself, so no header is needed to find it.
"""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from greedynet.export.c_header.numbers import declaration, lines
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
    }}{ignore}
    for (int g = 0; g < {PREFIX}_N_GAPS; ++g) {{
        const {type} given = x[{prefix}_gap_columns[g]];
        f[{PREFIX}_N_FEATURES + g] = given != given ? 1 : 0;
    }}"""

_IGNORE = """
    f[{column}] = {prefix}_filling[{column}]; /* without any value in training */"""


def filling_parts(
    filling: Filling | None, words: Mapping[str, str], dtype: DType
) -> tuple[str, str, tuple[str, ...]]:
    """Return definitions of numbers, the statements that compute `f`, and declarations.

    Parameters
    ----------
    filling : Filling or None
        With at least one gap, as C has no empty arrays; None for nothing of all this.
    words : mapping
        The `prefix` of names, `PREFIX` in capitals, and the `type` of numbers.
    dtype : {"float32", "float64"}
    """
    if filling is None:
        return "", "", ()
    gaps, prefix = np.flatnonzero(filling.gaps).tolist(), words["prefix"]
    ignore = "".join(
        _IGNORE.format(column=j, **words) for j in np.flatnonzero(filling.empty).tolist()
    )
    body = lines(map(str, gaps), indent=4)
    columns = f"static const int {prefix}_gap_columns[{len(gaps)}] = {{\n{body}\n}};\n"
    values = declaration(prefix, FILLING_ARRAY, filling.values.astype(dtype), dtype)
    return (
        _SIZES.format(**words, n_gaps=len(gaps)),
        _FILL.format(**words, ignore=ignore),
        (columns, values),
    )


def read_filling(
    text: str, prefix: str, arrays: Mapping[str, NDArray[np.floating]]
) -> Filling | None:
    """Return the filling in the text of a header, of which the `arrays` are read; None without."""
    declared = re.search(rf"{prefix}_gap_columns\[\d+\] = {{(.*?)}};", text, re.DOTALL)
    if declared is None:
        return None
    values = arrays[FILLING_ARRAY].astype(np.float64)
    gaps, empty = np.zeros((2, len(values)), dtype=np.bool_)
    gaps[[int(j) for j in re.findall(r"\d+", declared[1])]] = True
    empty[[int(j) for j in re.findall(rf"f\[(\d+)\] = {prefix}_filling", text)]] = True
    return Filling(values, gaps, empty)
