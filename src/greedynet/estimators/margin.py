"""The parameter `margin`: how far predictions may lie beyond the outputs that were seen."""

from typing import Any

import numpy as np

from greedynet.estimators.shapes import is_asked_for
from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64


def margin_of(model: Any, training: Rows | Blocks) -> OutputBounds | None:
    """Return the ends of the margin of each output, `min - m (max - min)` to `max + m (max - min)`.

    None without a margin. Raises an error for parameters with which neurons cannot be corrected.

    Parameters
    ----------
    model : GreedyNetRegressor
    training : Rows or Blocks
        Before rows are held out.
    """
    if model.margin is None:
        return None
    for name, value, is_used, instead in (
        ("correct", model.correct, not model.correct, "correct=True"),
        ("search", model.search, model.search == "dictionary", 'search="continuous"'),
        ("refine", model.refine, model.refine is not None, "refine=None"),
        (
            "monotonic_cst",
            model.monotonic_cst,
            is_asked_for(model.monotonic_cst),
            "monotonic_cst=None",
        ),
        ("convex", model.convex, is_asked_for(model.convex), "convex=None"),
    ):
        if is_used:
            raise ValueError(
                f"`margin` corrects the neurons of the network, got margin={model.margin} with "
                f"{name}={value!r}: write {instead}, or margin=None; bounds=(low, high) only "
                "limits the predictions."
            )
    low, high = seen_outputs(training)
    with np.errstate(over="ignore"):
        room = float(model.margin) * (high - low)
        margin = OutputBounds(low - room, high + room)
    return None if margin.is_open else margin


def seen_outputs(training: Rows | Blocks) -> tuple[Float64, Float64]:
    """Return the smallest and the largest value of each output, in rows of positive weight."""
    if not isinstance(training, Rows):
        low, high = training.survey().output_range
        return low, high
    Y = training.Y if training.weights is None else training.Y[training.weights > 0]
    return Y.min(axis=0), Y.max(axis=0)


def bounds_of_both(bounds: OutputBounds | None, margin: OutputBounds | None) -> OutputBounds | None:
    """Return what is within the bounds that were asked for and within the margin."""
    if bounds is None or margin is None:
        return margin if bounds is None else bounds
    return OutputBounds(np.maximum(bounds.low, margin.low), np.minimum(bounds.high, margin.high))
