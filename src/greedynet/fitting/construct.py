"""The algorithm on one page: from rows to a network that was chosen, and the error to expect.

    folds   = split(rows)                 rows to choose by
    climb   = climb(folds)                the mean, a line, widths, averages, two layers: all scored
                                          alike, on rows that they have not seen
    network = refit(rows, choice)         on all rows, from the neurons of a fold

Steps GSN 1 to GSN 4 of the paper, and the extensions to it. The `Plan` contains the parameters, the
`Objective` defines what is minimised; `construct` is the same for least squares, other losses and
classification, in memory, from files and on clusters.
"""

from greedynet.fitting.as_grown import AsGrown, ClassesAsGrown
from greedynet.fitting.climb import OnStep, climb
from greedynet.fitting.forms import forms_of
from greedynet.fitting.log_loss import LogLoss
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.refit import Fitted, refit, without_folds
from greedynet.fitting.reweighted import Reweighted
from greedynet.fitting.split import check_same_rows, split
from greedynet.fitting.squares import LeastSquares
from greedynet.losses import is_squared
from greedynet.support.context import FOR_CHOICE, FitContext

# With so many times the rows of a sample, more neurons are supported than the sample supports.
MANY_MORE = 4


def construct(
    data: TrainingData,
    plan: Plan,
    objective: Objective,
    *,
    context: FitContext | None = None,
    on_step: OnStep | None = None,
) -> Fitted:
    """Construct a network from rows.

    Parameters
    ----------
    data : TrainingData
        Training rows, and by which rows or folds the network is chosen.
    plan : Plan
        Parameters of the construction.
    objective : Objective
        What to minimise.
    context : FitContext or None
        Threads, checkpoint, progress, time.
    on_step : callable or None
        Called after each candidate with a function that returns the network so far, its training
        error and its number of nodes; the growth ends if it returns True.

    Returns
    -------
    fitted : Fitted
        The network that was chosen, the path of its growth, and all candidates with their errors.
    """
    context = context or FitContext()
    folds = split(data, plan, context, classes=objective.classes)
    check_same_rows(folds, context)
    if not folds.splits:
        return without_folds(folds, plan, objective, context)
    forms = forms_of(folds, plan)
    found = climb(folds, plan, objective, forms, context.until(FOR_CHOICE), on_step)
    chosen = found.scores.best(plan.choice)
    # Rows that are reproduced deserve all their digits: on rounded ones, scores measure rounding.
    if plan.rounds and found.scores.is_exact(chosen):
        plan = plan.exactly()
        found = climb(folds, plan, objective, forms, context.until(FOR_CHOICE))
        chosen = found.scores.best(plan.choice)
    if plan.choice == "best" and folds.n_all >= MANY_MORE * len(folds.rows):
        chosen = found.scores.widened(chosen)
    return refit(folds, found, chosen, plan, objective, context)


def objective_of(plan: Plan, *, classes: bool = False) -> Objective:
    """Return what networks minimise: squares, another loss or the log-loss; corrected or not."""
    if classes:
        return LogLoss() if plan.correct else ClassesAsGrown()
    if not plan.correct:
        return AsGrown()
    return LeastSquares() if is_squared(plan.loss) else Reweighted()
