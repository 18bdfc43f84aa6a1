"""Two hidden layers: the same construction on rows that are lifted by a layer of ramps.

    rows -> ramps at quantiles -> lifted rows -> network over them -> network of two layers

Nothing of the construction changes: neurons over lifted columns are neurons of a second layer. The
knots are quantiles of the inputs; they do not depend on the outputs, so that held-out rows tell the
truth about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from greedynet.fitting.candidates import lies_far
from greedynet.fitting.limits import Limits
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.fitting.settings import DepthSettings
from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import DeepPath, ShallowPath
from greedynet.model.ramps import Ramps
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Evidence
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split


@dataclass(frozen=True, eq=False)
class Depth:
    """A first layer, and how a construction takes place over it.

    Attributes
    ----------
    ramps : Ramps
    """

    ramps: Ramps

    @staticmethod
    def of(rows: Rows, limits: Limits, settings: DepthSettings) -> "Depth | None":
        """Return the first layer for rows; None if no column needs one, or nodes are too few.

        It may have a share of all nodes, which is divided equally between the columns.
        """
        n_hinges = int(settings.share * limits.max_neurons) // rows.n_features
        n_ramps = min(settings.most_ramps, n_hinges + 1)
        if n_ramps < 2:
            return None
        ramps = Ramps.at_quantiles(rows.X, rows.weights, n_ramps)
        return Depth(ramps) if ramps.n_hinges else None

    def lifted(self, rows: Rows) -> Rows:
        """Return rows with the columns and their ramps as inputs."""
        return replace(rows, X=self.ramps.lift(rows.X), columns=None)

    def lifted_data(self, data: TrainingData) -> TrainingData:
        """Return the data of a construction over the first layer."""
        assert isinstance(data.rows, Rows)
        held_out = None if data.validation is None else self.lifted(data.validation)
        return replace(data, rows=self.lifted(data.rows), validation=held_out)

    def lifted_folds(self, folds: Sequence[Split]) -> list[Split]:
        """Return folds over the first layer."""
        return [(self.lifted(train), self.lifted(held_out)) for train, held_out in folds]

    def plan(self, plan: Plan, rows: Rows) -> Plan:
        """Return the plan for the second layer, which has the nodes that are left.

        Whether rows lie far from the others is seen in the columns: ramps are 0 or 1 for many.
        """
        limits, settings = plan.limits, plan.settings
        ladder = settings.ladder
        squares = replace(settings.least_squares, max_block=settings.depth.max_block)
        if not lies_far(rows.X, ladder.far):
            ladder = replace(ladder, far=np.inf)
        left = max(1, limits.max_neurons - self.ramps.n_hinges)
        return replace(
            plan,
            limits=replace(limits, max_neurons=left),
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
