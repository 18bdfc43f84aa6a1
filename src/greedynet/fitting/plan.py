"""`Plan`: how to construct a network, as plain values; `TrainingData`: the data for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from greedynet.activations import Activation, ReLU
from greedynet.fitting.limits import Limits
from greedynet.fitting.settings import FitSettings
from greedynet.losses import Loss, Squared
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import ShallowNetwork
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import Sampling
from greedynet.rows.shape import Shape
from greedynet.rows.splitting import Split
from greedynet.search.atoms import MEMORY_BUDGET
from greedynet.search.base import Rule, SearchFactory
from greedynet.support.types import Float64

# See `make_search.SEARCHES`.
SearchName = str


@dataclass(frozen=True, eq=False)
class Plan:
    """How to construct a network; the fields are the estimator's parameters of the same names.

    None for `n_networks` compares averages with single networks; `shape` is that of
    `monotonic_cst` and `convex`, along the inputs in their original units. Three are no parameters:
    `rounded`, whether scaled rows are rounded, see `Coordinates.apply`; `n_columns`, how many of
    the inputs are columns if the others are ramps of a first layer; and `start`, a network in
    original units whose neurons come first.
    """

    limits: Limits
    search: SearchName | SearchFactory = "continuous"
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
    n_networks: int | None = None
    single_output: bool = True
    settings: FitSettings = field(default_factory=FitSettings)
    rounded: bool = True
    n_columns: int | None = None
    start: ShallowNetwork | None = None
    shape: Shape | None = None
    bounds: OutputBounds | None = None

    @property
    def rounds(self) -> bool:
        """Whether scaled rows are rounded: never with a dictionary."""
        return self.rounded and self.search != "dictionary"

    @property
    def ridge(self) -> float:
        """Ridge on the outer weights of the normalised neurons during the growth."""
        return self.alpha or 0.0

    def from_nothing(self) -> "Plan":
        """Return the same plan for rows that the network to go on from may have seen.

        That network has no neurons then: all are grown.
        """
        if self.start is None:
            return self
        none = self.start.without_neurons()
        return replace(self, start=none)

    def sampling(self, rows: Rows | Blocks, held_out: float = 0.0) -> Sampling | None:
        """Return how rows are sampled, given the fraction to be held out; None for no sampling."""
        return Sampling.of(rows, self.limits.max_neurons, self.settings.sampling, held_out)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data from which a network is constructed.

    Attributes
    ----------
    rows : Rows or Blocks
        Training rows, in canonical form; in blocks if they do not fit into memory.
    validation : Rows or None
        Rows by which the width is chosen.
    sampling : Sampling or None
        How the training rows are sampled, for large data.
    folds : sequence of pairs of Rows, or None
        Training and held-out rows by which a classifier chooses; None for folds of its own.
    """

    rows: Rows | Blocks
    validation: Rows | None = None
    sampling: Sampling | None = None
    folds: Sequence[Split] | None = None
