"""Exact answers about a fitted network.

`optimise`, `extremes`, `is_monotone`, `largest_difference` and `sensitivity` answer questions about
*all* rows of a region, not about a sample of them: a piecewise linear network is a mixed-integer
linear programme, which HiGHS, a part of SciPy, solves. May import `support`, `activations`, `rows`,
`model` and `tables`.
"""

from greedynet.exact.answers import Change, Difference, Extremes, Monotone, Optimum
from greedynet.exact.changes import is_monotone, sensitivity
from greedynet.exact.questions import extremes, largest_difference, optimise

__all__ = [
    "Change",
    "Difference",
    "Extremes",
    "Monotone",
    "Optimum",
    "extremes",
    "is_monotone",
    "largest_difference",
    "optimise",
    "sensitivity",
]
