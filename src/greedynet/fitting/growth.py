"""The greedy loop: search, append to the factor, score, stop (GSN 3)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from greedynet.fitting.limits import Limits, best_width
from greedynet.fitting.scores import Judge
from greedynet.linalg.factor import Factor
from greedynet.linalg.triangular import outer_weights
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.search.base import Candidate, Search
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(eq=False)
class Growth:
    """A growing network: lists with one entry per neuron, errors with an additional first one."""

    factor: Factor
    n_affine: int
    search: Search
    judge: Judge | None = None
    candidates: list[Candidate] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reason: StopReason = StopReason.MAX_NODES

    @property
    def best(self) -> int:
        """Number of neurons to keep: the width with the best score, or all without scores."""
        return best_width(self.scores) if self.scores else len(self.candidates)

    @property
    def points(self) -> Float64:
        """Inner weights of the neurons, bias last."""
        return np.array([found.point for found in self.candidates])

    def release_search(self) -> None:
        """End the growth and free the memory of the search."""
        self.search = _NoSearch()

    def truncated(self, n_neurons: int) -> "Growth":
        """Return the records of the first `n_neurons` neurons; the factor is unchanged."""
        return replace(
            self,
            candidates=self.candidates[:n_neurons],
            errors=self.errors[: n_neurons + 1],
            scores=self.scores[: n_neurons + 1],
            seconds=self.seconds[: n_neurons + 1],
        )

    def path(self, network: ShallowNetwork, limits: Limits, *, validated: bool) -> ShallowPath:
        """Return the growth as a path.

        Parameters
        ----------
        network : ShallowNetwork
            The network of all neurons.
        limits : Limits
            The limits set by the user.
        validated : bool
            Whether the scores are errors on held-out rows, or over folds.
        """
        n_grown = len(self.candidates)
        best = n_grown if limits.exact else self.best
        reason = self.reason
        if reason is StopReason.MAX_NODES:
            scored = n_grown < limits.max_neurons
        else:
            scored = best < n_grown and reason is not StopReason.CALLBACK
        if scored:
            # Whatever ended the path, the score determined which width is kept.
            reason = StopReason.VALIDATED
        widths = network.n_nodes - network.n_neurons + np.arange(network.n_neurons + 1)
        scores = np.array(self.scores) if self.scores else None
        return ShallowPath(
            indices=np.array([found.index for found in self.candidates], dtype=np.intp),
            n_nodes=widths,
            training_errors=np.array(self.errors),
            validation_errors=scores if validated else None,
            scores=scores,
            seconds=np.array(self.seconds),
            best_n_nodes=int(widths[best]),
            stop_reason=reason,
            network=network,
        )


class _NoSearch:
    """A search that finds nothing."""

    def propose(self, factor: Factor) -> None:
        return None

    def accept(self, factor: Factor) -> None: ...

    def reject(self) -> None: ...


def grow(
    growth: Growth,
    limits: Limits,
    *,
    alpha: float = 0.0,
    evaluate: Callable[[Candidate], Float64] | None = None,
    on_step: Callable[[Growth], bool] | None = None,
    context: FitContext | None = None,
) -> Growth:
    """Grow neuron by neuron until a limit is reached; the growth is modified in place.

    A growth that has already started is continued.

    Parameters
    ----------
    growth : Growth
        With the factor of the target, including the affine columns, the search that proposes
        neurons, and the judge that scores each width; without a judge, every neuron is kept.
    limits : Limits
        When to stop.
    alpha : float
        Ridge on the outer weights.
    evaluate : callable or None
        Returns the normalised column of a candidate on the rows of the judge.
    on_step : callable or None
        Called after each neuron; the loop ends if it returns True.
    context : FitContext or None
        Checked before every neuron for cancellation of the fit, and for the time that is left.
    """
    context = context or FitContext()
    factor, search, judge = growth.factor, growth.search, growth.judge
    start = time.perf_counter() - (growth.seconds[-1] if growth.seconds else 0.0)
    size = factor.target_size or 1.0

    def record(column: Float64 | None) -> StopReason | None:
        weights = outer_weights(factor.R, factor.z, alpha, growth.n_affine)
        square = factor.square_left(weights, alpha)
        growth.errors.append(float(np.sqrt(square)) / size)
        if judge is not None:
            growth.scores.append(judge.score(factor, column, weights, square))
        growth.seconds.append(time.perf_counter() - start)
        return limits.reached(growth.errors, growth.scores)

    begun = bool(growth.errors)
    reason = limits.reached(growth.errors, growth.scores) if begun else record(None)
    while reason is None:
        context.check()
        # A network without any node would be nothing.
        if (growth.candidates or growth.n_affine) and context.clock.is_over():
            reason = StopReason.MAX_SECONDS
            break
        found = search.propose(factor)
        if found is None:
            reason = StopReason.EXHAUSTED
        elif factor.append(found.column):
            search.accept(factor)
            growth.candidates.append(found)
            reason = record(evaluate(found) if evaluate else found.column)
            if on_step is not None and on_step(growth):
                reason = StopReason.CALLBACK
        else:
            search.reject()
    growth.reason = reason
    return growth
