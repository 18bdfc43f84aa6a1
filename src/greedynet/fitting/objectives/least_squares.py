"""`LeastSquares`: the objective of the paper, and how its networks are finished.

The path says what may help:

* Where the error is decreasing, some of the residual is approximation error. Neurons are
  *exchanged*: more are grown, all are corrected, and the least useful are removed again.
* Where it is not decreasing fast, some of the residual is noise, which affects the choice of
  neurons. A second network is grown from another pool of directions, or more where they are asked
  for; they are *averaged*, and share the width.

If both may help, both are tried, and the score decides. So it does between the finished network and
the one as grown.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.growth import Growth
from greedynet.fitting.make_search import dependent
from greedynet.fitting.objective import NOTHING_TO_CORRECT, Finished, Objective
from greedynet.fitting.objectives.finisher import Finisher
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.scores import Judge, neuron_cost
from greedynet.linalg.factor import Factor
from greedynet.losses import Squared
from greedynet.model.any_network import with_bounds
from greedynet.model.path import ShallowPath
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import FewRows
from greedynet.support.context import FitContext


class LeastSquares(Objective):
    """`|| Y - F c ||^2`, over rows and outputs."""

    def factor(self, rows: Rows, plan: Plan, context: FitContext) -> Factor:
        """Return the factor whose residual is that of least squares."""
        return Factor(rows.weighted(rows.Y), dependent=dependent(plan))

    def judge(self, problem: Problem) -> Judge | None:
        """Return validation, generalised cross-validation, or None."""
        return problem.regression_judge(Squared())

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return a few more neurons than are kept."""
        return ceil(plan.settings.least_squares.overgrowth * n_neurons)

    def n_networks(self, problem: Problem) -> int:
        """Return the number asked for, or two; with one feature, they would be the same.

        A network that is to grow on stays one.
        """
        settings, asked = problem.settings.least_squares, problem.plan.n_networks
        if problem.n_features == 1 or problem.plan.start is not None:
            return 1
        if asked is not None:
            return min(asked, problem.limits.max_neurons)
        is_wide = problem.reach >= settings.min_neurons_averaged
        return 2 if is_wide and len(problem.rows) >= settings.min_rows_averaged else 1

    def corrects_on_all_rows(self, plan: Plan) -> bool:
        """Whether neurons are corrected, and the ridge is not given."""
        return plan.correct and plan.alpha is None

    def is_noise(self, problem: Problem, growth: Growth) -> bool:
        """Whether the residual may be noise: the error was not decreasing fast at the end."""
        if growth.reason in NOTHING_TO_CORRECT:
            return False
        if problem.plan.n_networks is not None:
            return True
        return not _falls(problem, growth, problem.settings.least_squares.still_falling)

    def as_grown(self, problem: Problem, growth: Growth, path: ShallowPath) -> ShallowPath:
        """Return the path; if rows were sampled, with outer weights solved on all rows."""
        n_kept = path.kept.n_neurons
        if problem.is_corrected or isinstance(problem.samples, FewRows) or n_kept == 0:
            return path
        network = Finisher.of(problem).solved(growth.points[:n_kept])
        network = with_bounds(network, problem.plan.bounds)
        return replace(path, finished=network, finished_error=path.kept_error)

    def correct(
        self, problem: Problem, growths: Sequence[Growth], path: ShallowPath
    ) -> Finished | None:
        """Correct and prune, then average some networks or exchange neurons of one."""
        finisher, settings = Finisher.of(problem), problem.settings.least_squares
        growth, *others = growths
        states = _averaged(problem, finisher, growths) if others else []
        is_open = problem.plan.n_networks is None
        if not states or (is_open and _falls(problem, growth, settings.perhaps_falling)):
            single = _exchanged(problem, finisher, growth)
            if not states or finisher.is_better(single, states, settings.clearly_better):
                states = single
        return _chosen(problem, finisher, finisher.on_all_rows(states), growth)


def _averaged(
    problem: Problem, finisher: Finisher, growths: Sequence[Growth]
) -> list[VariableProjection]:
    """Return corrected networks that share the width: the first part of a growth, and others."""
    each, more = divmod(problem.limits.max_neurons, len(growths))
    widths = [each + (turn < more) for turn in range(len(growths))]
    grown = problem.objective.grown_width(widths[0], problem.plan)
    points = [growths[0].points[:grown], *(growth.points for growth in growths[1:])]

    def pruned(turn: int, context: FitContext) -> VariableProjection:
        return finisher.on(context.pool).prune(points[turn], widths[turn], turn)

    states = problem.at_once(*(partial(pruned, turn) for turn in range(len(growths))))
    if not problem.is_exact:
        return states
    return [finisher.refill(*pair) for pair in zip(states, widths, strict=True)]


def _exchanged(problem: Problem, finisher: Finisher, growth: Growth) -> list[VariableProjection]:
    """Return one corrected network, with neurons exchanged for better ones."""
    most = problem.limits.max_neurons
    state = finisher.prune(growth.points, most, 2)
    state = finisher.converge(finisher.exchange(state))
    return [finisher.refill(state, most) if problem.is_exact else state]


def _chosen(
    problem: Problem, finisher: Finisher, states: Sequence[VariableProjection], growth: Growth
) -> Finished | None:
    """Return the finished network; None if the network is kept as grown."""
    limits, score = problem.limits, finisher.score(states)
    if problem.shape is None and finisher.as_grown(growth) < score:
        return None
    network = finisher.network(states)
    n_grown = min(limits.max_neurons, len(growth.candidates))
    if limits.exact and network.n_neurons < n_grown and problem.shape is None:
        # Some neurons have become duplicates: the requested number takes precedence. With a shape
        # they may have no use; as grown, a network would have any shape.
        return None
    # Scores of folds refer to networks as grown: the finished network has no comparable score.
    return Finished(network, finisher.error(states), None if problem.is_cross_validated else score)


def _falls(problem: Problem, growth: Growth, factor: float) -> bool:
    return approximation_error_left(
        growth.errors,
        problem.rows.n_independent,
        problem.coordinates.n_affine,
        problem.n_features,
        factor,
    )


def approximation_error_left(
    errors: Sequence[float], n_rows: float, n_affine: int, d: int, still_falling: float
) -> bool:
    """Whether the last doubling of the neurons lowered the squared error by a given factor.

    The squared errors are those of generalised cross-validation. They stop decreasing at the level
    of the noise, but not while a function is not yet resolved.
    """
    spent = n_affine + neuron_cost(d) * np.arange(len(errors))
    with np.errstate(divide="ignore"):
        squares = np.square(errors) / np.square(np.maximum(0.0, 1.0 - spent / n_rows))
    best = int(np.argmin(squares))
    is_late = 4 * best >= 3 * (len(errors) - 1)
    return is_late and bool(still_falling * squares[best] < squares[best // 2])
