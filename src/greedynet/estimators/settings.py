"""Settings of the estimators that are not parameters; tests inject other values."""

from dataclasses import dataclass

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.fitting.settings import FitSettings
from greedynet.model.uncertainty.intervals import IntervalSettings
from greedynet.support.context import Scope


@dataclass(frozen=True)
class EstimatorSettings:
    """All settings of an estimator."""

    fit: FitSettings = FitSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    intervals: IntervalSettings = IntervalSettings()
    # Bytes that a dense copy of a sparse `X` may take; a larger one is read in blocks.
    dense_bytes: float = 4 * 2**30
    # Seconds between checks whether a worker of a cluster that does not answer is still alive.
    check_every: float = 1.0


ESTIMATOR_SETTINGS = Scope("greedynet_settings", EstimatorSettings())
# Fits that begin in a block with it, and in its thread, have other settings.
settings_context = ESTIMATOR_SETTINGS.use
