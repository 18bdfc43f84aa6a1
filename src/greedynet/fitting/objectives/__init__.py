"""The objectives: least squares, other losses by reweighting, and log-loss."""

from greedynet.fitting.objective import Objective
from greedynet.fitting.objectives.least_squares import LeastSquares
from greedynet.fitting.objectives.logistic import LogLoss
from greedynet.fitting.objectives.reweighted import Reweighted
from greedynet.losses import Loss, Squared

__all__ = ["LeastSquares", "LogLoss", "Objective", "Reweighted", "objective_of"]


def objective_of(loss: Loss) -> Objective:
    """Return the objective of a regression."""
    return LeastSquares() if loss == Squared() else Reweighted(loss)
