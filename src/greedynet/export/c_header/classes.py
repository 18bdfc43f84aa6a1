"""Additions to the C header of a classifier: its classes, and the index of the predicted one."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A line of the top comment.
USE = "\n * Class: int k = {prefix}_class(x), and {prefix}_classes[k] if k >= 0."

_TEMPLATE = """
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


def write_classes(labels: NDArray[Any], words: Mapping[str, str]) -> str:
    """Return the table of the classes and the function that returns the index.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        Text, with dtype object, or int64.
    words : mapping
        The `prefix` of names, `PREFIX` in capitals, and the `type` of numbers.
    """
    index = (_INDEX_OF_TWO if len(labels) == 2 else _INDEX).format(**words)
    kind, write = ("char *const", _text) if labels.dtype == object else ("long long", _whole)
    table = ",\n".join(f"    {write(label)}" for label in labels.tolist())
    return _TEMPLATE.format(**words, n_classes=len(labels), kind=kind, table=table, index=index)


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
