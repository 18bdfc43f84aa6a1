"""The meaning of the texts in cells: which are numbers, which are empty, which are the same."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# Texts that stand for an empty cell.
EMPTY = frozenset(
    ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "NaT")
)


def text_numbers(cells: Iterable[str]) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the texts as numbers, NaN where there is none, and a mask of those that are text."""
    plain = ["nan" if cell in EMPTY else cell for cell in cells]
    # Python reads 1_000 as a number; in a table it is a name.
    if not any("_" in cell for cell in plain):
        try:
            return np.array(plain, dtype=np.float64), np.zeros(len(plain), dtype=np.bool_)
        except ValueError:
            pass
    values = np.full(len(plain), np.nan)
    text = np.zeros(len(plain), dtype=np.bool_)
    for i, cell in enumerate(plain):
        if cell.strip() in EMPTY:
            continue
        try:
            if "_" in cell:
                raise ValueError
            values[i] = float(cell)
        except ValueError:
            text[i] = True
    return values, text


def stripped(cells: Iterable[str]) -> list[str]:
    """Return the texts without spaces around them, "" for empty cells."""
    bare = (cell.strip() for cell in cells)
    return ["" if cell in EMPTY else cell for cell in bare]


def text_levels(texts: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts, and for each text its place among them."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(codes, dtype=np.intp)
