"""How networks for least squares are grown and corrected."""

from dataclasses import dataclass

from greedynet.correction.all_rows.inner_weights import N_TRIES
from greedynet.correction.variable_projection import MAX_BLOCK
from greedynet.fitting.settings.pruning import PruningSettings


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
