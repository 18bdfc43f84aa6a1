"""Settings of an estimator that are no parameters: constants with defaults, which tests inject."""

from dataclasses import dataclass

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.fitting.settings import FitSettings
from greedynet.rows.rows import CANONICAL_ROWS


@dataclass(frozen=True)
class EstimatorSettings:
    """All settings of an estimator.

    Attributes
    ----------
    fit : FitSettings
    checkpoint : CheckpointSettings
    merged_up_to : int
        Rows up to which equal ones are merged and all are sorted.
    held_out : float
        Share of more rows than that which is held out to choose the width of a regression.
    """

    fit: FitSettings = FitSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    merged_up_to: int = CANONICAL_ROWS
    held_out: float = 0.1
