"""The bounds on the predictions of a network, in words."""

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
