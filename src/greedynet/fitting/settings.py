"""Settings: the constants of a fit that decide something for a user, each with how it fails.

They are not parameters of the estimators: users need not know them. Tests inject other values.
Tuned on even seeds of `benchmarks/judgement.py`, judged on odd ones.
"""

from dataclasses import dataclass, field

import numpy as np

from greedynet.correction.variable_projection import MAX_BLOCK
from greedynet.rows.blocks import BlockSizes
from greedynet.rows.rows import CANONICAL_ROWS
from greedynet.rows.sampling import SamplingSettings
from greedynet.rows.splitting import FoldSettings


@dataclass(frozen=True)
class LadderSettings:
    """Which candidates are tried, and which of them is chosen."""

    # From each number of rows, how many folds are used, of which each holds out a fifth of the
    # rows: repeats where rows are few, since single folds are a lottery there; one where rows are
    # many. It fails where a few rows decide: their fold may not be among those used.
    used: tuple[tuple[int, int], ...] = ((0, 12), (60, 8), (200, 5), (400, 3), (1000, 2), (2000, 1))
    # With fewer rows, only the constant and the line are compared: no network can be
    # distinguished from noise.
    min_rows: int = 10
    # Factor between successive widths. The best width may lie between two of them.
    growth: float = 1.5
    # Number of wider networks without a better score after which no wider ones are tried; twice as
    # many for losses that single out rows. A target that only many neurons can begin to fit is
    # missed.
    patience: int = 3
    # Networks are tried in any case up to the first number of neurons; and, as long as none is
    # better than a line, up to so many inner weights, at most up to the second number of neurons,
    # if the rows support them: a wave in several columns needs many before any of them helps. A
    # faster one needs more, and is missed.
    min_widths: tuple[int, int] = (4, 50)
    min_weights: int = 250
    # A wider network must lower the squared error by this factor to count as better.
    clearly_better: float = 0.99
    # A smaller network wins within this factor of the smallest squared error.
    as_good: float = 0.998
    # The constant or the line, which vary less with the rows, win within this number of standard
    # errors of the best network. A weak effect on few rows is taken for noise.
    near_tie: float = 0.5
    # With fewer rows per input, the affine term of a network is a line with a ridge. A classifier
    # has one neuron for so many rows at most.
    rows_per_input: float = 4.0
    # Averages are tried with so many training rows at least, and at most: with more, a single
    # network varies little. They fail to be tried where many rows are very noisy.
    rows_averaged: tuple[int, int] = (50, 2_000)
    # Number of networks of an average; the second one where the nodes allow the first only networks
    # of less than half the best width. More would vary less, and take longer.
    n_averaged: tuple[int, int] = (4, 2)
    # Averages are tried of so many widths: the chosen one, and wider ones while these help.
    widths_averaged: int = 3
    # Number of inner weights from which folds are computed in parallel.
    parallel_from: int = 150

    def min_width(self, n_inputs: int, best_width: int) -> int:
        """Return the number of neurons up to which networks are tried in any case."""
        least, most = self.min_widths
        if best_width:
            return least
        return min(most, max(least, self.min_weights // (n_inputs + 1)))

    def n_folds_of(self, n_rows: int) -> int:
        """Return the number of folds to use."""
        return min(n for least, n in self.used if n_rows >= least)


@dataclass(frozen=True)
class CorrectionSettings:
    """How the neurons of a regression are corrected jointly."""

    # Maximum number of steps after each width. A narrow valley takes more.
    steps: int = 12
    # Maximum number of exchanges of neurons; another one follows only one that was worth it, as
    # where there is little noise.
    n_exchanges: int = 8
    # Maximum number of inner weights that are corrected in one system; more in turn, in blocks.
    max_block: int = MAX_BLOCK
    # Maximum number of steps of the final correction where the growth has seen a sample.
    n_tries_on_all_rows: int = 12
    # For robust losses, a row is an outlier beyond this number of robust standard deviations,
    # unless more than this share of the rows are: then they are a second population, and decide
    # about neurons like other rows.
    outlier: float = 10.0
    max_outliers: float = 0.2


@dataclass(frozen=True)
class DepthSettings:
    """How a first layer of ramps is chosen, and when two layers are kept."""

    # Share of the nodes that the hinges of the first layer may take.
    share: float = 0.5
    # Maximum number of ramps of a column. A column with more bends is fitted by neurons.
    most_ramps: int = 8
    # With more inputs or fewer rows, no second layer is tried unless it is asked for: folds could
    # not decide.
    max_inputs: int = 30
    min_rows: int = 50
    # Two layers may take this many times the work of one. They are missed where only wide ones are
    # better.
    times_work: float = 0.5
    # Two layers win if their expected error is below this fraction of that of one, and if
    # log-losses of the same rows are lower by a standard error: a few rows of an unlikely class
    # decide them.
    clearly_better: float = 0.99


@dataclass(frozen=True)
class LogisticSettings:
    """How ridge and width of a classifier are chosen."""

    # Candidates for networks, in ascending order; they grow with the third.
    ridges: tuple[float, ...] = tuple(np.geomspace(1e-4, 3e-2, 6).tolist())
    # Candidates for the logistic regression, in descending order.
    line_ridges: tuple[float, ...] = tuple(np.geomspace(10.0, 1e-5, 13).tolist())
    # Number of successive ridges that are not better after which no further one is tried.
    patience: int = 2
    # Number of neurons of the first stage. Other stages are wider by the factor `growth` of the
    # ladder, and narrower by it where a network is pruned.
    first_stage: int = 8
    # Steps of L-BFGS on a fold, and on all rows.
    fold_steps: int = 50
    final_steps: int = 200
    folds: FoldSettings = FoldSettings(max_repeats=3)


@dataclass(frozen=True)
class FitSettings:
    """All settings of a fit."""

    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    blocks: BlockSizes = field(default_factory=BlockSizes)
    ladder: LadderSettings = LadderSettings()
    correction: CorrectionSettings = CorrectionSettings()
    depth: DepthSettings = DepthSettings()
    logistic: LogisticSettings = LogisticSettings()
    # Up to so many rows, equal rows are merged, all are sorted, and folds are taken of all; of
    # more, one part is held out, and networks grow on a sample.
    merged_up_to: int = CANONICAL_ROWS
