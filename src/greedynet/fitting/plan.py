"""`Plan`: how to construct a network, as plain values."""

from dataclasses import dataclass, field
from typing import Literal

from greedynet.activations import Activation, ReLU
from greedynet.fitting.stopping import Limits
from greedynet.losses import Loss, Squared
from greedynet.search.atoms import MEMORY_BUDGET
from greedynet.search.base import Rule
from greedynet.support.types import Float64

SearchName = Literal["continuous", "dictionary"]


@dataclass(frozen=True, eq=False)
class Plan:
    """How to construct a network; the fields are the estimator's parameters of the same names."""

    limits: Limits
    search: SearchName = "continuous"
    correct: bool = True
    points: Float64 | None = None
    n_points: int | None = None
    rule: Rule = "ols"
    weakness: float = 1.0
    min_active: int | None = None
    reduction: float | None = None
    linear_term: bool = True
    alpha: float | None = None
    gcv: bool = False
    activation: Activation = field(default_factory=ReLU)
    loss: Loss = field(default_factory=Squared)
    memory_budget: int = MEMORY_BUDGET
    random_state: int = 0
    single_output: bool = True

    @property
    def reweighted(self) -> bool:
        """Whether another loss than the squared one is to be finished by reweighting."""
        return self.correct and self.loss != Squared()

    @property
    def ridge(self) -> float:
        """Ridge on the outer weights of the normalised neurons while the network grows."""
        return self.alpha or 0.0
