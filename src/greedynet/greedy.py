"""The one greedy loop: ask the search, append to the factor, judge, stop (GSN 3)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from greedynet.factor import Factor
from greedynet.outer import misfit, outer_weights
from greedynet.search.base import Candidate, Search
from greedynet.stopping import Judge, Limits, StopReason, best_width

Float64 = NDArray[np.float64]


@dataclass(eq=False)
class Growth:
    """What the loop leaves behind: one entry per neuron, errors with one more in front."""

    factor: Factor
    n_affine: int
    candidates: list[Candidate] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reason: StopReason = StopReason.MAX_NODES

    @property
    def best(self) -> int:
        """Number of neurons to keep: the best score, or all where nothing was scored."""
        return best_width(self.scores) if self.scores else len(self.candidates)


def grow(
    search: Search,
    growth: Growth,
    limits: Limits,
    judge: Judge | None = None,
    *,
    alpha: float = 0.0,
    evaluate: Callable[[Candidate], Float64] | None = None,
    on_step: Callable[[Growth], bool] | None = None,
) -> Growth:
    """Grow neuron by neuron until a limit is reached; the growth is filled in place.

    Parameters
    ----------
    search : Search
        Proposes neurons.
    growth : Growth
        With the factor of the target, the affine columns already in it.
    limits : Limits
        When to end.
    judge : Judge or None
        Scores each width; None to keep every neuron.
    alpha : float
        Ridge on the outer weights.
    evaluate : callable or None
        Gives a candidate's normalised column on the judge's rows.
    on_step : callable or None
        Called after each neuron; True from it ends the loop.
    """
    factor, start = growth.factor, time.perf_counter()
    size = float(np.sqrt(factor.residual_norm**2 + np.sum(factor.z**2))) or 1.0

    def record(column: Float64 | None) -> StopReason | None:
        weights = outer_weights(factor.R, factor.z, alpha, growth.n_affine)
        sse = factor.residual_norm**2 + (misfit(factor.R, factor.z, weights) if alpha else 0.0)
        growth.errors.append(float(np.sqrt(sse)) / size)
        if judge is not None:
            growth.scores.append(judge.score(factor, column, weights, sse))
        growth.seconds.append(time.perf_counter() - start)
        return limits.reached(growth.errors, growth.scores)

    reason = record(None)
    while reason is None:
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
