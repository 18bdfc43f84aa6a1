"""Settings: the internal constants of a fit, as values with defaults.

They are not parameters of the estimators: users need not know them. Tests inject other values.
"""

from dataclasses import dataclass

from greedynet.correction.corners import TamingSettings
from greedynet.fitting.settings.ladder import DepthSettings, LadderSettings
from greedynet.fitting.settings.least_squares import LeastSquaresSettings
from greedynet.fitting.settings.losses import LogisticSettings, ReweightingSettings
from greedynet.fitting.settings.pruning import PruningSettings
from greedynet.rows.blocks import BlockSizes
from greedynet.rows.sampling import SamplingSettings

__all__ = [
    "DepthSettings",
    "FitSettings",
    "LadderSettings",
    "LeastSquaresSettings",
    "LogisticSettings",
    "PruningSettings",
    "ReweightingSettings",
    "TamingSettings",
]


@dataclass(frozen=True)
class FitSettings:
    """All settings of a fit.

    Attributes
    ----------
    sampling : SamplingSettings
    blocks : BlockSizes
    least_squares : LeastSquaresSettings
    ladder : LadderSettings
    depth : DepthSettings
    reweighting : ReweightingSettings
    logistic : LogisticSettings
    taming : TamingSettings
    min_rows_gcv : int
        Generalised cross-validation requires more rows than this.
    min_rows_parallel : int
        With fewer rows, threads lose more to the global interpreter lock than they gain.
    """

    sampling: SamplingSettings = SamplingSettings()
    blocks: BlockSizes = BlockSizes()
    least_squares: LeastSquaresSettings = LeastSquaresSettings()
    ladder: LadderSettings = LadderSettings()
    depth: DepthSettings = DepthSettings()
    reweighting: ReweightingSettings = ReweightingSettings()
    logistic: LogisticSettings = LogisticSettings()
    taming: TamingSettings = TamingSettings()
    min_rows_gcv: int = 3
    min_rows_parallel: int = 2_000
