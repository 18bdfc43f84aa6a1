"""Settings: the internal constants of a fit, as values with defaults.

They are not parameters of the estimators: users need not know them. Tests inject other values.
"""

from dataclasses import dataclass

import numpy as np

from greedynet.correction.all_rows.inner_weights import N_TRIES
from greedynet.rows.blocks import BlockSizes
from greedynet.rows.sampling import SamplingSettings
from greedynet.rows.splitting import FoldSettings


@dataclass(frozen=True)
class PruningSettings:
    """How neurons are removed, a fraction at a time.

    Attributes
    ----------
    kept_share : float
        Fraction of the neurons kept in each step.
    as_good : float
        A narrower network is accepted if its score is below this multiple of the best.
    patience : int
        Number of successive worse steps after which pruning stops.
    """

    kept_share: float = 2 / 3
    as_good: float = 1.0
    patience: int = 2


@dataclass(frozen=True)
class LeastSquaresSettings:
    """How a network for least squares is grown and corrected.

    Attributes
    ----------
    overgrowth : float
        Factor by which more neurons are grown than are kept.
    min_neurons_averaged, min_rows_averaged : int
        With fewer, the path is too short to distinguish noise from approximation error.
    still_falling, perhaps_falling : float
        Factors by which the last doubling of the neurons lowered the squared error. Above the first
        the residual is approximation error, and nothing is averaged: without noise, the factor is
        about `2^(1 + 2/d)`. Below the second it is noise, and nothing is exchanged.
    clearly_better : float
        Between the two, neurons are exchanged rather than networks averaged if that lowers the
        squared error, by the score, by this factor.
    steps, steps_after_pruning, steps_to_converge : int
        Numbers of correction steps.
    smooth_times : int
        Factor of the number of steps for smooth activations, whose objective has no kinks.
    converged_below : float
        Relative training error below which neurons are corrected to convergence.
    n_exchanges : int
        Maximum number of exchanges of neurons; each must lower the score by the factor
        `worth_exchange`.
    worth_exchange : float
    max_exchange_cost : float
        Number of multiplications per correction step beyond which neurons are not exchanged.
    min_rows_exchanged, rows_per_weight : int
        Rows on which neurons are exchanged: so many for each inner weight, and a minimum.
    n_tries_on_all_rows : int
        Maximum number of steps of the final correction on all rows.
    growth_clearly_better : float
        The network as grown is kept if its validation error is below this fraction of that of the
        finished network: near-ties go to the finished one, which varies less between samples. With
        many validation rows the fraction is nearer to 1.
    near_tie : float
        Relative difference of errors up to which the finished network is preferred in any case.
    max_parameters : float
        With more parameters than this fraction of the data, the training error of the network as
        grown says nothing.
    pruning : PruningSettings
    """

    overgrowth: float = 1.2
    min_neurons_averaged: int = 16
    min_rows_averaged: int = 50
    still_falling: float = 2.0
    perhaps_falling: float = 1.2
    clearly_better: float = 0.95
    steps: int = 5
    steps_after_pruning: int = 3
    steps_to_converge: int = 20
    smooth_times: int = 4
    converged_below: float = 1e-3
    n_exchanges: int = 8
    worth_exchange: float = 0.96
    max_exchange_cost: float = 3e9
    min_rows_exchanged: int = 2_048
    rows_per_weight: int = 8
    n_tries_on_all_rows: int = N_TRIES
    growth_clearly_better: float = 0.9
    near_tie: float = 0.03
    max_parameters: float = 0.5
    pruning: PruningSettings = PruningSettings()


@dataclass(frozen=True)
class ReweightingSettings:
    """How a network is corrected for another loss, by reweighted least squares.

    Attributes
    ----------
    max_grown : int
        Maximum number of neurons of the growth that determines the row weights.
    n_constructions : int
        Number of constructions for weighted rows, each with the weights of the previous one.
    n_rounds, steps_a_round : int
        Numbers of reweighting rounds, and of correction steps in each.
    max_parameters : float
        With more effective parameters than this fraction of the rows, residuals are not noise.
    max_spent : float
        With more degrees of freedom than this fraction of the rows, the residuals of a growth are
        not informative.
    n_widths_tried : int
        Number of widths among which a robust loss selects the smallest median residual.
    outlier : float
        Number of robust standard deviations beyond which a row is an outlier, for robust losses.
    """

    max_grown: int = 40
    n_constructions: int = 2
    n_rounds: int = 12
    steps_a_round: int = 2
    max_parameters: float = 0.5
    max_spent: float = 0.4
    n_widths_tried: int = 16
    outlier: float = 10.0


@dataclass(frozen=True)
class LogisticSettings:
    """How ridge and width of a classifier are chosen.

    Attributes
    ----------
    ridges : tuple of float
        Candidates, in ascending order.
    most_smaller : int
        Maximum number of additional smaller candidates, for very rare classes.
    fold_steps, final_steps : int
        Steps of L-BFGS on a fold, and on all rows.
    negligible : float
        Neurons below this fraction of the largest are removed at once.
    folds : FoldSettings
    pruning : PruningSettings
    """

    ridges: tuple[float, ...] = tuple(np.geomspace(1e-4, 3e-2, 6).tolist())
    most_smaller: int = 6
    fold_steps: int = 60
    final_steps: int = 300
    negligible: float = 1e-3
    folds: FoldSettings = FoldSettings()
    pruning: PruningSettings = PruningSettings(as_good=1.003, patience=1)


@dataclass(frozen=True)
class FitSettings:
    """All settings of a fit.

    Attributes
    ----------
    sampling : SamplingSettings
    blocks : BlockSizes
    least_squares : LeastSquaresSettings
    reweighting : ReweightingSettings
    logistic : LogisticSettings
    min_rows_gcv : int
        Generalised cross-validation requires more rows than this.
    min_rows_parallel : int
        With fewer rows, threads lose more to the global interpreter lock than they gain.
    """

    sampling: SamplingSettings = SamplingSettings()
    blocks: BlockSizes = BlockSizes()
    least_squares: LeastSquaresSettings = LeastSquaresSettings()
    reweighting: ReweightingSettings = ReweightingSettings()
    logistic: LogisticSettings = LogisticSettings()
    min_rows_gcv: int = 3
    min_rows_parallel: int = 2_000
