"""`StagedGrowth`: a network that grows in stages, with all neurons corrected after each.

The plain growth never revises a neuron. Here new neurons are searched on the residual of a network
that has been corrected jointly, and the width grows by a factor, so that all stages together cost
little more than the last. A network of a given width is pruned from the next wider stage: this
removes what early stages needed and later ones do not.
"""

from dataclasses import dataclass, replace

import numpy as np

from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.objectives.finisher import Finisher
from greedynet.fitting.objectives.least_squares import LeastSquares
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import ShallowNetwork
from greedynet.rows.affine import AffineTerm
from greedynet.rows.blocks import Blocks
from greedynet.rows.ridge_line import RidgeLine
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

# More than a growth has stages.
_STAGES = 1_000


def stage_widths(most: int, growth: float) -> list[int]:
    """Return the numbers of neurons of the stages: 1, 2, 3, 4, 6, 9, ... and `most`."""
    widths, width = [], 1
    while width < most:
        widths.append(width)
        width = max(width + 1, round(growth * width))
    return [*widths, most] if most > 0 else []


class StagedGrowth:
    """Networks of increasing width on the rows of a problem.

    Parameters
    ----------
    problem : Problem
        With the scaled training rows.
    turn : int
        Networks of different turns have different pools of directions.
    """

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        self.problem = problem
        self._turn = turn
        self._finisher = Finisher.of(problem, turn)
        self.state = self._finisher.state(np.empty((0, problem.n_features + 1)))
        # Weights and ridge of each stage: states would hold the columns of all rows.
        self._stages: list[tuple[Float64, float]] = []

    @property
    def n_stages(self) -> int:
        """Number of stages so far."""
        return len(self._stages)

    def advance(self, n_neurons: int) -> bool:
        """Grow to a number of neurons and correct all; False if no neuron can be added."""
        state = self.state
        n_more = n_neurons - state.n_neurons
        cycle = self.n_stages + _STAGES * self._turn
        points = self._finisher.with_more(state, n_more, cycle)
        if points is None:
            return False
        # The ridge of the affine term alone says nothing about neurons.
        grown = state.at(points) if state.n_neurons else self._finisher.state(points)
        self.state = self._converged(self._settled(grown))
        self._stages.append((self.state.points, self.state.ridge))
        return True

    def stage(self, i: int) -> VariableProjection:
        """Return the network of a stage."""
        points, ridge = self._stages[i]
        return self._finisher.state(points, ridge)

    def pruned(self, i: int, n_neurons: int) -> VariableProjection:
        """Return the network of a stage, pruned to a number of neurons."""
        state = self.stage(i)
        if n_neurons >= state.n_neurons:
            return state
        return self._converged(self._settled(state.without(n_neurons)))

    def corrected(self, points: Float64, ridge: float) -> VariableProjection:
        """Return the network of given neurons, corrected, with some of them exchanged.

        More neurons are grown and as many removed: on other rows, others may be better.
        """
        state = self._settled(self._finisher.state(points, ridge))
        if self._finisher.context.clock.is_over():
            return state
        further = self._finisher.exchanged_once(state, _STAGES - 1)
        return self._converged(further if further.gcv < state.gcv else state)

    def _settled(self, state: VariableProjection) -> VariableProjection:
        settings = self.problem.settings.ladder
        steps = settings.steps * self._finisher.times
        return state.settle(steps, settings.enough)

    def _converged(self, state: VariableProjection) -> VariableProjection:
        """Correct to convergence if the error is tiny."""
        return self._finisher.converge(state)

    def network(self, *states: VariableProjection) -> ShallowNetwork:
        """Return the mean of some networks, for inputs and outputs in their original units."""
        return self._finisher.network(states)


@dataclass(frozen=True)
class Staged(LeastSquares):
    """Least squares for networks that grow in stages.

    Attributes
    ----------
    shrunk : bool
        Whether the affine term is the constant and a line with a ridge: for few rows beside the
        inputs.
    """

    shrunk: bool = False

    @staticmethod
    def of(rows: Rows | Blocks, plan: Plan) -> "Staged":
        """Return the objective whose affine term suits the number of rows."""
        few = len(rows) < plan.settings.ladder.rows_per_input * (rows.n_features + 1)
        return Staged(few and plan.linear_term and plan.shape is None)

    def coordinates(self, rows: Rows, plan: Plan) -> Coordinates:
        """Return the coordinates in which the network is grown."""
        found = super().coordinates(rows, plan)
        if not self.shrunk:
            return found
        scaled = found.apply(rows)
        return replace(found, affine=AffineTerm.shrunk(scaled, RidgeLine.of(scaled)))
