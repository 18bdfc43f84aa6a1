"""What a network does with values beyond its inputs and outputs, in words."""

import numpy as np

from greedynet.losses.logistic import probabilities
from greedynet.report.subject import Subject
from greedynet.support.phrases import percent


def bounds_sentence(subject: Subject) -> str:
    """Return what no prediction leaves; or an empty text."""
    bounds = subject.network.bounds
    if bounds is None:
        return ""
    what, more = "No prediction leaves its bounds", ""
    if subject.classes is not None:
        ends = np.array([bounds.low[0], bounds.high[0]])
        low, high = probabilities(ends[:, None])[:, 1].tolist()
        what = f"The log-odds of {subject.classes[1]} never leave their bounds"
        more = f", which are probabilities from {percent(low)} to {percent(high)}"
    return f"{what}, {bounds.sentence()}{more}, also far from the training rows."


def box_sentence(subject: Subject) -> str:
    """Return what inputs beyond the training rows count as; or an empty text."""
    network = subject.network
    if network.is_constant:
        return ""
    if network.box is None:
        return "Values are not clipped: beyond all training rows, predictions go on as they end."
    if network.reach > 0:
        return (
            "A value beyond all training rows is clipped where it lies farther out than "
            f"{network.reach:.0%} of their range, in every column: held-out rows outside the "
            "data's box were clearly better predicted that way."
        )
    return (
        "A value beyond all training rows counts as the nearest one among them, in every column: "
        "outside the data's box, predictions are those at its edge."
    )
