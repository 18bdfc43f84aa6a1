"""`LeastSquares`: the objective of the paper, and how its networks are finished.

This depends on the path:

* If the error was still decreasing fast, the residual is mostly approximation error. Neurons are
  *exchanged*: more are grown, all are corrected, and the least useful are removed again.
* If it had stopped decreasing, the residual is mostly noise, which affects the choice of neurons. A
  second network is grown from another pool of directions, and the two are *averaged*.
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
from greedynet.model.path import SelectionPath
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

    def averages(self, problem: Problem) -> bool:
        """Whether to average two networks: with one feature they would be the same."""
        settings = problem.settings.least_squares
        return (
            problem.reach >= settings.min_neurons_averaged
            and len(problem.rows) >= settings.min_rows_averaged
            and problem.n_features > 1
        )

    def corrects_on_all_rows(self, plan: Plan) -> bool:
        """Whether neurons are corrected, and the ridge is not given."""
        return plan.correct and plan.alpha is None

    def is_noise(self, problem: Problem, growth: Growth) -> bool:
        """Whether the error had stopped decreasing."""
        if growth.reason in NOTHING_TO_CORRECT:
            return False
        return not approximation_error_left(
            growth.errors,
            problem.rows.n_independent,
            problem.coordinates.n_affine,
            problem.n_features,
            problem.settings.least_squares.still_falling,
        )

    def as_grown(self, problem: Problem, growth: Growth, path: SelectionPath) -> SelectionPath:
        """Return the path; if rows were sampled, with outer weights solved on all rows."""
        n_kept = path.kept.n_neurons
        if problem.is_corrected or isinstance(problem.samples, FewRows) or n_kept == 0:
            return path
        network = Finisher.of(problem).solved(growth.points[:n_kept])
        return replace(path, finished=network, finished_error=path.kept_error)

    def correct(
        self, problem: Problem, growths: Sequence[Growth], path: SelectionPath
    ) -> Finished | None:
        """Correct, prune, then average two networks or exchange neurons of one."""
        finisher, most = Finisher.of(problem), problem.limits.max_neurons
        widths = [most] if len(growths) == 1 else [ceil(most / 2), most - ceil(most / 2)]

        def pruned(turn: int, _: FitContext) -> VariableProjection:
            return finisher.prune(growths[turn].points, widths[turn], turn)

        states = problem.at_once(*(partial(pruned, turn) for turn in range(len(growths))))
        if len(states) == 1:
            states = [finisher.converge(finisher.exchange(states[0]))]
        if problem.is_exact:
            pairs = zip(states, widths, strict=True)
            states = [finisher.refill(state, width) for state, width in pairs]
        return _chosen(problem, finisher, finisher.on_all_rows(states), growths[0])


def _chosen(
    problem: Problem, finisher: Finisher, states: Sequence[VariableProjection], growth: Growth
) -> Finished | None:
    """Return the finished network; None if the network is kept as grown."""
    limits, score = problem.limits, finisher.score(states)
    if problem.validation is not None and not limits.exact:
        # Some width of the growth may do better on the validation set.
        as_grown = min(growth.scores[: limits.max_neurons + 1])
        if as_grown < problem.settings.least_squares.growth_clearly_better * score:
            return None
    network = finisher.network(states)
    if limits.exact and network.n_neurons < min(limits.max_neurons, len(growth.candidates)):
        # Some neurons have become duplicates: the requested number takes precedence.
        return None
    # Scores of folds refer to networks as grown: the finished network has no comparable score.
    return Finished(network, finisher.error(states), None if problem.is_cross_validated else score)


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
