"""Forms of networks: one hidden layer, also on clipped rows, two, or neurons that level off.

    rows -> rows as the form sees them -> the same construction -> network of the form

Nothing of the construction changes. With two layers, rows are *lifted* by ramps along single
columns, and neurons over lifted columns are neurons of a second layer; the knots are quantiles of
the inputs, which do not depend on the outputs, so that errors on held-out rows are honest.

A sum of monotone ReLUs cannot level off on both sides (`rows/shape.py`), and effects often do: a
dose, a discount, a share. So where a network must be monotone, another one is constructed of ramps

    ramp(z) = min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1,    z = w . x + b,

in any direction, with the same conditions on their weights, because their slopes, too, lie between
0 and 1. It becomes a network of twice as many ReLUs.
"""

from dataclasses import dataclass, replace

import numpy as np

from greedynet.activations import ReLU
from greedynet.activations.family import Ramp
from greedynet.fitting.plan import Plan
from greedynet.fitting.split import Folds
from greedynet.model.candidate import CLIPPED, ONE_LAYER, RAMPS, TWO_LAYERS
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps
from greedynet.rows.blocks import Blocks, ChangedBlocks
from greedynet.rows.rows import Rows
from greedynet.support.magnitudes import LARGEST
from greedynet.support.types import Float64

# A cell so many robust deviations from the median may be mistyped, which held-out rows decide.
# One that is closer is fitted as it is. Tuned on even seeds of `benchmarks/judgement.py --large`.
FAR_OUT = 30.0


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


class _ChangedRows(Form):
    """A form whose networks see other rows."""

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return blocks whose rows are changed wherever they are summed."""
        return ChangedBlocks(blocks, self.rows, self.n_inputs(blocks.n_features))


@dataclass(frozen=True, eq=False)
class InnerBox(_ChangedRows):
    """One hidden layer on rows whose inputs are clipped to the bulk of the data.

    A cell that is mistyped lies so far out that it decides scales and slopes. Heavy tails do so,
    too, and follow a law there: held-out rows decide which it is. The box has the smallest and the
    largest cell of each column that are not far out.
    """

    box: Float64

    name = CLIPPED

    @staticmethod
    def of(folds: Folds) -> "InnerBox | None":
        """Return the box of the bulk of some rows; None if no cell is far out."""
        X = np.asarray(folds.rows.X, dtype=np.float64)
        with np.errstate(over="ignore"):
            low, median, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
            # Quartiles of a normal distribution lie 1.349 standard deviations apart. A column with
            # one value in half of its rows has no deviation.
            room = np.where(high > low, FAR_OUT * (high - low) / 1.349, np.inf)
            is_far = np.abs(X - median) > room
        if not is_far.any():
            return None
        near = np.where(is_far, median, X)
        return InnerBox(np.array([near.min(axis=0), near.max(axis=0)]))

    def rows(self, rows: Rows) -> Rows:
        """Return rows within the box."""
        return replace(rows, X=np.clip(rows.X, *self.box))


@dataclass(frozen=True, eq=False)
class TwoLayers(_ChangedRows):
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

    def plan(self, plan: Plan) -> Plan:
        """Return the plan for the second layer, which has the nodes that are left."""
        limits, settings = plan.limits, plan.settings
        # Neurons over ramps have many weights, and smaller systems are solved faster.
        correction = replace(settings.correction, max_block=200)
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
        )


def lifted(rows: Rows, ramps: Ramps) -> Rows:
    """Return rows with the columns and their ramps as inputs, no larger than inputs may be."""
    X = ramps.lift(rows.X)
    return replace(rows, X=np.clip(X, -LARGEST, LARGEST, out=X), columns=None)


def forms_of(folds: Folds, plan: Plan) -> list[Form]:
    """Return the forms to try, the simplest first."""
    forms, settings, rows = [Form()], plan.settings.depth, folds.rows
    is_enough = plan.correct and len(rows) >= settings.min_rows
    # Cells may be clipped in training: not where inputs are taken as they are.
    if is_enough and not plan.extrapolate and plan.hidden_layers != 2:
        clipped = InnerBox.of(folds)
        forms += [] if clipped is None else [clipped]
    if plan.hidden_layers == 1:
        return forms
    two = TwoLayers.of(folds, plan)
    if plan.hidden_layers == 2:
        return forms if two is None else [two]
    # With one column, two layers are no other functions than one.
    has_choice = rows.n_features > 1 or plan.shape is not None
    is_tried = is_enough and rows.n_features <= settings.max_inputs and plan.points is None
    if two is not None and has_choice and is_tried:
        forms += [Saturating(), two] if _may_saturate(plan) else [two]
    return forms


def _may_saturate(plan: Plan) -> bool:
    """Whether neurons that level off have a use: for monotone networks of ReLUs."""
    shape, (most, left) = plan.shape, divmod(plan.limits.max_neurons, 2)
    if shape is None or shape.convex.any() or plan.activation != ReLU():
        return False
    return most >= 1 and not (plan.limits.exact and left)
