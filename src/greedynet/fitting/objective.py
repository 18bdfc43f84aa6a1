"""`Objective`: what a network minimises: squares or another loss of residuals, or the log-loss.

Regression and classification differ here, and nowhere else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from greedynet.correction.all_rows.passes import Passes
from greedynet.fitting.as_grown import PlainClassGrowth, PlainGrowth
from greedynet.fitting.candidates import (
    every_width,
    networks_and_averages,
    regressions_and_blends,
)
from greedynet.fitting.forms import Form
from greedynet.fitting.growth import Growth
from greedynet.fitting.log_loss import ClassGrowth
from greedynet.fitting.make_search import input_scaling
from greedynet.fitting.measures import LogLosses, Measure, OfLoss, Squares
from greedynet.fitting.plan import Plan
from greedynet.fitting.problem import Problem, coordinates_of
from greedynet.fitting.reweighted import ExtremeGrowth, LossGrowth, reweighted_line
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.squares import SquaresGrowth
from greedynet.losses import is_squared
from greedynet.losses.base import singles_out_rows
from greedynet.losses.logistic import log_loss
from greedynet.model.candidate import MEAN, SHARES, Candidate
from greedynet.model.coordinates import Coordinates
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm, RidgeLine
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


class Objective:
    """The squares, or another loss, of the residuals of a regression."""

    # Whether outputs are classes.
    classes = False

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the losses of held-out rows, by which candidates are compared."""
        if is_squared(plan.loss):
            return Squares(held_out, n_rows)
        return OfLoss(held_out, n_rows, plan.loss)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return the coordinates in which networks on rows are constructed.

        With few rows beside the inputs, the affine term of a corrected network is the constant and
        a line with a ridge.
        """
        found = coordinates_of(rows, plan, input_range)
        many = plan.settings.ladder.rows_per_input * (rows.n_features + 1)
        is_free = plan.linear_term and plan.shape is None and not singles_out_rows(plan.loss)
        if len(rows) >= many or not is_free or not plan.correct:
            return found
        scaled = found.apply(rows)
        is_square = is_squared(plan.loss)
        # With any intercept: the constant is a column of its own.
        line = RidgeLine.of(scaled) if is_square else reweighted_line(scaled, plan.loss)
        return replace(found, affine=AffineTerm.shrunk(scaled, line))

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        plan = problem.plan
        if not plan.correct:
            return PlainGrowth(problem, turn)
        if is_squared(plan.loss):
            return SquaresGrowth(problem, turn)
        return (ExtremeGrowth if singles_out_rows(plan.loss) else LossGrowth)(problem, turn)

    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield the candidates to try, the simplest first; `scores` has those before."""
        if not plan.correct:
            return every_width(scores, forms, plan, MEAN)
        plan = plan if is_squared(plan.loss) else replace(plan, n_networks=1)
        return networks_and_averages(scores, forms, rows, plan)

    def training_error(self, network: Network, rows: Rows, plan: Plan) -> float:
        """Return the relative error of a network on training rows, in original units."""
        scaling = OutputScaling.of(rows, centred=plan.linear_term)
        left = (rows.Y - network.predict(rows.X).reshape(rows.Y.shape)) / scaling.scale
        size = plan.loss.size(scaling.apply(rows.Y), rows.weights) or 1.0
        return plan.loss.size(left, rows.weights) / size

    def is_large(self, candidate: Candidate, rows: Rows, plan: Plan) -> bool:
        """Whether folds are computed in parallel: threads gain in large products only."""
        n_weights = candidate.n_neurons * (rows.n_features + 1)
        return n_weights >= plan.settings.ladder.parallel_from

    def begin(
        self,
        rows: Rows,
        form: Form,
        plan: Plan,
        context: FitContext,
        *,
        turn: int = 0,
        input_range: Float64 | None = None,
        passes: Passes | None = None,
    ) -> Growth:
        """Return the networks of a form on rows in original units."""
        own, plan = form.rows(rows), form.plan(plan)
        if input_range is not None:
            ends = Rows(input_range, np.zeros((2, rows.n_outputs)))
            input_range = np.asarray(form.rows(ends).X, dtype=np.float64)
        coordinates = self.coordinates(own, plan, input_range)
        return self.growth(Problem(own, plan, coordinates, context, passes), turn)


class LogLoss(Objective):
    """The mean log-loss of classes; its errors are absolute, not relative."""

    classes = True

    def measure(self, held_out: Sequence[Rows], n_rows: int, plan: Plan) -> Measure:
        """Return the log-losses of held-out rows."""
        return LogLosses(held_out, n_rows)

    def coordinates(self, rows: Rows, plan: Plan, input_range: Float64 | None) -> Coordinates:
        """Return coordinates with scaled inputs and unscaled classes."""
        inputs, t = input_scaling(rows, plan), rows.n_outputs
        if plan.dictionary is None:
            inputs = InputScaling.limiting_kurtosis(rows).in_canonical_columns(rows)
        found = coordinates_of(rows, plan, input_range, inputs)
        return replace(found, outputs=OutputScaling(np.zeros(t), np.ones(t)))

    def growth(self, problem: Problem, turn: int = 0) -> Growth:
        """Return the networks on the rows of a problem."""
        return (ClassGrowth if problem.plan.correct else PlainClassGrowth)(problem, turn)

    def candidates(
        self, scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
    ) -> Iterator[Candidate]:
        """Yield the candidates to try, the simplest first; `scores` has those before."""
        if not plan.correct:
            return every_width(scores, forms, plan, SHARES)
        return regressions_and_blends(scores, forms, rows, plan)

    def training_error(self, network: Network, rows: Rows, plan: Plan) -> float:
        """Return the mean log-loss of training rows."""
        return log_loss(network.predict(rows.X).reshape(rows.Y.shape), rows.Y, rows.weights)

    def is_large(self, candidate: Candidate, rows: Rows, plan: Plan) -> bool:
        """Whether folds are computed in parallel."""
        return rows.X.size >= 2**15 if plan.correct else super().is_large(candidate, rows, plan)
