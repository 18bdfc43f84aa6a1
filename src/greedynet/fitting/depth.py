"""Two hidden layers: the same construction on rows that are lifted by a layer of ramps.

    rows -> ramps at quantiles -> lifted rows -> network over them -> network of two layers

Nothing of the construction changes: neurons over lifted columns are neurons of a second layer. The
knots are quantiles of the inputs; they do not depend on the outputs, so that held-out rows tell the
truth about them. Many rows stay where they are, and are lifted block by block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from greedynet.fitting.candidates import lies_far
from greedynet.fitting.lifted_blocks import LiftedBlocks, lifted
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import DeepPath, ShallowPath
from greedynet.model.ramps import Ramps
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Evidence
from greedynet.rows.blocks import Blocks, as_blocks
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import Sampling
from greedynet.rows.splitting import Split
from greedynet.support.context import FitContext

# Of the sample for the knots, beside the seeds of other samples.
_KNOTS = 2


@dataclass(frozen=True, eq=False)
class Depth:
    """A first layer, and how a construction takes place over it.

    Attributes
    ----------
    ramps : Ramps
    lies_far : bool
        Whether some rows lie far from the others, seen in the columns: ramps are 0 or 1 for many.
    """

    ramps: Ramps
    lies_far: bool = False

    @staticmethod
    def of(data: TrainingData, plan: Plan) -> "Depth | None":
        """Return the first layer for data; None if no column needs one, or nodes are too few.

        It may have a share of all nodes, which is divided equally between the columns.
        """
        settings = plan.settings.depth
        n_hinges = int(settings.share * plan.limits.max_neurons) // data.rows.n_features
        n_ramps = min(settings.most_ramps, n_hinges + 1)
        if n_ramps < 2:
            return None
        rows = _some(data.rows, data.sampling, plan.random_state)
        ramps = Ramps.at_quantiles(rows.X, rows.weights, n_ramps)
        far = lies_far(rows.X, plan.settings.ladder.far)
        return Depth(ramps, far) if ramps.n_hinges else None

    def lifted(self, rows: Rows) -> Rows:
        """Return rows with the columns and their ramps as inputs."""
        return lifted(rows, self.ramps)

    def lifted_data(self, data: TrainingData, plan: Plan, context: FitContext) -> TrainingData:
        """Return the data of a construction over the first layer."""
        held_out = None if data.validation is None else self.lifted(data.validation)
        rows, sampling = data.rows, data.sampling
        if isinstance(rows, Rows) and sampling is None:
            return replace(data, rows=self.lifted(rows), validation=held_out)
        if sampling is not None:
            # Rows of the final correction are kept in memory, and are wider now.
            most = sampling.settings.many_numbers // self.ramps.n_lifted
            sampling = replace(sampling, larger=min(sampling.larger, most))
        blocks = LiftedBlocks(as_blocks(rows, context.pool, plan.settings.blocks), self.ramps)
        return replace(data, rows=blocks, validation=held_out, sampling=sampling)

    def lifted_folds(self, folds: Sequence[Split]) -> list[Split]:
        """Return folds over the first layer."""
        return [(self.lifted(train), self.lifted(held_out)) for train, held_out in folds]

    def plan(self, plan: Plan) -> Plan:
        """Return the plan for the second layer, which has the nodes that are left."""
        limits, settings = plan.limits, plan.settings
        ladder = settings.ladder
        squares = replace(settings.least_squares, max_block=settings.depth.max_block)
        if not self.lies_far:
            ladder = replace(ladder, far=np.inf)
        left = max(1, limits.max_neurons - self.ramps.n_hinges)
        return replace(
            plan,
            limits=replace(limits, max_neurons=left),
            n_columns=self.ramps.n_features,
            shape=None if plan.shape is None else plan.shape.of_columns(self.ramps.lifted_from),
            settings=replace(settings, ladder=ladder, least_squares=squares),
        )

    def network(self, over: Network) -> DeepNetwork:
        """Return a network over lifted rows as one of two layers."""
        assert isinstance(over, ShallowNetwork)
        return DeepNetwork(self.ramps, over)

    def on_step(self, on_step: OnStep) -> OnStep:
        """Return the function for the steps of a construction over the first layer."""
        return lambda over, error, n_nodes: on_step(
            lambda: self.network(over()), error, n_nodes + self.ramps.n_hinges
        )

    def lowered(self, path: ShallowPath) -> DeepPath:
        """Return the path of a construction over the first layer as one of two layers."""
        n_hinges, finished, evidence = self.ramps.n_hinges, path.finished, path.evidence
        is_line = path.stop_reason is StopReason.LINE
        same = {field.name: getattr(path, field.name) for field in fields(path)}
        changed = {
            "n_nodes": path.n_nodes + n_hinges,
            "best_n_nodes": path.best_n_nodes + n_hinges,
            "stop_reason": StopReason.CURVES if is_line else path.stop_reason,
            "network": self.network(path.network),
            "finished": None if finished is None else self.network(finished),
            "evidence": None if evidence is None else self._lowered_evidence(evidence),
        }
        return DeepPath(**{**same, **changed})

    def _lowered_evidence(self, evidence: Evidence) -> Evidence:
        """Return the evidence without the ramps."""
        d, rows, unseen = self.ramps.n_features, evidence.rows, evidence.unseen
        if unseen is not None:
            # What was a line over ramps is none over the columns.
            unseen = replace(unseen, X=unseen.X[:, :d], line=None)
        return replace(evidence, rows=replace(rows, X=rows.X[:, :d]), unseen=unseen)


def _some(rows: Rows | Blocks, sampling: Sampling | None, seed: int) -> Rows:
    """Return the rows whose quantiles are the knots: all, or a sample of many."""
    if sampling is None and isinstance(rows, Rows):
        return rows
    size = len(rows) if sampling is None else min(len(rows), sampling.size)
    drawn = np.random.default_rng([seed, _KNOTS]).choice(len(rows), size, replace=False)
    return rows.take(np.sort(drawn))
