"""`Objective`: what a network minimises, and the stages of `construct` that depend on it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import Limits
from greedynet.fitting.make_search import input_scaling
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.scores import Judge
from greedynet.linalg.factor import Factor
from greedynet.model.coordinates import Coordinates
from greedynet.model.ladder import Ladder
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import Samples, Sampling, samples_of
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from greedynet.fitting.problem import Problem

# After these reasons a growth is complete, or must not be changed.
NOTHING_TO_CORRECT = (StopReason.EXACT, StopReason.TOLERANCE, StopReason.CALLBACK)


@dataclass(frozen=True, eq=False)
class Finished:
    """A network after correction.

    Attributes
    ----------
    network : ShallowNetwork
    error : float
        Training error, comparable to those of the growth.
    score : float or None
        Comparable to the scores of the widths, if there is one.
    expected_error : float or None
        Expected error on new rows, if known.
    reason : StopReason or None
        Why it has this number of neurons; None if that follows from the limits.
    unseen : Unseen or None
        Predictions of held-out rows by networks like this one, if known.
    ladder : Ladder or None
        Candidates among which a classifier has chosen.
    """

    network: ShallowNetwork
    error: float
    score: float | None = None
    expected_error: float | None = None
    reason: StopReason | None = None
    unseen: Unseen | None = None
    ladder: Ladder | None = None


@dataclass(frozen=True)
class Decision:
    """What is decided before the growth.

    Attributes
    ----------
    n_neurons : int or None
        Maximum number of neurons to grow; None for the limit of the plan.
    """

    n_neurons: int | None = None


class Objective(ABC):
    """Least squares, another loss, or log-loss."""

    # The stages, in the order of `construct`.

    def samples(self, data: TrainingData, plan: Plan, context: FitContext) -> Samples:
        """Return the rows that the stages see."""
        return samples_of(
            data.rows,
            data.sampling,
            seed=plan.random_state,
            hold_out=plan.gcv and data.validation is None,
            larger=self.corrects_on_all_rows(plan),
            sizes=plan.settings.blocks,
            context=context,
        )

    def coordinates(self, rows: Rows, plan: Plan) -> Coordinates:
        """Return the coordinates in which the network is grown."""
        inputs = input_scaling(rows, plan)
        return Coordinates.of(rows, inputs, linear_term=plan.linear_term, rounded=plan.rounds)

    def decided(self, problem: "Problem") -> Decision:
        """Return what can be decided before the growth; by default nothing."""
        return Decision()

    @abstractmethod
    def factor(self, rows: Rows, plan: Plan, context: FitContext) -> Factor:
        """Return the factor of scaled rows to which columns are appended, initially empty."""

    @abstractmethod
    def judge(self, problem: "Problem") -> Judge | None:
        """Return the judge that scores the widths of the growth, or None."""

    @abstractmethod
    def correct(
        self, problem: "Problem", growths: Sequence[Growth], path: ShallowPath
    ) -> Finished | None:
        """Return the corrected network; None if the network is kept as grown."""

    def sampling(self, rows: Rows | Blocks, plan: Plan, held_out: float = 0.0) -> Sampling | None:
        """Return how rows are sampled; a dictionary uses all rows."""
        return None if plan.search == "dictionary" else plan.sampling(rows, held_out)

    # Details that differ between objectives.

    def size(self, outputs: Float64, rows: Rows, problem: "Problem") -> float:
        """Return the size of the error of outputs on rows in original units, in any units."""
        left = (rows.Y - outputs) / problem.coordinates.outputs.scale
        return problem.plan.loss.size(left, rows.weights)

    def growth_plan(self, plan: Plan) -> Plan:
        """Return the plan of the growth alone."""
        return plan

    def growth_limits(self, limits: Limits, plan: Plan) -> Limits:
        """Return the limits of the growth."""
        return limits

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return the number of neurons to grow in order to keep `n_neurons`."""
        return n_neurons

    def ridge(self, plan: Plan) -> float:
        """Return the ridge on the outer weights during the growth."""
        return plan.ridge

    def n_networks(self, problem: "Problem") -> int:
        """Return the number of networks that are grown, to be averaged; they share the nodes."""
        return 1

    def corrects_on_all_rows(self, plan: Plan) -> bool:
        """Whether a last correction sees all rows, where growing sees samples."""
        return False

    def is_noise(self, problem: "Problem", growth: Growth) -> bool:
        """Whether more neurons cannot be expected to help."""
        return False

    def is_final(self, growth: Growth, path: ShallowPath) -> bool:
        """Whether there is nothing to correct after a growth."""
        return growth.reason in NOTHING_TO_CORRECT or not growth.candidates

    def standard_errors_below(self, unseen: Unseen | None, others: Unseen | None) -> float:
        """Return by how many standard errors losses of held-out rows are below those of others.

        Infinity if errors are not compared row by row.
        """
        return np.inf

    def as_grown(self, problem: "Problem", growth: Growth, path: ShallowPath) -> ShallowPath:
        """Return the path of a network that is not corrected."""
        return path
