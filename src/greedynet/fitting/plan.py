"""`Plan`: how to construct a network, as plain values; `TrainingData`: the data for it."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from greedynet.activations import Activation, ReLU
from greedynet.fitting.settings import FitSettings
from greedynet.losses import Loss, Squared
from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import Sampling
from greedynet.rows.shape import Shape
from greedynet.search import Dictionary, SearchFactory
from greedynet.support.types import Float64

# See `make_search.SEARCHES`.
SearchName = str
HiddenLayers = Literal[1, 2, "auto"]
# The best candidate; the smallest within a standard error of it, or within a share; or the last.
Select = Literal["best", "1se", "last"] | float
# Below this the residual is rounding, irrespective of the tolerance.
ZERO_RESIDUAL = 1e-13


@dataclass(frozen=True)
class Limits:
    """When a growth ends: at `max_neurons`, or at a relative residual of `tol`.

    With `exact`, so many neurons were asked for.
    """

    max_neurons: int
    tol: float = 0.0
    exact: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """How to construct a network; the fields are the estimator's parameters of the same names.

    None for `n_networks` compares averages with single networks; `shape` is that of
    `monotonic_cst` and `convex`, along the inputs in their original units. One is no parameter:
    `rounded`, whether scaled rows are rounded, see `Coordinates.apply`.
    """

    limits: Limits
    select: Select = "best"
    hidden_layers: HiddenLayers = 1
    search: SearchName | Dictionary | SearchFactory = "continuous"
    correct: bool = True
    linear_term: bool = True
    alpha: float | None = None
    activation: Activation = field(default_factory=ReLU)
    loss: Loss = field(default_factory=Squared)
    random_state: int = 0
    n_networks: int | None = None
    single_output: bool = True
    extrapolate: bool = False
    settings: FitSettings = field(default_factory=FitSettings)
    rounded: bool = True
    shape: Shape | None = None
    bounds: OutputBounds | None = None

    @property
    def dictionary(self) -> Dictionary | None:
        """The dictionary of sampled points, if neurons are searched for in one."""
        if self.search == "dictionary":
            return Dictionary()
        return self.search if isinstance(self.search, Dictionary) else None

    @property
    def points(self) -> Float64 | None:
        """The points of the dictionary, if they are given."""
        given = None if self.dictionary is None else self.dictionary.points
        return None if given is None else np.asarray(given, dtype=np.float64)

    @property
    def rounds(self) -> bool:
        """Whether scaled rows are rounded: never with a dictionary."""
        return self.rounded and self.dictionary is None

    @property
    def ridge(self) -> float:
        """Ridge on the outer weights of the normalised neurons of a network as grown."""
        return self.alpha or 0.0

    @property
    def takes_last(self) -> bool:
        """Whether the widest network is taken, whatever its error."""
        return self.limits.exact or self.select == "last"

    def needs_all(self, n_neurons: int) -> bool:
        """Whether so many neurons were asked for, of each network if several share them."""
        return self.takes_last and n_neurons >= self.limits.max_neurons // (self.n_networks or 1)

    @property
    def choice(self) -> Select:
        """How the candidate is chosen: a requested width is the last one."""
        return "last" if self.limits.exact else self.select


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows as given, in blocks if they do not fit into memory, and by which rows to choose.

    These are validation rows, or folds, by number or for positions of the rows as given. Folds keep
    groups of rows together, if there are some.
    """

    rows: Rows | Blocks
    validation: Rows | None = None
    cv: Any = None

    @property
    def has_folds(self) -> bool:
        """Whether folds are asked for, by `cv` or by groups."""
        in_groups = isinstance(self.rows, Rows) and self.rows.groups is not None
        return self.cv is not None or in_groups

    def sampling(self, plan: Plan) -> Sampling | None:
        """Return how rows are sampled; None if all are used for everything."""
        return Sampling.of(self.rows, plan.limits.max_neurons, plan.settings.sampling)
