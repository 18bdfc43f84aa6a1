"""How candidates are compared, of one hidden layer and of two."""

from dataclasses import dataclass

import numpy as np


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
