"""The text of a C header: the function of the network, and what only some networks add to it.

Each addition is some statements with the arrays that they read. NaN passes through all of them but
the filling: it is neither below nor above a bound.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import (
    DType,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import WEIGHTS, Network
from greedynet.model.ramps import RampTable
from greedynet.rows.missing import Filling
from greedynet.support.tensorfile import library_version

C_TYPES = {"float32": "float", "float64": "double"}
# Of function names and decimal numbers.
SUFFIX = {"float32": "f", "float64": ""}

# Names of arrays, those of the ramps in the order of `RampTable`.
_BOX = ("box_low", "box_high")
_RAMPS = ("ramp_starts", "ramp_widths", "ramp_low", "ramp_high")
_BOUNDS = ("lowest", "highest")
_ARRAYS = (*WEIGHTS, "filling", *_BOX, "ramp_columns", *_RAMPS, *_BOUNDS)


# Numbers and arrays


def number(x: np.floating, dtype: DType) -> str:
    """Return the shortest decimal that represents the same binary number."""
    return np.format_float_scientific(x, trim="0") + SUFFIX[dtype]


def _declaration(prefix: str, name: str, array: NDArray[np.floating], dtype: DType) -> str:
    sizes = "".join(f"[{size}]" for size in array.shape)
    if array.ndim == 1:
        body = _lines((number(x, dtype) for x in array), indent=4)
    else:
        rows = (_lines((number(x, dtype) for x in row), indent=5) for row in array)
        body = ",\n".join(f"    {{{row[5:]}}}" for row in rows)
    return f"static const {C_TYPES[dtype]} {prefix}_{name}{sizes} = {{\n{body}\n}};\n"


def _lines(values: Iterable[str], *, indent: int) -> str:
    return textwrap.fill(
        ", ".join(values),
        96,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def read_arrays(text: str, prefix: str, dtype: np.dtype[np.floating]) -> dict[str, NDArray[Any]]:
    """Return the arrays declared in a header by name; those of `int` as integers."""
    arrays = {}
    declared = rf"static const (\w+) {prefix}_({'|'.join(_ARRAYS)})([\[\]\d]+) = {{(.*?)}};"
    for kind, name, sizes, body in re.findall(declared, text, re.DOTALL):
        shape = [int(size) for size in re.findall(r"\d+", sizes)]
        numbers = re.findall(r"\d+" if kind == "int" else r"-?\d\.\d+e[+-]\d+", body)
        arrays[name] = np.array(numbers, np.intp if kind == "int" else dtype).reshape(shape)
    return arrays


# The function of the network

_TEMPLATE = """\
/*
{comment}
 *
 * Use: {type} y[{PREFIX}_N_OUTPUTS]; {prefix}_predict(x, y);{library}{use}
 */
#ifndef {PREFIX}_H
#define {PREFIX}_H

{include}#define {PREFIX}_N_FEATURES {n_features}
#define {PREFIX}_N_NEURONS {n_neurons}
#define {PREFIX}_N_OUTPUTS {n_outputs}
{sizes}
{arrays}
static inline void {prefix}_predict(
    const {type} x[{PREFIX}_N_FEATURES], {type} y[{PREFIX}_N_OUTPUTS])
{{{before}
    for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{
        y[j] = {start};{linear}
    }}
    for (int n = 0; n < {PREFIX}_N_NEURONS; ++n) {{
        {type} z = {prefix}_biases[n];
        for (int i = 0; i < {N_X}; ++i) {{
            z += {prefix}_inner_weights[n][i] * {x}[i];
        }}
        const {type} hidden = {activation};
        for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{
            y[j] += {prefix}_outer_weights[n][j] * hidden;
        }}
    }}{after}
}}
{classes}
#endif
"""

_LINEAR = """
        for (int i = 0; i < {N_X}; ++i) {{
            y[j] += {prefix}_linear_weights[i][j] * {x}[i];
        }}"""

_USE_OF_CLASSES = "\n * Class: int k = {prefix}_class(x), and {prefix}_classes[k] if k >= 0."


def header(
    network: Network,
    labels: NDArray[Any] | None,
    filling: Filling | None,
    prefix: str,
    dtype: DType,
    activation: str,
) -> str:
    """Return the text of the header, given the activation as an expression in `z`."""
    layers = with_hidden_layer(network)
    weights = rounded_weights(layers, dtype, "to_c")
    # `x` is what the next statements take for the inputs, and `N_X` the number of them.
    words = {"prefix": prefix, "PREFIX": prefix.upper(), "type": C_TYPES[dtype]}
    words |= {"x": "x", "N_X": f"{prefix.upper()}_N_FEATURES"}
    fill = _filling_part(filling, words, dtype)
    words |= fill.words
    clip = _box_part(rounded_box(network, dtype), words, dtype)
    words |= clip.words
    lift = _ramps_part(rounded_ramps(network.ramps, dtype, "to_c"), words, dtype)
    words |= lift.words
    before, after = (fill, clip, lift), _bounds_part(rounded_bounds(network, dtype), words, dtype)
    arrays = [_declaration(prefix, name, array, dtype) for name, array in weights.items()]
    needs_library = re.search(r"\w\(", activation) is not None
    n_features = network.n_features if filling is None else len(filling.values)
    return _TEMPLATE.format(
        **words,
        comment=_comment(network, n_features),
        n_features=n_features,
        n_neurons=layers.n_neurons,
        n_outputs=layers.n_outputs,
        sizes="".join(part.sizes for part in before),
        arrays="\n".join([*(a for part in before for a in part.arrays), *arrays, *after.arrays]),
        before="".join(part.statements for part in before),
        start=f"{prefix}_intercept[j]" if "intercept" in weights else "0",
        linear=_LINEAR.format(**words) if "linear_weights" in weights else "",
        activation=activation,
        after=after.statements,
        library=" Link with -lm." if needs_library else "",
        include="#include <math.h>\n\n" if needs_library else "",
        use="" if labels is None else _USE_OF_CLASSES.format(**words),
        classes="" if labels is None else _classes_text(labels, words),
    )


def _comment(network: Network, n_features: int) -> str:
    """Return the lines of the top comment, which names of the first features cannot terminate."""
    lines = [f"Made by greedynet {library_version()}.", network.describe().splitlines()[0]]
    if network.bounds is not None:
        lines.append(f"Outputs {network.bounds.sentence()}.")
    if network.feature_names is not None:
        lines += textwrap.wrap(f"Inputs: {', '.join(network.feature_names[:n_features])}", 96)
    # Delimiters of comments, line continuations, trigraphs and non-ASCII characters.
    return "\n".join(" * " + re.sub(r"[^ -~]|[*/\\?]", "_", line) for line in lines)


# Before and after it


class _Part(NamedTuple):
    """What an addition brings: statements with their arrays, and `words` for the next statements.

    `sizes` defines numbers, and `arrays` are declarations.
    """

    statements: str
    arrays: list[str]
    sizes: str = ""
    words: Mapping[str, str] = {}


_NOTHING = _Part("", [])

# NaN is the only number that differs from itself, so no header is needed to find it.
_FILL = """
    /* NaN in x is a missing value; do not compile with -ffast-math. */
    {type} f[{PREFIX}_N_FILLED]; /* the inputs without gaps, and 1 for each gap */
    for (int i = 0; i < {PREFIX}_N_FEATURES; ++i) {{
        f[i] = x[i] != x[i] ? {prefix}_filling[i] : x[i];
    }}{others}"""
_FILL_SIZES = """\
#define {PREFIX}_N_GAPS {n_gaps}
#define {PREFIX}_N_FILLED ({PREFIX}_N_FEATURES + {PREFIX}_N_GAPS)
"""
_IGNORED = """
    f[{column}] = {prefix}_filling[{column}]; /* without any value in training */"""
_INDICATED = """
    f[{at}] = x[{column}] != x[{column}] ? 1 : 0;"""


def _filling_part(filling: Filling | None, words: Mapping[str, str], dtype: DType) -> _Part:
    if filling is None:
        return _NOTHING
    ignored = np.flatnonzero(filling.empty).tolist()
    indicated = np.flatnonzero(filling.indicated).tolist()
    others = [_IGNORED.format(column=j, **words) for j in ignored]
    others += [
        _INDICATED.format(at=at, column=j) for at, j in enumerate(indicated, len(filling.values))
    ]
    return _Part(
        _FILL.format(**words, others="".join(others)),
        [_declaration(words["prefix"], "filling", filling.values.astype(dtype), dtype)],
        _FILL_SIZES.format(**words, n_gaps=len(indicated)),
        {"x": "f", "N_X": f"{words['PREFIX']}_N_FILLED"},
    )


def read_filling(
    text: str, prefix: str, arrays: Mapping[str, NDArray[np.floating]]
) -> Filling | None:
    """Return the filling in the text of a header, of which the `arrays` are read; None without."""
    if "filling" not in arrays:
        return None
    values = arrays["filling"].astype(np.float64)
    indicated, empty = np.zeros((2, len(values)), dtype=np.bool_)
    indicated[[int(j) for j in re.findall(r"= x\[(\d+)\] != x", text)]] = True
    empty[[int(j) for j in re.findall(rf"f\[(\d+)\] = {prefix}_filling", text)]] = True
    return Filling(values, ~empty, empty, indicated)


_CLIP = """
    {type} c[{N_X}]; /* the inputs within the range of the training rows */
    for (int i = 0; i < {N_X}; ++i) {{
        const {type} low = {prefix}_box_low[i], high = {prefix}_box_high[i];
        c[i] = {x}[i] < low ? low : {x}[i] > high ? high : {x}[i];
    }}"""


def _box_part(box: NDArray[np.floating] | None, words: Mapping[str, str], dtype: DType) -> _Part:
    if box is None:
        return _NOTHING
    ends = zip(_BOX, box, strict=True)
    arrays = [_declaration(words["prefix"], name, end, dtype) for name, end in ends]
    return _Part(_CLIP.format(**words), arrays, words={"x": "c"})


# A ramp is `(x[column] - start) / width`, between the bounds `low` and `high`.
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
_RAMP_SIZES = """\
#define {PREFIX}_N_RAMPS {n_ramps}
#define {PREFIX}_N_LIFTED ({N_X} + {PREFIX}_N_RAMPS)
"""


def _ramps_part(table: RampTable | None, words: Mapping[str, str], dtype: DType) -> _Part:
    if table is None:
        return _NOTHING
    prefix, n_ramps = words["prefix"], len(table.columns)
    columns = _lines(map(str, table.columns.tolist()), indent=4)
    numbers = zip(_RAMPS, table[1:], strict=True)
    return _Part(
        _LIFT.format(**words),
        [
            f"static const int {prefix}_ramp_columns[{n_ramps}] = {{\n{columns}\n}};\n",
            *(_declaration(prefix, name, array, dtype) for name, array in numbers),
        ],
        _RAMP_SIZES.format(**words, n_ramps=n_ramps),
        {"x": "u", "N_X": f"{words['PREFIX']}_N_LIFTED"},
    )


_LIMIT = """
    for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{{comparisons}
    }}"""
_COMPARISON = """
        if (y[j] {sign} {prefix}_{name}[j]) y[j] = {prefix}_{name}[j];"""


def _bounds_part(bounds: OutputBounds | None, words: Mapping[str, str], dtype: DType) -> _Part:
    """Return the part for the finite ends only."""
    if bounds is None:
        return _NOTHING
    # An output without the bound beside one that has it: no number is beyond the largest.
    most, comparisons, arrays = np.finfo(dtype).max, "", []
    for name, sign, end in zip(_BOUNDS, "<>", (bounds.low, bounds.high), strict=True):
        if np.isfinite(end).any():
            comparisons += _COMPARISON.format(**words, name=name, sign=sign)
            finite = np.clip(end, -most, most).astype(dtype)
            arrays.append(_declaration(words["prefix"], name, finite, dtype))
    return _Part(_LIMIT.format(**words, comparisons=comparisons), arrays)


# Classes

_CLASSES = """
#define {PREFIX}_N_CLASSES {n_classes}

static const {kind} {prefix}_classes[{PREFIX}_N_CLASSES] = {{
{table}
}};

/* The index of the class, -1 where an output is not a number. */
static inline int {prefix}_class(const {type} x[{PREFIX}_N_FEATURES])
{{
    {type} y[{PREFIX}_N_OUTPUTS];
    {prefix}_predict(x, y);
{index}
}}
"""

_INDEX_OF_TWO = "    return y[0] > 0 ? 1 : y[0] <= 0 ? 0 : -1;"

_INDEX = """\
    int best = 0;
    for (int j = 0; j < {PREFIX}_N_OUTPUTS; ++j) {{
        if (y[j] != y[j]) return -1;
        if (y[j] > y[best]) best = j;
    }}
    return best;"""


def _classes_text(labels: NDArray[Any], words: Mapping[str, str]) -> str:
    """Return the table of the classes, text or integers, and the function of their index."""
    index = (_INDEX_OF_TWO if len(labels) == 2 else _INDEX).format(**words)
    kind, write = ("char *const", _text) if labels.dtype == object else ("long long", _whole)
    table = ",\n".join(f"    {write(label)}" for label in labels.tolist())
    return _CLASSES.format(**words, n_classes=len(labels), kind=kind, table=table, index=index)


def _text(label: str) -> str:
    """Return a C string literal, with special characters as three octal digits."""
    special = re.compile(rb"[^ -~]|[\"\\?]")
    body = special.sub(lambda found: b"\\%03o" % found[0][0], label.encode())
    return f'"{body.decode("ascii")}"'


def _whole(label: int) -> str:
    # In C, -2**63 is the negation of 2**63, which overflows.
    return f"{label}LL" if label > -(2**63) else f"({label + 1}LL - 1)"


def read_classes(text: str, prefix: str) -> NDArray[Any]:
    """Return the classes in the text of a header."""
    declared = rf"\nstatic const [^\n]*{prefix}_classes\[\w+\] = {{\n(.*?)\n}};"
    (body,) = re.findall(declared, text, re.DOTALL)
    return np.array([_read(written.strip()) for written in body.split(",\n")], dtype=object)


def _read(written: str) -> str | int:
    """Invert `_text` and `_whole`."""
    if not written.startswith('"'):
        return sum(int(number) for number in re.findall(r"-?\d+", written.replace("- ", "-")))
    octal = re.compile(rb"\\([0-7]{3})")
    return octal.sub(lambda found: bytes([int(found[1], 8)]), written[1:-1].encode()).decode()
