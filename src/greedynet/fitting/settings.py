"""Settings: the internal constants of a fit, as values with defaults.

They are not parameters of the estimators: users need not know them. Tests inject other values.
"""

from dataclasses import dataclass

import numpy as np

from greedynet.correction.all_rows.inner_weights import N_TRIES
from greedynet.correction.variable_projection import MAX_BLOCK
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
    max_block : int
        Maximum number of inner weights that are corrected in one system; more in turn, in blocks.
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
    max_block: int = MAX_BLOCK
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
class LadderSettings:
    """How candidates, from the mean to wide networks, are computed and compared.

    Attributes
    ----------
    n_folds : int
        Number of folds: each holds out one row in this many.
    used : tuple of pairs
        From each number of rows, how many folds are used: repeats where rows are few, since single
        folds are a lottery there; some of the folds where rows are many, since more add little.
    max_tried : int
        Maximum number of folds for whole constructions, which tell the expected error where the
        width is requested, or for another loss.
    min_rows : int
        With fewer rows, nothing can be held out.
    growth : float
        Factor between the widths of successive stages.
    steps : int
        Maximum number of correction steps after each stage, and after pruning.
    enough : float
        No more steps are taken after one that lowers the objective by less than this fraction.
    patience : int
        Number of wider networks without a better score after which no wider ones are tried.
    min_width : int
        Number of neurons up to which networks are tried in any case: a wave needs several.
    clearly_better : float
        A wider network must lower the mean squared error by this factor.
    as_good : float
        A smaller network wins within this factor of the smallest mean squared error.
    as_good_average : float
        A single network wins against an average within this factor.
    four_within : float
        An average of four networks wins against one of two within this factor of its mean squared
        error: held-out rows tell their difference badly, and no average varies more with more.
    near_tie : float
        The mean or the line wins within this number of standard errors of the best network.
    far : float
        Rows lie far from the others beyond this number of robust deviations in some column.
    level_within : float
        Then a candidate that levels off outside the rows wins within this factor of the mean
        squared error.
    rows_per_input : float
        With fewer rows per input, the affine term of a network is a line with a ridge.
    parallel_from : int
        Number of inner weights from which folds are computed in parallel.
    max_started : int
        With at most so many folds, the network of all rows starts from the neurons of the first
        one; with more, growing it again costs little beside them.
    min_rows_averaged : int
        With fewer rows, no averages are tried.
    n_averaged : int
        Averages are tried of the chosen width, and of so many in all up to it.
    max_work : float
        No wider networks are tried if one step of the corrections of all widths takes more
        multiplications.
    least_shown, most_shown : int
        Number of neurons of the plain growth that the path shows: it is not the network that was
        chosen, and would cost as much.
    """

    n_folds: int = 5
    used: tuple[tuple[int, int], ...] = ((0, 12), (60, 8), (200, 5), (400, 3), (1000, 2), (2000, 1))
    max_tried: int = 3
    min_rows: int = 10
    growth: float = 1.5
    steps: int = 12
    enough: float = 0.02
    patience: int = 3
    min_width: int = 4
    clearly_better: float = 0.99
    as_good: float = 0.998
    as_good_average: float = 0.98
    four_within: float = 1.05
    near_tie: float = 0.5
    far: float = 12.0
    level_within: float = 1.2
    rows_per_input: float = 4.0
    parallel_from: int = 150
    max_started: int = 2
    min_rows_averaged: int = 50
    n_averaged: int = 3
    max_work: float = np.inf
    least_shown: int = 6
    most_shown: int = 32

    def n_folds_of(self, n_rows: int) -> int:
        """Return the number of folds to use."""
        return min(n for least, n in self.used if n_rows >= least)


@dataclass(frozen=True)
class DepthSettings:
    """How a first layer is chosen, and when it is kept.

    Attributes
    ----------
    share : float
        Share of the nodes that the hinges of the first layer may take.
    most_ramps : int
        Maximum number of ramps of a column.
    max_inputs : int
        With more inputs, no second layer is tried unless it is asked for.
    min_rows : int
        Nor with fewer rows: folds could not tell.
    least_work, times_work : float
        They may take this many times the work of one layer, and so many multiplications in any
        case; see `LadderSettings.max_work`.
    times_weights : float
        For classes, they may have this many times the inner weights of the widest network of one.
    max_block : int
        See `LeastSquaresSettings`: neurons over ramps have many weights, and smaller systems are
        solved faster.
    clearly_better : float
        Two layers win if their expected error is below this fraction of that of one.
    standard_errors : float
        And if log-losses of the same held-out rows are lower by this many standard errors: they
        vary more than squared errors, since a few rows of an unlikely class decide them.
    """

    share: float = 0.5
    most_ramps: int = 8
    max_inputs: int = 30
    min_rows: int = 50
    least_work: float = 4e8
    times_work: float = 0.5
    times_weights: float = 1.5
    max_block: int = 200
    clearly_better: float = 0.99
    standard_errors: float = 1.0


@dataclass(frozen=True)
class ReweightingSettings:
    """How a network is corrected for another loss, by reweighted least squares.

    Attributes
    ----------
    max_grown : int
        Maximum number of neurons of the growth that determines the row weights.
    n_constructions : int
        Number of constructions for weighted rows, each with the weights of the previous one.
    clearly_better : float
        An earlier construction is kept if its loss on validation rows is below this fraction of
        that of the last.
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
    max_outliers : float
        With a larger fraction of the rows beyond it, they are no outliers of a growth in stages.
    n_rounds_a_stage : int
        Number of reweighting rounds after each stage of a growth in stages.
    last_floor : float
        Residuals below the median are raised to it in the first of these rounds, and to this
        fraction of it in the last: rows that happen to be met would not move again.
    """

    max_grown: int = 40
    n_constructions: int = 3
    clearly_better: float = 0.5
    n_rounds: int = 12
    steps_a_round: int = 2
    max_parameters: float = 0.5
    max_spent: float = 0.4
    n_widths_tried: int = 16
    outlier: float = 10.0
    max_outliers: float = 0.2
    n_rounds_a_stage: int = 5
    last_floor: float = 0.2


@dataclass(frozen=True)
class LogisticSettings:
    """How ridge and width of a classifier are chosen.

    Attributes
    ----------
    ridges : tuple of float
        Candidates for networks, in ascending order.
    line_ridges : tuple of float
        Candidates for the logistic regression, in descending order.
    line_steps, line_patience : int
        Steps of L-BFGS of a logistic regression, and the number of successive ridges that are not
        better after which no smaller one is tried.
    n_first_folds : int
        On this many folds all ridges are tried; on the others only those near the best.
    clearly_worse : float
        No ridge farther from the first is tried after one with a loss above this multiple of the
        smallest, or after two that are not better.
    hopeless : float
        Networks that are worse on the first folds than something simpler, by this many standard
        errors, are not tried on the others.
    near_tie : float
        A simpler candidate is kept if it is worse by at most this many standard errors.
    n_blends : int
        Number of steps of the weights with which logits are blended.
    rows_per_neuron, least_grown : int
        A network that chooses its width is grown to one neuron for so many rows, but at least to
        `least_grown`.
    max_weights : float
        Nor is it grown to more inner weights than these, unless `least_grown` neurons have more.
    first_stage, stage_growth, stage_steps, stage_ridge
        Number of neurons of the first stage, the factor between the widths of successive stages
        after that, and the steps of L-BFGS and the ridge of the correction before each.
    most_shown : int
        Number of neurons up to which the path of a network that grows in stages shows a plain
        growth.
    least_judged : int
        With fewer rows, folds are no evidence.
    most_smaller : int
        Maximum number of additional smaller candidates, for very rare classes.
    fold_steps, final_steps : int
        Steps of L-BFGS on a fold, and on all rows.
    further_steps : int
        Steps on all rows from the network of a fold, if that has seen most of them: with many more
        than on folds, the ridge that was best there would be too small.
    fold_enough, final_enough : float
        They end earlier where a few of them together lower the objective by less than this
        fraction.
    parallel_from : int
        Number of inputs of all rows of a fold from which folds are computed in parallel.
    negligible : float
        Neurons below this fraction of the largest are removed at once.
    folds : FoldSettings
    pruning : PruningSettings
    """

    ridges: tuple[float, ...] = tuple(np.geomspace(1e-4, 3e-2, 6).tolist())
    line_ridges: tuple[float, ...] = tuple(np.geomspace(10.0, 1e-5, 13).tolist())
    line_steps: int = 100
    line_patience: int = 3
    n_first_folds: int = 2
    clearly_worse: float = 1.01
    hopeless: float = 1.0
    near_tie: float = 0.5
    n_blends: int = 10
    rows_per_neuron: int = 4
    least_grown: int = 10
    max_weights: float = np.inf
    first_stage: int = 8
    stage_growth: float = 1.5
    stage_steps: int = 10
    stage_ridge: float = 1e-3
    most_shown: int = 8
    least_judged: int = 10
    most_smaller: int = 6
    fold_steps: int = 50
    final_steps: int = 200
    further_steps: int = 50
    fold_enough: float = 1e-3
    final_enough: float = 1e-4
    parallel_from: int = 2**15
    negligible: float = 1e-3
    folds: FoldSettings = FoldSettings(max_repeats=3)
    pruning: PruningSettings = PruningSettings(as_good=1.003, patience=1)


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
    min_rows_gcv: int = 3
    min_rows_parallel: int = 2_000
