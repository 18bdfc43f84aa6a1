"""The penalised log-loss over networks of a given shape (`rows/shape.py`).

The unknowns are `W`, `C` and the slopes `t` that are left when every neuron has what it may take
away, `L = t - V' C` with `V_jk = w_jk [s_j sigma_k w_jk < 0]`. With signs of `C` and of `t`, this
is a network of the shape. The derivatives of the loss by `C` and `W` are smaller by `V dL` and by
`C dL'` where `V` is not zero.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from greedynet.activations import Activation
from greedynet.correction.limited_memory import minimised_within
from greedynet.correction.log_loss_descent import (
    MEMORY,
    TOLERANCE,
    PenalisedLogLoss,
    PreparedRows,
    Weights,
)
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

Objective = Callable[[Float64], tuple[float, Float64]]


class ShapedLogLoss:
    """A function of all weights of a network as a function of the unknowns of a shape.

    The network to start from has one output, and its neurons keep the signs of their outer weights.
    """

    def __init__(self, objective: Objective, start: Weights, shape: Shape) -> None:
        self._objective, self._shape = objective, shape
        self._signs = np.where(start.C[:, 0] < 0, -1.0, 1.0)
        W = np.clip(start.W, *shape.limits(self._signs))
        start = replace(start, W=W)
        slopes = replace(start, L=start.L + self._taken(W).T @ start.C)
        self.limits = self._limits_of(start)
        self.start = np.clip(slopes.flat(), *self.limits)
        self._like = start

    def _taken(self, W: Float64) -> Float64:
        return self._shape.taken(W, self._signs)

    def _limits_of(self, start: Weights) -> tuple[Float64, Float64]:
        """Return the smallest and largest unknowns."""
        signs, slopes = self._signs[:, None], np.append(self._shape.monotone, 0.0)[:, None]
        ends = zip(
            self._shape.limits(self._signs),
            (np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)),
            (np.where(slopes > 0, 0.0, -np.inf), np.where(slopes < 0, 0.0, np.inf)),
            strict=True,
        )
        low, high = (Weights(*parts).flat() for parts in ends)
        return low, high

    def weights(self, unknowns: Float64) -> Weights:
        """Return the network of unknowns."""
        at = self._like.like(unknowns)
        return replace(at, L=at.L - self._taken(at.W).T @ at.C)

    def evaluate(self, unknowns: Float64) -> tuple[float, Float64]:
        """Return the value and the gradient."""
        network = self.weights(unknowns)
        value, gradient = self._objective(network.flat())
        by = self._like.like(gradient)
        takes = self._shape.takes(network.W, self._signs)
        W = by.W - takes * (network.C @ by.L.T)
        C = by.C - self._taken(network.W) @ by.L
        return value, Weights(W, C, by.L).flat()


def descend_in_shape(
    rows: Rows | PreparedRows,
    start: Weights,
    ridge: float,
    n_steps: int,
    activation: Activation,
    shape: Shape,
    *,
    enough: float = 0.0,
    context: FitContext | None = None,
) -> Weights:
    """Return a network of a shape with a smaller penalised log-loss, as `descend` does of any."""
    context = context or FitContext()
    penalised = PenalisedLogLoss(
        rows, start, ridge, activation, linear_term=True, pool=context.pool
    )

    def objective(flat: Float64) -> tuple[float, Float64]:
        context.check()
        return penalised.evaluate(flat)

    shaped = ShapedLogLoss(objective, start, shape)
    ends = (n_steps, MEMORY, TOLERANCE, context.clock.is_over, enough)
    found = minimised_within(shaped.limits, shaped.evaluate, shaped.start, *ends)
    return shaped.weights(found)
