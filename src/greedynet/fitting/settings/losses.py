"""How networks for other losses and for classes are corrected and chosen."""

from dataclasses import dataclass

import numpy as np

from greedynet.fitting.settings.pruning import PruningSettings
from greedynet.rows.splitting import FoldSettings


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
