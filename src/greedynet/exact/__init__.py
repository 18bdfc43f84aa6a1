"""Exact answers about a fitted network, and how far it is from the best one.

`optimise`, `extremes`, `is_monotone`, `largest_difference` and `sensitivity` answer questions about
*all* rows of a region, not about a sample of them: a piecewise linear network is a mixed-integer
linear programme, which HiGHS, a part of SciPy, solves. `certificate` bounds how much better any
other network could fit the training rows at the same ridge. May import `support`, `activations`,
`rows`, `model` and `tables`.
"""

from greedynet.exact.answers import Change, Difference, Extremes, Monotone, Optimum
from greedynet.exact.certify import Certificate, certificate
from greedynet.exact.changes import is_monotone, sensitivity
from greedynet.exact.questions import extremes, largest_difference, optimise

__all__ = [
    "Certificate",
    "Change",
    "Difference",
    "Extremes",
    "Monotone",
    "Optimum",
    "certificate",
    "extremes",
    "is_monotone",
    "largest_difference",
    "optimise",
    "sensitivity",
]
