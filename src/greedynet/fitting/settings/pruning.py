"""How neurons are removed."""

from dataclasses import dataclass


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
