"""`Problem`: the training rows of one network, in the coordinates in which it is constructed."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from greedynet.activations import degree_of
from greedynet.correction.all_rows.passes import Passes
from greedynet.correction.outer_solver import OuterSolver
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.make_search import SearchTask, dependent, input_scaling, make_search
from greedynet.fitting.plan import Plan
from greedynet.fitting.settings import FitSettings
from greedynet.linalg.factor import Factor
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.shape import Shape
from greedynet.search import Dictionary, Proposal, Search
from greedynet.support.context import FitContext
from greedynet.support.magnitudes import LARGEST_OUTPUT
from greedynet.support.types import Float64


def grow(factor: Factor, search: Search, n_more: int, context: FitContext) -> list[Proposal]:
    """Return the next neurons, each the best beside those before (GSN 3).

    The factor, which has the target and the columns so far, is extended in place. Fewer neurons are
    returned if no others lie outside the span, or if the time is over.
    """
    found: list[Proposal] = []
    while len(found) < n_more:
        context.check()
        # A network without any node would be nothing.
        if factor.size and context.clock.is_over():
            break
        proposed = search.propose(factor)
        if proposed is None:
            break
        if factor.append(proposed.column):
            search.accept(factor)
            found.append(proposed)
        else:
            search.reject()
    return found


class Problem:
    """Scaled rows, and what of them does not depend on the neurons.

    `sample` has the training rows in original units, a sample if there are many; `rows` are the
    same in these coordinates, and `passes` sums over all rows, if these are a sample.
    """

    def __init__(
        self,
        sample: Rows,
        plan: Plan,
        coordinates: Coordinates,
        context: FitContext,
        passes: Passes | None = None,
    ) -> None:
        self.sample, self.plan, self.context, self.passes = sample, plan, context, passes
        self.coordinates = coordinates
        self.rows = coordinates.apply(sample)

    @property
    def settings(self) -> FitSettings:
        """Constants of the fit."""
        return self.plan.settings

    @cached_property
    def shape(self) -> Shape | None:
        """The shape along the scaled columns, if one is given."""
        return None if self.plan.shape is None else self.plan.shape.scaled(self.coordinates.inputs)

    @cached_property
    def solving(self) -> Coordinates:
        """The coordinates in which networks are corrected and outer weights solved.

        A shape limits the slopes along single columns, which are then the affine columns.
        """
        if self.shape is None or not self.plan.linear_term:
            return self.coordinates
        return replace(self.coordinates, affine=AffineTerm.of_single_columns(self.rows))

    def in_units(self, outputs: Float64) -> Float64:
        """Return scaled outputs in original units; rows that overflow are as far as can be."""
        scaling = self.coordinates.outputs
        with np.errstate(over="ignore"):
            return np.nan_to_num(within_reason(outputs) * scaling.scale + scaling.center)

    def constant(self, residuals: Float64) -> Float64:
        """Return the constant that is best for the loss of residuals."""
        ones, weights = np.ones((len(self.rows), 1)), self.rows.weights
        return np.asarray(self.plan.loss.fit(ones, residuals, weights).weights[0])

    def carried(self, points: Float64, inputs: InputScaling) -> Float64:
        """Return neurons of other rows, which were scaled by `inputs`, on these rows.

        Weights that grow out of reason, since these rows lie far apart, are scaled down where this
        does not change what the neurons can represent.
        """
        carried = inputs.carried(points, self.coordinates.inputs)
        if degree_of(self.plan.activation) is not None:
            size = np.abs(carried).max(axis=1, initial=0.0)
            carried = carried / np.where(size > LARGEST_OUTPUT, size, 1.0)[:, None]
        return np.ascontiguousarray(carried)

    def more_neurons(self, points: Float64, n_more: int, turn: int, rows: Rows) -> Float64:
        """Return neurons and `n_more` new ones, grown on their residual on scaled rows."""
        if len(points) and self.context.clock.is_over():
            return points
        plan = self.plan
        factor = self.coordinates.factor(rows, dependent(plan))
        factor.extend(self.coordinates.neuron_columns(rows, points, plan.activation))
        pool, learned = self.context.pool, points[:, :-1]
        search = make_search(SearchTask(rows, plan, 2 + turn, learned, self.shape, pool))
        found = grow(factor, search, n_more, self.context)
        for new in found:
            self.check_proposed(new, rows)
        return np.concatenate([points, [new.point for new in found]]) if found else points

    def check_proposed(self, found: Proposal, rows: Rows) -> None:
        """Refuse a neuron of a user's own search whose column is not that of the neuron."""
        if isinstance(self.plan.search, str | Dictionary):
            return
        sigma = self.plan.activation
        column = self.coordinates.neuron_columns(rows, found.point[None, :], sigma)[:, 0]
        if not np.allclose(found.norm * found.column, column, rtol=1e-6, atol=1e-6 * found.norm):
            raise ValueError(
                f"`search` must propose neurons with the activation {sigma.name!r}: the column of "
                "a candidate, times its norm, must be the activation of `X @ point[:-1] + "
                "point[-1]`, times `row_scale`. The activation is an argument of `begin`."
            )

    def projection(
        self, rows: Rows, affine: Float64, points: Float64, ridge: float | None
    ) -> VariableProjection:
        """Return neurons on scaled rows, to be corrected jointly."""
        return VariableProjection(
            rows,
            affine,
            points,
            ridge,
            self.plan.activation,
            context=self.context,
            max_block=self.settings.correction.max_block,
        )

    def outer_solver(self, alpha: float | None) -> OuterSolver:
        """Return the solver for outer weights on all rows."""
        return OuterSolver(
            self.solving,
            self.rows,
            self.plan.activation,
            self.plan.single_output,
            alpha,
            self.passes,
            self.shape,
        )

    def network(self, inner: Float64, outer: Float64, affine: Float64) -> Network:
        """Return a network of scaled rows for inputs and outputs in original units.

        Biases are the last inner weights of `(k, d + 1)`, constants the last row of the affine term
        of `(d + 1, n_outputs)`.
        """
        present = self.plan.linear_term
        network = Network(
            inner_weights=inner[:, :-1],
            biases=inner[:, -1],
            outer_weights=outer,
            linear_weights=affine[:-1] if present else None,
            intercept=affine[-1] if present else None,
            activation=self.plan.activation,
            single_output=self.plan.single_output,
            input_range=self.coordinates.input_range,
        )
        return self.coordinates.in_original_units(network)


def within_reason(values: Float64) -> Float64:
    """Return scaled values, those that are not numbers among the largest."""
    return np.clip(np.nan_to_num(values, nan=LARGEST_OUTPUT), -LARGEST_OUTPUT, LARGEST_OUTPUT)


def coordinates_of(
    rows: Rows, plan: Plan, input_range: Float64 | None = None, inputs: InputScaling | None = None
) -> Coordinates:
    """Return coordinates of rows, with inputs scaled as the search needs them."""
    inputs = input_scaling(rows, plan) if inputs is None else inputs
    found = Coordinates.of(rows, inputs, linear_term=plan.linear_term, rounded=plan.rounds)
    return found if input_range is None else replace(found, input_range=input_range)
