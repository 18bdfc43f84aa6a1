"""Additions to the C header of a network with two hidden layers: the first one, a table of ramps.

A ramp is `(x[column] - start) / width`, between the bounds `low` and `high`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.export.c_header.numbers import declaration, lines
from greedynet.export.precision import DType
from greedynet.model.ramps import RampTable

# Names of the arrays of numbers in the header, in the order of `RampTable`.
RAMP_ARRAYS = ("ramp_starts", "ramp_widths", "ramp_low", "ramp_high")

_SIZES = """\
#define {PREFIX}_N_RAMPS {n_ramps}
#define {PREFIX}_N_LIFTED ({N_X} + {PREFIX}_N_RAMPS)
"""

# NaN stays NaN: it is neither below nor above a bound.
_LIFT = """
    {type} u[{PREFIX}_N_LIFTED]; /* the inputs and their ramps */
    for (int i = 0; i < {N_X}; ++i) {{
        u[i] = {x}[i];
    }}
    for (int r = 0; r < {PREFIX}_N_RAMPS; ++r) {{
        const {type} low = {prefix}_ramp_low[r], high = {prefix}_ramp_high[r];
        const {type} rise =
            ({x}[{prefix}_ramp_columns[r]] - {prefix}_ramp_starts[r]) / {prefix}_ramp_widths[r];
        u[{N_X} + r] = rise < low ? low : rise > high ? high : rise;
    }}"""


class FirstLayer(NamedTuple):
    """The parts of a header before the neurons.

    Attributes
    ----------
    result, size : str
        The name of what the neurons see, `u`, or else the inputs, and its number of elements.
    sizes, statements : str
        Definitions of numbers, and the computation of `u`.
    arrays : tuple of str
        Declarations.
    """

    result: str
    size: str
    sizes: str = ""
    statements: str = ""
    arrays: tuple[str, ...] = ()

    @staticmethod
    def of(table: RampTable | None, words: Mapping[str, str], dtype: DType) -> "FirstLayer":
        """Return the parts for a table of ramps, or for none.

        Parameters
        ----------
        table : RampTable or None
        words : mapping
            The `prefix` of names, `PREFIX` in capitals, the `type` of numbers, and the name `x` of
            the inputs with their number `N_X`.
        dtype : {"float32", "float64"}
        """
        prefix, PREFIX = words["prefix"], words["PREFIX"]
        if table is None:
            return FirstLayer(words["x"], words["N_X"])
        numbers = zip(RAMP_ARRAYS, table[1:], strict=True)
        return FirstLayer(
            "u",
            f"{PREFIX}_N_LIFTED",
            _SIZES.format(**words, n_ramps=len(table.columns)),
            _LIFT.format(**words),
            (_columns(prefix, table), *(declaration(prefix, *pair, dtype) for pair in numbers)),
        )


def _columns(prefix: str, table: RampTable) -> str:
    body = lines(map(str, table.columns.tolist()), indent=4)
    return f"static const int {prefix}_ramp_columns[{len(table.columns)}] = {{\n{body}\n}};\n"


def read_ramps(
    text: str, prefix: str, arrays: Mapping[str, NDArray[np.floating]]
) -> RampTable | None:
    """Return the ramps in the text of a header, of which the `arrays` are read; None without any.

    Parameters
    ----------
    text : str
    prefix : str
        Of the names in the header.
    arrays : mapping
        The arrays of numbers by name.
    """
    declared = re.search(rf"{prefix}_ramp_columns\[\d+\] = {{(.*?)}};", text, re.DOTALL)
    if declared is None:
        return None
    columns = np.array(re.findall(r"\d+", declared[1]), dtype=np.intp)
    return RampTable(columns, *(arrays[name] for name in RAMP_ARRAYS))
