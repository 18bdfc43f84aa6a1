"""The algorithm on one page: from rows to a network that was chosen, and the error to expect.

    folds   = split(rows)                 rows to choose by
    found   = climb(folds)                the mean, a line, widths, averages, two layers: all scored
                                          alike, on rows that they have not seen
    network = refit(found.chosen)         on all rows, from the neurons of a fold

Steps GSN 1 to GSN 4 of the paper, and the extensions to it. The `Plan` contains the parameters, the
`Objective` defines what is minimised; `construct` is the same for least squares, other losses and
classification, in memory, from files and on clusters.
"""

from greedynet.fitting.climb import OnStep, climb
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.refit import Fitted, refit, without_folds
from greedynet.fitting.split import split
from greedynet.support.context import FitContext


def construct(
    data: TrainingData,
    plan: Plan,
    objective: Objective,
    *,
    context: FitContext | None = None,
    on_step: OnStep | None = None,
) -> Fitted:
    """Return the network that was chosen, the path of its growth, and all candidates with errors.

    The context has threads, checkpoint, progress and time. After each candidate, `on_step` is
    called with a function that returns the network so far, its training error and its number of
    nodes; the climb ends if it returns True.
    """
    context = context or FitContext()
    folds = split(data, plan, context, classes=objective.classes)
    if not folds.splits:
        return without_folds(folds, plan, objective, context)
    found = climb(folds, plan, objective, context, on_step)
    return refit(folds, found, objective, context)
