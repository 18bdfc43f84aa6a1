"""What networks minimise: squared errors, another loss, or the log-loss of classes."""

from greedynet.fitting.objective import Objective
from greedynet.fitting.objectives.as_grown import AsGrown, ClassesAsGrown
from greedynet.fitting.objectives.log_loss import LogLoss
from greedynet.fitting.objectives.reweighted import Reweighted
from greedynet.fitting.objectives.squares import LeastSquares
from greedynet.fitting.plan import Plan
from greedynet.losses import is_squared

__all__ = ["AsGrown", "ClassesAsGrown", "LeastSquares", "LogLoss", "Reweighted", "objective_of"]


def objective_of(plan: Plan, *, classes: bool = False) -> Objective:
    """Return the objective of a plan."""
    if classes:
        return LogLoss() if plan.correct else ClassesAsGrown()
    if not plan.correct:
        return AsGrown()
    return LeastSquares() if is_squared(plan.loss) else Reweighted()
