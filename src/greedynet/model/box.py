"""The box: the range of the training rows, to which inputs are clipped.

A network of ReLUs continues as a straight line beyond its rows, and a cell that is mistyped lies
far beyond them. Where rows that were held out lie outside the box and are predicted clearly better
without a clip, as on a straight line, the box is widened: it *reaches* farther, up to no box at all
where heavy tails follow a line.
"""

import numpy as np

from greedynet.support.types import Float64

# The shares of the range of the training rows by which a box may reach beyond it.
REACHES = (0.0, 0.1, 1.0, np.inf)


def widened(input_range: Float64 | None, reach: float) -> Float64 | None:
    """Return the box that reaches beyond a range, `(2, n_features)`; None for an unlimited one."""
    if input_range is None or reach == np.inf:
        return None
    if reach == 0:
        return input_range
    low, high = input_range
    with np.errstate(over="ignore"):
        room = reach * (high - low)
        return np.clip([low - room, high + room], -np.finfo(float).max, np.finfo(float).max)
