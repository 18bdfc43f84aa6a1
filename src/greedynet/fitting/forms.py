"""Forms of networks: one hidden layer, also on clipped rows, two, or neurons that level off.

    rows -> rows as the form sees them -> the same construction -> network of the form

Nothing of the construction changes. With two layers, rows are *lifted* by ramps along single
columns, and neurons over lifted columns are neurons of a second layer; the knots are quantiles of
the inputs, which do not depend on the outputs, so that held-out rows tell the truth about them.

A sum of monotone ReLUs cannot level off on both sides (`rows/shape.py`), and effects often do: a
dose, a discount, a share. So where a network must be monotone, another one is constructed of ramps

    ramp(z) = min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1,    z = w . x + b,

in any direction, with the same conditions on their weights, because their slopes, too, lie between
0 and 1. It becomes a network of twice as many ReLUs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import ReLU
from greedynet.activations.family import Ramp
from greedynet.fitting.plan import Plan
from greedynet.fitting.split import Folds
from greedynet.model.candidate import CLIPPED, ONE_LAYER, RAMPS, TWO_LAYERS
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps
from greedynet.rows.blocks import Blocks, Survey, Surveyed, Work
from greedynet.rows.rows import Rows
from greedynet.support.magnitudes import LARGEST
from greedynet.support.types import Float64

T = TypeVar("T")

# A cell so many robust deviations from the median may be mistyped, which held-out rows decide.
# One that is closer is fitted as it is. Tuned on even seeds of `benchmarks/judgement.py --large`.
FAR_OUT = 30.0
# The distance of the quartiles of a normal distribution, in standard deviations.
QUARTILES = 1.349


class Form:
    """One hidden layer: rows, plan and networks as they are."""

    name = ONE_LAYER
    n_hinges = 0

    def n_inputs(self, n_features: int) -> int:
        """Return the number of inputs of its networks for so many columns."""
        return n_features

    def rows(self, rows: Rows) -> Rows:
        """Return rows as networks of the form see them."""
        return rows

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return rows in blocks as networks of the form see them."""
        return blocks

    def plan(self, plan: Plan) -> Plan:
        """Return the plan of the construction on such rows."""
        return plan

    def network(self, network: Network) -> Network:
        """Return a network that was constructed on such rows as one of the original rows."""
        return network


@dataclass(frozen=True, eq=False)
class InnerBox(Form):
    """One hidden layer on rows whose inputs are clipped to the bulk of the data.

    A cell that is mistyped lies so far out that it decides scales and slopes. Heavy tails do so,
    too, and follow a law there: held-out rows tell which it is.

    Attributes
    ----------
    box : ndarray of shape (2, n_features)
        Smallest and largest cells of each column that are not far out.
    """

    box: Float64

    name = CLIPPED

    @staticmethod
    def of(folds: Folds) -> "InnerBox | None":
        """Return the box of the bulk of some rows; None if no cell is far out."""
        X = np.asarray(folds.rows.X, dtype=np.float64)
        with np.errstate(over="ignore"):
            low, median, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
            # A column with one value in half of its rows has no deviation.
            room = np.where(high > low, FAR_OUT * (high - low) / QUARTILES, np.inf)
            is_far = np.abs(X - median) > room
        if not is_far.any():
            return None
        near = np.where(is_far, median, X)
        return InnerBox(np.array([near.min(axis=0), near.max(axis=0)]))

    def rows(self, rows: Rows) -> Rows:
        """Return rows within the box."""
        return replace(rows, X=np.clip(rows.X, *self.box))

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return blocks whose rows are changed wherever they are summed."""
        return ChangedBlocks(blocks, self.rows, self.n_inputs(blocks.n_features))


@dataclass(frozen=True, eq=False)
class TwoLayers(Form):
    """A first layer of ramps, and neurons over the columns and their ramps."""

    ramps: Ramps

    name = TWO_LAYERS

    @staticmethod
    def of(folds: Folds, plan: Plan) -> "TwoLayers | None":
        """Return the first layer for rows; None if no column needs one, or nodes are too few.

        It may have a share of all nodes, which is divided equally between the columns.
        """
        settings, rows = plan.settings.depth, folds.rows
        n_hinges = int(settings.share * plan.limits.max_neurons) // rows.n_features
        n_ramps = min(settings.most_ramps, n_hinges + 1)
        if n_ramps < 2:
            return None
        ramps = Ramps.at_quantiles(rows.X, rows.weights, n_ramps)
        return TwoLayers(ramps) if ramps.n_hinges else None

    @property
    def n_hinges(self) -> int:  # type: ignore[override]
        """Number of nodes of the first layer."""
        return self.ramps.n_hinges

    def n_inputs(self, n_features: int) -> int:
        """Return the number of columns and ramps."""
        return self.ramps.n_lifted

    def rows(self, rows: Rows) -> Rows:
        """Return rows with the columns and their ramps as inputs."""
        return lifted(rows, self.ramps)

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return blocks whose rows are changed wherever they are summed."""
        return ChangedBlocks(blocks, self.rows, self.n_inputs(blocks.n_features))

    def plan(self, plan: Plan) -> Plan:
        """Return the plan for the second layer, which has the nodes that are left."""
        limits, settings = plan.limits, plan.settings
        correction = replace(settings.correction, max_block=settings.depth.max_block)
        left = max(1, limits.max_neurons - self.n_hinges)
        return replace(
            plan,
            limits=replace(limits, max_neurons=left),
            shape=None if plan.shape is None else plan.shape.of_columns(self.ramps.lifted_from),
            settings=replace(settings, correction=correction),
        )

    def network(self, network: Network) -> Network:
        """Return a network over lifted rows as one of two layers."""
        return network.over_ramps(self.ramps)


class Saturating(Form):
    """Neurons that rise between two plateaus, for monotone networks."""

    name = RAMPS

    def plan(self, plan: Plan) -> Plan:
        """Return the plan of a network of ramps, half as many."""
        limits = replace(plan.limits, max_neurons=plan.limits.max_neurons // 2)
        return replace(plan, activation=Ramp(), limits=limits)

    def network(self, network: Network) -> Network:
        """Return a network of ramps as one of ReLUs, two for each of its neurons."""
        inner, b, outer = network.inner_weights, network.biases, network.outer_weights
        assert network.intercept is not None
        return replace(
            network,
            inner_weights=np.repeat(inner, 2, axis=0),
            biases=np.column_stack([b + 1.0, b - 1.0]).ravel(),
            outer_weights=np.stack([outer, -outer], axis=1).reshape(-1, outer.shape[1]),
            intercept=network.intercept - outer.sum(axis=0),
            activation=ReLU(),
            path_factor=None,
        )


def lifted(rows: Rows, ramps: Ramps) -> Rows:
    """Return rows with the columns and their ramps as inputs, no larger than inputs may be."""
    X = ramps.lift(rows.X)
    return replace(rows, X=np.clip(X, -LARGEST, LARGEST, out=X), columns=None)


def forms_of(folds: Folds, plan: Plan) -> list[Form]:
    """Return the forms to try, the simplest first."""
    forms: list[Form] = [Form()]
    clipped = InnerBox.of(folds) if _may_be_mistyped(folds, plan) else None
    if clipped is not None:
        forms.append(clipped)
    if plan.hidden_layers == 1:
        return forms
    two = TwoLayers.of(folds, plan)
    if plan.hidden_layers == 2:
        return forms if two is None else [two]
    if two is not None and _may_be_deep(folds, plan):
        if _may_saturate(plan):
            forms.append(Saturating())
        forms.append(two)
    return forms


def _may_be_mistyped(folds: Folds, plan: Plan) -> bool:
    """Whether cells may be clipped in training: not where inputs are taken as they are."""
    is_enough = len(folds.rows) >= plan.settings.depth.min_rows
    return is_enough and plan.correct and not plan.extrapolate and plan.hidden_layers != 2


def _may_be_deep(folds: Folds, plan: Plan) -> bool:
    """Whether two layers are tried where nobody asked for them."""
    settings, rows = plan.settings.depth, folds.rows
    is_enough = len(rows) >= settings.min_rows and rows.n_features <= settings.max_inputs
    has_choice = rows.n_features > 1 or plan.shape is not None
    return is_enough and has_choice and plan.correct and plan.points is None


def _may_saturate(plan: Plan) -> bool:
    """Whether neurons that level off have a use: for monotone networks of ReLUs."""
    shape, (most, left) = plan.shape, divmod(plan.limits.max_neurons, 2)
    if shape is None or shape.convex.any() or plan.activation != ReLU():
        return False
    return most >= 1 and not (plan.limits.exact and left)


@dataclass(frozen=True, eq=False)
class ChangedWork(Generic[T]):
    """The `Work` of a sum over changed rows, for the holder of the rows."""

    work: Work[T]
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def width(self) -> int:
        """Number of intermediate values per row."""
        return self.work.width + self.n_features

    def of(self, rows: Rows) -> T:
        """Return the sum over some rows."""
        return self.work.of(self.change(rows))

    def join(self, one: T, other: T) -> T:
        """Return the sum of two sums."""
        return self.work.join(one, other)


@dataclass(frozen=True, eq=False)
class ChangedBlocks:
    """Rows in blocks as networks of a form see them, wherever they are summed.

    The changed rows are never held at once: whoever holds the rows, this machine, a file or the
    workers of a cluster, changes a block when a sum over it is formed.

    Attributes
    ----------
    change : callable
        Can be pickled, for workers of a cluster.
    n_features : int
        Number of inputs of a changed row.
    """

    blocks: Blocks
    change: Callable[[Rows], Rows]
    n_features: int

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.blocks.n_outputs

    def __len__(self) -> int:
        return len(self.blocks)

    def survey(self) -> Survey:
        """Return the survey of all changed rows."""
        return self._survey

    @cached_property
    def _survey(self) -> Survey:
        return self.total(Surveyed())

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        return self.change(self.blocks.take(positions))

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows."""
        return self.blocks.total(ChangedWork(work, self.change, self.n_features))
