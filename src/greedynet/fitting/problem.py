"""`Site`: where networks are grown, the rows in their frame and how a growth begins and goes on."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from greedynet.fitting.finisher import Finisher, approximation_error_left
from greedynet.fitting.growth import Growth, grow
from greedynet.fitting.make_search import dependent, input_scaling, make_search
from greedynet.fitting.plan import Plan
from greedynet.fitting.sketch import sketch_of
from greedynet.fitting.stopping import GCV, Judge, Limits, StopReason, Validation, neuron_cost
from greedynet.losses.loss_factor import information
from greedynet.model.coordinates import Frame
from greedynet.model.network import ShallowNetwork
from greedynet.rows.blocks import Blocks, in_memory
from greedynet.rows.rows import Rows
from greedynet.search import RecordedSearch
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.progress import tell
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

T = TypeVar("T")
OnStep = Callable[[Callable[[], ShallowNetwork], float, int], bool]

MIN_ROWS_GCV = 3
# With fewer the path is too short to tell noise from what is not yet resolved.
MIN_NEURONS_AVERAGED = 16
MIN_ROWS_AVERAGED = 50
# With fewer rows threads wait for Python's lock more than they gain.
MIN_ROWS_TOGETHER = 2_000
NOTHING_TO_FINISH = (StopReason.EXACT, StopReason.TOLERANCE, StopReason.CALLBACK)


class Site:
    """Where networks are grown: the rows in their frame, and how.

    Of very many rows every turn sees a sample of its own.
    """

    def __init__(
        self,
        rows: Rows | Blocks,
        plan: Plan,
        validation: Rows | None,
        pool: Pool | None,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self.plan, self.pool, self.journal = plan, pool, journal
        self._more = journal.branch("more")
        passes = journal.branch("passes")
        judged = validation is not None
        self.sketch = sketch_of(rows, plan, judged=judged, pool=pool, journal=passes)
        if self.sketch is not None:
            rows = self.sketch.sample(0)
            validation = validation or self.sketch.held_out()
        rows = in_memory(rows)
        self.frame = Frame.of(rows, input_scaling(rows, plan), linear_term=plan.linear_term)
        if self.sketch is not None:
            self.frame = replace(self.frame, input_range=self.sketch.input_range())
        self.rows = self.frame.apply(rows)
        self.validation = None if validation is None else self.frame.apply(validation)

    def rows_of(self, turn: int) -> Rows:
        """Scaled rows for a turn."""
        if self.sketch is None or turn == 0:
            return self.rows
        return self.frame.apply(self.sketch.sample(turn))

    def finisher(self) -> Finisher:
        """Return what finishes networks, on rows they were not grown on if there are enough."""
        return Finisher(
            self.frame,
            self.rows_of(2),
            self.validation,
            self.plan.activation,
            self.plan.single_output,
            self.plan.alpha,
            self.sketch,
            self.journal.branch("finish"),
        )

    def judge(self) -> Judge | None:
        """Who scores the widths: a validation set, GCV, or nobody."""
        if self.validation is not None:
            affine = self.frame.affine.evaluate(self.validation.X)
            scale = self.validation.row_scale
            return Validation(affine, self.validation.Y, scale, self.plan.loss)
        if self.plan.gcv and len(self.rows) > MIN_ROWS_GCV:
            worth = information(self.plan.loss) * self.rows.n_independent
            return GCV(worth, self.n_affine, neuron_cost(self.n_features))
        return None

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.rows.n_features

    @property
    def n_affine(self) -> int:
        """Number of affine columns."""
        return self.frame.n_affine

    def start(self, judge: Judge | None, turn: int = 0) -> Growth:
        """Begin a growth, with the affine term; every turn has a pool of directions of its own."""
        if turn > 0:
            tell("growing another network, to average")
        rows = self.rows_of(turn)
        journal = self.journal.branch(f"growth {turn}")
        found = make_search(rows, self.plan, turn, pool=self.pool)
        search = RecordedSearch(found, journal.record())
        fits = journal.branch("fits")
        factor = self.frame.factor(rows, dependent(self.plan), self.plan.loss, fits)
        return Growth(factor, self.n_affine, search, judge)

    def grow(
        self, growth: Growth, n_neurons: int, limits: Limits, on_step: OnStep | None = None
    ) -> Growth:
        """Let a growth go on to `n_neurons` neurons (GSN 3).

        What is grown beyond the limit on the neurons is to be pruned again, and no step of the
        user's.
        """
        nodes, most = self.frame.affine.n_nodes, limits.max_neurons

        def step(growth: Growth) -> bool:
            width = len(growth.candidates)
            if on_step is None or width > most:
                return False
            return on_step(lambda: self.network(growth), growth.errors[-1], nodes + width)

        return grow(
            growth,
            replace(limits, max_neurons=n_neurons),
            alpha=self.plan.ridge,
            evaluate=lambda f: self.frame.column(f, self.plan.activation, self.validation),
            on_step=step,
        )

    def can_average(self, n_neurons: int) -> bool:
        """Whether there are two networks to average: one direction gives the same one twice."""
        enough = n_neurons >= MIN_NEURONS_AVERAGED and len(self.rows) >= MIN_ROWS_AVERAGED
        return enough and self.n_features > 1

    def together(self, *tasks: Callable[[], T], only_first: bool = False) -> list[T]:
        """Do some things at once; none of them uses the threads itself."""
        if only_first:
            return [tasks[0]()]
        if self.pool is None or len(self.rows) < MIN_ROWS_TOGETHER:
            return [task() for task in tasks]
        pool, self.pool = self.pool, None
        try:
            return pool.map(lambda task: task(), tasks)
        finally:
            self.pool = pool

    def grow_more(self, points: Float64, n_more: int, cycle: int) -> Float64:
        """Return the neurons with `n_more` others that go with them."""

        def grow_more(journal: Journal) -> tuple[Float64]:
            return (self._grown_more(points, n_more, cycle, journal),)

        (grown,) = self._more.once(grow_more)
        return np.asarray(grown)

    def _grown_more(self, points: Float64, n_more: int, cycle: int, journal: Journal) -> Float64:
        rows = self.rows_of(2)
        factor = self.frame.factor(rows, dependent(self.plan))
        for column in self.frame.neuron_columns(rows, points, self.plan.activation).T:
            factor.append(column)
        found = make_search(rows, self.plan, 2 + cycle, learned=points[:, :-1], pool=self.pool)
        search = RecordedSearch(found, journal.record())
        growth = grow(Growth(factor, factor.size, search), Limits(n_more))
        return np.concatenate([points, growth.points]) if growth.candidates else points

    def network(self, growth: Growth) -> ShallowNetwork:
        """Return the network as grown, with its outer weights (GSN 4)."""
        return self.frame.network(
            growth.factor,
            growth.candidates,
            self.plan.activation,
            alpha=self.plan.ridge,
            single_output=self.plan.single_output,
        )

    def approximation_error_left(self, growth: Growth) -> bool:
        """Whether more neurons can be expected to help."""
        if growth.reason in NOTHING_TO_FINISH:
            return True
        n = self.rows.n_independent
        return approximation_error_left(growth.errors, n, self.n_affine, self.n_features)
