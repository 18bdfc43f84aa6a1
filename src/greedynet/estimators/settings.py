"""Settings of the estimators that are not parameters; tests inject other values."""

from dataclasses import dataclass

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.fitting.settings import FitSettings
from greedynet.model.uncertainty.intervals import IntervalSettings
from greedynet.rows.rows import CANONICAL_ROWS
from greedynet.support.scope import Scope


@dataclass(frozen=True)
class EstimatorSettings:
    """All settings of an estimator.

    Attributes
    ----------
    fit : FitSettings
    checkpoint : CheckpointSettings
    intervals : IntervalSettings
    merged_up_to : int
        Maximum number of rows for which equal rows are merged and all are sorted.
    held_out : float
        Share of more rows than that which is held out to choose the width of a regression.
    check_every : float
        Seconds between checks of a fit on a cluster whether a worker that does not answer is still
        alive.
    """

    fit: FitSettings = FitSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    intervals: IntervalSettings = IntervalSettings()
    merged_up_to: int = CANONICAL_ROWS
    held_out: float = 0.1
    check_every: float = 1.0


ESTIMATOR_SETTINGS = Scope("greedynet_settings", EstimatorSettings())
# Fits that begin in a block with it, and in its thread, have other settings.
settings_context = ESTIMATOR_SETTINGS.use
