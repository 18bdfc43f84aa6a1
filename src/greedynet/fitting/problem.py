"""`Problem`: the scaled rows of one construction, and the growth of networks on them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from greedynet.fitting.growth import Growth, grow
from greedynet.fitting.limits import Limits
from greedynet.fitting.make_search import dependent, make_search
from greedynet.fitting.objective import Decision, Finished, Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.scores import GCV, Given, Judge, Validation, neuron_cost
from greedynet.linalg.factor import Factor
from greedynet.losses import Loss
from greedynet.losses.base import information
from greedynet.losses.mean_size import mean_size
from greedynet.model.any_network import Network, with_bounds
from greedynet.model.bounds import OutputBounds
from greedynet.model.coordinates import Coordinates
from greedynet.model.effects import combined
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Evidence, Unseen
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples
from greedynet.search import Candidate, recorded
from greedynet.search.begun import BegunSearch
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.types import Float64

T = TypeVar("T")
OnStep = Callable[[Callable[[], Network], float, int], bool]


class Problem:
    """The state of one construction.

    Parameters
    ----------
    data : TrainingData
        In original units.
    plan : Plan
    objective : Objective
    scores : ndarray or None
        Scores of the widths, if already known.
    context : FitContext

    Attributes
    ----------
    plan : Plan
        The plan of the growth.
    samples : Samples
        The rows used by the stages, in original units.
    coordinates : Coordinates
    rows, validation : Rows
        Scaled.
    folds : sequence of pairs of Rows, or None
        Given folds, in original units.
    limits : Limits
        The requested width, or its maximum.
    decision : Decision
        What was decided before the growth.
    """

    def __init__(
        self,
        data: TrainingData,
        plan: Plan,
        objective: Objective,
        scores: Float64 | None,
        context: FitContext,
    ) -> None:
        self.is_corrected = plan.correct
        self.plan, self.objective, self.context = objective.growth_plan(plan), objective, context
        self.settings = plan.settings
        self._more, self.passes = context.branch("more"), context.branch("passes")
        self.samples = objective.samples(data, plan, self.passes)
        self.sample = self.samples.sample(0)
        coordinates = objective.coordinates(self.sample, plan)
        self.coordinates = replace(coordinates, input_range=self.samples.input_range())
        self.rows = self.coordinates.apply(self.sample)
        held_out = self.samples.held_out() if data.validation is None else data.validation
        self.held_out, self.folds = held_out, data.folds
        self.validation = None if held_out is None else self.coordinates.apply(held_out)
        self._scores = scores
        self.limits, self.decision = plan.limits, Decision()
        if scores is not None and plan.correct:
            least = 0 if plan.start is None else plan.start.n_neurons
            self.limits = Limits(max(least, int(np.argmin(scores))), exact=True)

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.rows.n_features

    @property
    def is_exact(self) -> bool:
        """Whether the width is fixed: requested by the user, or because there is no score."""
        return self.limits.exact or (self.validation is None and not self.plan.gcv)

    @property
    def is_cross_validated(self) -> bool:
        """Whether the width was chosen by cross-validation."""
        return self._scores is not None

    def rows_of(self, turn: int) -> Rows:
        """Return the scaled rows for a turn; for small data, the same for all turns."""
        sample = self.sample if turn == 0 else self.samples.sample(turn)
        return self.rows if sample is self.sample else self.coordinates.apply(sample)

    # Growing

    def start(self, turn: int, context: FitContext) -> Growth:
        """Start a growth with the affine term; each turn has a different pool of directions."""
        if turn > 0:
            context.tell("growing another network, to average")
        rows = self.rows_of(turn)
        noted = context.branch(f"growth {turn}")
        search = make_search(rows, self.plan, turn, pool=context.pool)
        if turn == 0 and self.plan.start is not None:
            found_by, search = search, recorded(search, noted.journal)
            search = BegunSearch(search, found_by, self._given(), rows, self.plan.activation)
        else:
            search = recorded(search, noted.journal)
        factor = self.objective.factor(rows, self.plan, noted.branch("fits"))
        factor = self.coordinates.begun(factor, rows)
        return Growth(factor, self.coordinates.n_affine, search, self._judge())

    def _given(self) -> Float64:
        """Return the neurons of the network to go on from, for scaled inputs, bias last."""
        start = self.plan.start
        assert start is not None
        points = np.column_stack([start.inner_weights, start.biases])
        if start.path_factor is None:
            # Not in the order of a growth.
            points = points[start.largest_neurons()]
        return self.coordinates.inputs.unfold(points)

    def _judge(self) -> Judge | None:
        if self._scores is None:
            return self.objective.judge(self)
        return None if self.is_corrected else Given(self._scores)

    def regression_judge(self, loss: Loss) -> Judge | None:
        """Return validation by a loss, generalised cross-validation, or None."""
        held_out, rows = self.validation, self.rows
        if held_out is not None:
            affine = self.coordinates.affine.evaluate(held_out.X)
            outputs, bounds = self.coordinates.outputs, self.plan.bounds
            if bounds is not None:
                bounds = OutputBounds(outputs.apply(bounds.low), outputs.apply(bounds.high))
            return Validation(affine, held_out.Y, held_out.row_scale, loss, bounds)
        if self.plan.gcv and len(rows) > self.settings.min_rows_gcv:
            n = information(loss) * rows.n_independent
            return GCV(n, self.coordinates.n_affine, neuron_cost(self.n_features))
        return None

    def grow(
        self,
        growth: Growth,
        n_neurons: int,
        on_step: OnStep | None = None,
        context: FitContext | None = None,
    ) -> Growth:
        """Continue a growth until `n_neurons` neurons can be kept, or the score stops it (GSN 3).

        Neurons beyond the limit will be pruned, so they are not reported to `on_step`.
        """
        nodes, most = self.coordinates.affine.n_nodes, self.limits.max_neurons
        width = self.objective.grown_width(n_neurons, self.plan) if self.is_corrected else n_neurons

        def step(growth: Growth) -> bool:
            width = len(growth.candidates)
            if on_step is None or width > most:
                return False
            return on_step(lambda: self.network(growth), growth.errors[-1], nodes + width)

        return grow(
            growth,
            replace(self._growth_limits(), max_neurons=width),
            alpha=self.objective.ridge(self.plan),
            evaluate=self._evaluated,
            on_step=step,
            context=context or self.context,
        )

    def _growth_limits(self) -> Limits:
        if self._scores is not None and not self.is_corrected:
            return replace(self.limits, patience=None)
        return self.objective.growth_limits(self.limits, self.plan)

    def _evaluated(self, found: Candidate) -> Float64:
        """Return the normalised column of a neuron on the rows used for scoring."""
        if not isinstance(self.plan.search, str):
            self._check_candidate(found)
        if self.validation is None:
            return found.column
        return self.coordinates.normalised_column(found, self.plan.activation, self.validation)

    def _check_candidate(self, found: Candidate) -> None:
        """Refuse a neuron of a user's own search whose column is not that of the neuron."""
        if isinstance(self.samples, RandomSamples):
            return  # each network is grown on a sample of its own
        sigma, rows = self.plan.activation, self.rows
        column = self.coordinates.neuron_columns(rows, found.point[None, :], sigma)[:, 0]
        if not np.allclose(found.norm * found.column, column, rtol=1e-6, atol=1e-6 * found.norm):
            raise ValueError(
                f"`search` must propose neurons with the activation {sigma.name!r}: the column of "
                "a candidate, times its norm, must be the activation of `X @ point[:-1] + "
                "point[-1]`, times `row_scale`. The activation is an argument of `begin`."
            )

    @property
    def reach(self) -> int:
        """Maximum number of neurons to keep: at most as many as have known scores."""
        most, decided = self.limits.max_neurons, self.decision.n_neurons
        most = most if decided is None else min(most, decided)
        return most if self._scores is None else min(most, len(self._scores) - 1)

    def is_decided(self, growth: Growth) -> bool:
        """Whether the width of a complete growth is decided: within the limit, or by a score."""
        return len(growth.candidates) <= self.limits.max_neurons or not self.is_exact

    def at_once(self, *tasks: Callable[[FitContext], T]) -> list[T]:
        """Run tasks in parallel; none of them uses threads itself."""
        if len(tasks) == 1 or len(self.rows) < self.settings.min_rows_parallel:
            return [task(self.context) for task in tasks]
        alone = self.context.single_threaded()
        return self.context.pool.map(lambda task: task(alone), tasks)

    def more_neurons(self, points: Float64, n_more: int, cycle: int, rows: Rows) -> Float64:
        """Return the neurons and `n_more` new ones, grown on their residual on scaled rows."""

        def grown(journal: Journal) -> tuple[Float64]:
            plan = self.plan
            if len(points) and self.context.clock.is_over():
                return (points,)
            factor = self.coordinates.factor(rows, dependent(plan))
            factor.extend(self.coordinates.neuron_columns(rows, points, plan.activation))
            learned = points[:, :-1]
            found = make_search(rows, plan, 2 + cycle, learned=learned, pool=self.context.pool)
            search = recorded(found, journal)
            growth = Growth(factor, factor.size, search)
            grow(growth, Limits(n_more), context=self.context)
            return (np.concatenate([points, growth.points]) if growth.candidates else points,)

        return np.asarray(self._more.journal.once(grown)[0])

    # The result

    def network(self, growth: Growth) -> ShallowNetwork:
        """Return the network as grown, with its outer weights (GSN 4)."""
        network = self._network(growth, self._solved(growth), self.coordinates)
        return with_bounds(network, self.plan.bounds)

    def network_of_scaled_rows(self, growth: Growth) -> ShallowNetwork:
        """Return the network as grown, for scaled inputs and outputs."""
        return self._network(growth, growth.factor, self.coordinates.of_scaled_rows())

    def _network(self, growth: Growth, factor: Factor, coordinates: Coordinates) -> ShallowNetwork:
        return coordinates.network(
            factor,
            growth.candidates,
            self.plan.activation,
            alpha=self.objective.ridge(self.plan),
            single_output=self.plan.single_output,
        )

    def _solved(self, growth: Growth) -> Factor:
        """Return the factor of a growth, for least squares on rows that are not rounded."""
        is_sampled = isinstance(self.samples, RandomSamples)
        if not self.coordinates.rounded or is_sampled or not growth.factor.follows_projection:
            return growth.factor
        rows = self.coordinates.apply_exactly(self.sample)
        points = growth.points.reshape(-1, rows.n_features + 1)
        columns = self.coordinates.neuron_columns(rows, points, self.plan.activation)
        factor = self.coordinates.factor(rows, dependent=0.0)
        norms = np.array([found.norm for found in growth.candidates])
        kept = factor.extend(columns / norms)
        return factor if kept.all() and factor.size == growth.factor.size else growth.factor

    def path(self, growth: Growth, most: int | None = None) -> ShallowPath:
        """Return the growth as a path, with at most `most` neurons if given."""
        if self._scores is not None and self.is_corrected:
            growth.scores = self._scores[: len(growth.errors)].tolist()
        network = self.network(growth)
        n_left_out = 0 if most is None else max(0, len(growth.candidates) - most)
        if n_left_out:
            growth = growth.truncated(len(growth.candidates) - n_left_out)
            growth.reason = self.limits.kept(len(growth.candidates))
            network = network.truncate(network.n_nodes - n_left_out)
        validated = self.validation is not None or self._scores is not None
        path = growth.path(network, self.limits, validated=validated)
        if network.bounds is not None:
            errors = path.training_errors * self._shares_within_bounds(network)
            path = replace(path, training_errors=errors)
        reason = self._reason(path.stop_reason)
        return replace(path, stop_reason=reason, evidence=Evidence(self.sample))

    def finished_path(
        self, path: ShallowPath, growth: Growth, finished: Finished | None
    ) -> ShallowPath:
        """Return the path of a growth with the finished network, if there is one."""
        if finished is None:
            return path
        path = path.with_unseen(finished.unseen, finished.ladder)
        finished = self._within_bounds(finished)
        kept = self.limits.kept(finished.network.n_neurons)
        grown_as_decided = bool(growth.candidates) or self.decision.n_neurons == 0
        return replace(
            path,
            best_n_nodes=finished.network.n_nodes,
            stop_reason=finished.reason
            or self._reason(kept if grown_as_decided else growth.reason),
            finished=finished.network,
            finished_error=finished.error,
            finished_score=finished.score,
            expected_error=finished.expected_error,
        )

    def _within_bounds(self, finished: Finished) -> Finished:
        """Return a finished network with bounds, and its error with them."""
        network = with_bounds(finished.network, self.plan.bounds)
        if network is finished.network or network.bounds is None:
            return finished
        outputs = finished.network.predict(self.sample.X).reshape(self.sample.Y.shape)
        share = self._share_within(network.bounds, outputs)
        return replace(finished, network=network, error=finished.error * share)

    def _shares_within_bounds(self, network: ShallowNetwork) -> Float64:
        """Return by which factors bounds change the training errors of all widths of a growth."""
        bounds, free = network.bounds, with_bounds(network, None)
        assert bounds is not None
        X: Float64 = np.asarray(self.sample.X, dtype=np.float64)
        hidden = np.ascontiguousarray(free.hidden(X).T)
        least = free.n_nodes - free.n_neurons
        widths = (free.truncate(n) for n in range(least, free.n_nodes + 1))
        return np.array([self._share_within(bounds, combined(n, hidden, X)) for n in widths])

    def _share_within(self, bounds: OutputBounds, outputs: Float64) -> float:
        """Return by which factor bounds change the training error of outputs."""
        size = partial(self.objective.size, rows=self.sample, problem=self)
        before = size(outputs)
        return size(bounds.apply(outputs)) / before if before > 0 else 1.0

    def told(self, path: ShallowPath) -> ShallowPath:
        """Return the path with the expected error, where samples of many rows tell it.

        The error on the rows that were held out for scoring; if there are none, that on the
        training sample, divided by `1 - p / n` for `p` parameters.
        """
        if path.expected_error is not None or not isinstance(self.samples, RandomSamples):
            return path
        network, held_out = path.kept, self.held_out
        if held_out is None:
            n = len(self.rows)
            spent = min(network.n_neurons * (self.n_features + 2) / n, 0.5)
            size = float(np.sqrt(np.mean(self.coordinates.outputs.scale**2)))
            unseen = Unseen.of(self.sample, network.predict(self.sample.X))
            path = path.with_unseen(unseen.stretched(1.0 / (1.0 - spent)))
            return replace(path, expected_error=path.kept_error * size / (1.0 - spent))
        unseen = Unseen.of(held_out, network.predict(held_out.X))
        error = mean_size(self.plan.loss, unseen.Y - unseen.predictions, held_out.weights)
        return replace(path.with_unseen(unseen), expected_error=error)

    def _reason(self, reason: StopReason) -> StopReason:
        """Return why the growth ended; a width chosen by folds was not requested by the user."""
        if self._scores is None or reason is not StopReason.N_NODES:
            return reason
        is_full = self.limits.max_neurons >= self.plan.limits.max_neurons
        return StopReason.MAX_NODES if is_full else StopReason.VALIDATED


def steps_beyond(path: ShallowPath, on_step: OnStep | None) -> OnStep | None:
    """Return a function that is not called again for the widths of a path."""
    if on_step is None:
        return None
    tell = on_step

    def later(network: Callable[[], Network], error: float, n_nodes: int) -> bool:
        return n_nodes > path.n_nodes[-1] and tell(network, error, n_nodes)

    return later
