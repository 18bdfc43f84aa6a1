"""`Reweighted`: other losses, by iteratively reweighted least squares.

At its minimum, a loss `sum_i L(r_i)` has the derivatives of `sum_i v_i r_i^2`, up to a factor, with

    v_i = L'(r_i) / r_i.

So the network grown by the Chebyshev greedy algorithm in the norm of the loss determines row
weights; a network is constructed with them as with any sample weights; and its neurons are
corrected jointly while the weights are updated from the residuals. If the weights would single out
few rows, as for the maximum norm and for powers above 2, the network is constructed without
weights, and its outer weights are finally solved by the loss itself.

A robust loss is meant for data with outliers. Rows beyond ten robust standard deviations affect
only the outer weights, as little as the loss permits: neurons, width and ridge are chosen without
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.construct import construct
from greedynet.fitting.growth import Growth
from greedynet.fitting.make_search import dependent
from greedynet.fitting.objective import NOTHING_TO_CORRECT, Finished, Objective
from greedynet.fitting.objectives.following import corrected_for_loss, residuals_of
from greedynet.fitting.objectives.least_squares import LeastSquares
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.scores import Judge, neuron_cost
from greedynet.fitting.settings import ReweightingSettings
from greedynet.linalg.factor import Factor
from greedynet.losses import Loss, Squared
from greedynet.losses.base import is_robust, singles_out_rows
from greedynet.losses.loss_factor import LossFactor
from greedynet.losses.median import weighted_median
from greedynet.losses.reweighting import row_weights
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# Ratio of the standard deviation to the median absolute value, for normal numbers.
_DEVIATION = 1.4826


@dataclass(frozen=True)
class Reweighted(Objective):
    """The sum of a loss over rows and outputs.

    Attributes
    ----------
    loss : Loss
    """

    loss: Loss

    def factor(self, rows: Rows, plan: Plan, context: FitContext) -> Factor:
        """Return the factor whose weights minimise the loss."""
        return LossFactor(rows.Y, rows.weights, self.loss, dependent(plan), context.journal)

    def judge(self, problem: Problem) -> Judge | None:
        """Return validation by the loss, generalised cross-validation, or None."""
        return problem.regression_judge(self.loss)

    def growth_plan(self, plan: Plan) -> Plan:
        """Return the plan of a growth without correction, which only determines row weights."""
        return replace(plan, correct=False)

    def grown_width(self, n_neurons: int, plan: Plan) -> int:
        """Return a width that suffices for row weights: each neuron costs one linear programme."""
        return min(n_neurons, plan.settings.reweighting.max_grown)

    def is_final(self, growth: Growth, path: ShallowPath) -> bool:
        """Whether no neuron is kept, or none may be changed."""
        return path.kept.n_neurons == 0 or path.stop_reason in NOTHING_TO_CORRECT

    def correct(self, problem: Problem, growths: Sequence[Growth], path: ShallowPath) -> Finished:
        """Construct networks for weighted rows, then correct while the weights are updated.

        All of it on scaled rows: weights that follow from residuals are then the same in all units.
        """
        rows, loss = problem.rows, self.loss
        # Bounds are in original units; they are of the finished network.
        plan = replace(
            problem.plan, correct=True, loss=Squared(), limits=problem.limits, bounds=None
        )
        path = replace(path, network=problem.network_of_scaled_rows(growths[0]))
        weighting = _Weighting.by(path, loss, rows, problem.settings.reweighting)
        if singles_out_rows(loss):
            # With weights that grow with the residuals, few rows would determine the neurons.
            data = TrainingData(rows, problem.validation)
            context = problem.context.branch("squares")
            network = construct(data, plan, LeastSquares(), context=context).kept
        else:
            network = self._constructed(problem, plan, weighting)
        near = weighting.near(rows, network)
        context = problem.context.branch("rounds")
        network = corrected_for_loss(network, rows, replace(plan, loss=loss), near, context)
        size = loss.size(rows.Y - _center(rows, plan), rows.weights) or 1.0
        error = loss.size(residuals_of(network, rows), rows.weights) / size
        return Finished(problem.coordinates.in_original_units(network), error)

    def _constructed(self, problem: Problem, plan: Plan, weighting: "_Weighting") -> ShallowNetwork:
        """Construct networks, each for rows weighted by the residuals of the one before.

        The first weights are rough, the last ones have settled; so it is the last network, unless
        the loss of an earlier one on held-out rows is clearly smaller.
        """
        held_out, settings = problem.validation, problem.settings.reweighting
        networks = [weighting.network]
        for i in range(settings.n_constructions):
            problem.context.tell("growing a network for rows weighted by their residuals")
            data = weighting.applied(problem.rows, held_out, networks[-1])
            context = problem.context.branch(f"squares {i}")
            networks.append(construct(data, plan, LeastSquares(), context=context).kept)
        *earlier, last = networks[1:]
        if held_out is None:
            return last

        def size(network: ShallowNetwork) -> float:
            return self.loss.size(residuals_of(network, held_out), held_out.weights)

        best = min(earlier, key=size, default=last)
        return best if size(best) < settings.clearly_better * size(last) else last


@dataclass(frozen=True, eq=False)
class _Weighting:
    """The row weights of a loss, given residuals.

    Attributes
    ----------
    loss : Loss
    network : ShallowNetwork
        The network of a growth, at the width with the most informative residuals.
    scale : float
        Its median absolute residual.
    settings : ReweightingSettings
    """

    loss: Loss
    network: ShallowNetwork
    scale: float
    settings: ReweightingSettings

    @staticmethod
    def by(
        grown: ShallowPath, loss: Loss, rows: Rows, settings: ReweightingSettings
    ) -> "_Weighting":
        """Return the weighting given by the residuals of a growth.

        For a robust loss, the width with the smallest median residual is used, among those with few
        degrees of freedom: the loss of all rows may be dominated by outliers.
        """
        spent = neuron_cost(rows.X.shape[1]) * np.arange(len(grown.n_nodes)) / len(rows)
        # Wider networks may interpolate most rows: their residuals are not informative.
        widths = grown.n_nodes[spent < settings.max_spent]
        network = grown.network.truncate(int(min(grown.kept.n_nodes, widths[-1])))
        if is_robust(loss):
            n_tried = min(settings.n_widths_tried, len(widths))
            tried = np.unique(np.geomspace(1, len(widths), n_tried).astype(int)) - 1
            networks = [grown.network.truncate(int(widths[i])) for i in tried]
            scores = [
                _median_residual(n, rows) / (1 - spent[n.n_nodes - widths[0]]) for n in networks
            ]
            network = networks[int(np.argmin(scores))]
        return _Weighting(loss, network, _median_residual(network, rows), settings)

    def near(self, rows: Rows, network: ShallowNetwork) -> NDArray[np.bool_]:
        """Whether rows are not outliers; all are kept unless the loss is robust."""
        if not is_robust(self.loss):
            return np.ones(len(rows), dtype=bool)
        limit = self.settings.outlier * _DEVIATION * self.scale
        far = np.abs(residuals_of(network, rows)[:, 0]) > limit
        return ~far if np.count_nonzero(~far) > len(rows) // 2 else np.ones_like(far)

    def applied(self, rows: Rows, validation: Rows | None, network: ShallowNetwork) -> TrainingData:
        """Return training and validation rows weighted by the residuals of a network."""
        near = rows.take(np.flatnonzero(self.near(rows, network)))
        judged = None if validation is None else self._weighted(validation, network)
        return TrainingData(self._weighted(near, network), judged)

    def _weighted(self, rows: Rows, network: ShallowNetwork) -> Rows:
        """Return rows weighted by their residuals; residuals below the median are raised to it.

        Uneven weights lower the effective sample size to `(sum v)^2 / sum v^2`.
        """
        r = residuals_of(network, rows)[:, 0]
        v = row_weights(self.loss, r, rows.weights, self.scale)
        return Rows(rows.X, rows.Y, v, float(np.sum(v) ** 2 / np.sum(v**2)))


def _median_residual(network: ShallowNetwork, rows: Rows) -> float:
    return weighted_median(np.abs(residuals_of(network, rows)[:, 0]), rows.weights)


def _center(rows: Rows, plan: Plan) -> Float64:
    """What a relative error is relative to: the outputs about their mean, or about zero."""
    mean = np.average(rows.Y, axis=0, weights=rows.weights)
    return mean if plan.linear_term else np.zeros_like(mean)
