"""The parameter `bounds` of the estimators, checked: what the outputs of the network may not leave.

Outputs outside the bounds would be errors that no network within them can avoid, so they are
refused. Where all outputs are inside, no prediction is made worse by its bound: it moves towards
the output, whichever that is.
"""

from typing import Any

import numpy as np

from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.checks import check_float, is_number
from greedynet.support.types import Float64


def check_bounds(bounds: Any) -> OutputBounds | None:
    """Return the bounds of all outputs, None if both ends are open, or raise an error.

    Parameters
    ----------
    bounds : (low, high) or None
        Each end a number, or None for an open one.
    """
    if bounds is None:
        return None
    pair = list(bounds) if np.ndim(bounds) == 1 else []
    for end in pair:
        check_float(end, "bounds")
    if len(pair) != 2 or not all(end is None or _is_end(end) for end in pair):
        raise ValueError(
            "`bounds` must be a pair (low, high) of numbers, with None for an open end, got "
            f"{bounds!r}: write bounds=(0, None) for outputs that are not negative."
        )
    found = OutputBounds(*pair)
    return None if found.is_open else found


def _is_end(value: Any) -> bool:
    return is_number(value) and not isinstance(value, bool | np.bool_) and not np.isnan(value)


def number_bounds(
    bounds: Any, training: Rows | Blocks, validation: Rows | None
) -> OutputBounds | None:
    """Return the bounds of a regression; raise an error for outputs outside them.

    Parameters
    ----------
    bounds : (low, high), "seen" or None
        One pair, which holds for all outputs; "seen" for the smallest and the largest value of each
        output in the training rows.
    training : Rows or Blocks
        Before rows are held out.
    validation : Rows or None
    """
    if isinstance(bounds, str):
        return OutputBounds(*_range(training))
    found = check_bounds(bounds)
    if found is not None:
        for name, data in (("y", training), ("y_val", validation)):
            if data is not None:
                _check_inside(found, _range(data), name)
    return found


def _range(data: Rows | Blocks) -> tuple[Float64, Float64]:
    """Return the smallest and the largest value of each output in rows with a positive weight."""
    if not isinstance(data, Rows):
        low, high = data.survey().output_range
        return low, high
    Y = data.Y if data.weights is None else data.Y[data.weights > 0]
    return Y.min(axis=0, initial=np.inf), Y.max(axis=0, initial=-np.inf)


def _check_inside(bounds: OutputBounds, seen: tuple[Float64, Float64], name: str) -> None:
    low, high = bounds.pairs()[0]
    least, most = float(seen[0].min()), float(seen[1].max())
    beyond = least if low is not None and least < low else most
    if (low is None or least >= low) and (high is None or most <= high):
        return
    wider = (
        None if low is None else min(low, least),
        None if high is None else max(high, most),
    )
    raise ValueError(
        f"`{name}` must lie within `bounds`, {bounds.sentence()}, got {beyond!r}: remove such "
        f"rows, or write bounds={wider!r}."
    )
