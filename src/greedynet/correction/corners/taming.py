"""Taming: a correction of all neurons with a penalty on outputs beyond the margin.

A network `g0` is to predict as before at the rows and between them, and to stay in its corners, at
rows `x_k` of the box that a search finds, within `[low, high]`. All weights of `g`, which has some
more neurons there, minimise

    sum_i (g(x_i) - g0(x_i))^2 + mu sum_k h(dist(g(x_k), [low, high])) + ridge (||W||^2 + ||c||^2)

with Huber's `h(t) = t^2` up to some distance and linear beyond it: corners may be hundreds of
margins away at first. The distances are majorised: with the goals `t_k`, the values of `g` moved
into the margin, `dist(g(x_k), [low, high]) <= |g(x_k) - t_k|`, with equality before the step. So
each step is weighted least squares, solved by variable projection. The outputs of the rows are not
needed: whatever loss or average gave `g0`, its predictions are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Generic, cast

import numpy as np

from greedynet.correction.corners.ascent import Ascent, apart
from greedynet.correction.corners.box import Box, between_nearest
from greedynet.correction.corners.neurons import corner_neurons
from greedynet.correction.corners.settings import TamingSettings
from greedynet.correction.variable_projection import VariableProjection
from greedynet.model.any_network import N, Network, in_layers, with_bounds
from greedynet.model.bounds import OutputBounds
from greedynet.model.deep_network import DeepNetwork
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.support.context import FitContext
from greedynet.support.journal import NO_JOURNAL
from greedynet.support.types import Float64

# Of an output without any range, as a share of its value.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Corners:
    """The margin of a network, and the box in which it should hold.

    Attributes
    ----------
    margin : OutputBounds
        The smallest and the largest value that each output should have.
    box : Box
    settings : TamingSettings
    seed : int
        Of the places that are drawn.
    """

    margin: OutputBounds
    box: Box
    settings: TamingSettings
    seed: int = 0

    @property
    def _widths(self) -> Float64:
        return np.asarray(self.margin.high - self.margin.low)

    @property
    def goals(self) -> OutputBounds:
        """The margin without a little at both ends."""
        by = self.settings.inside * self._widths / 2
        return OutputBounds(self.margin.low + by, self.margin.high - by)

    def drawn(self, n_weights: int) -> Float64:
        """Return places from which a search starts; fewer for a network of many weights."""
        most = self.settings.max_elements // max(1, n_weights)
        n = max(64, min(self.settings.n_drawn, most))
        return self.box.drawn(n, np.random.default_rng([self.seed, 0]))

    def wild(self, network: Network, starts: Float64) -> tuple[Float64, float]:
        """Return places of the box where a network without bounds is beyond its margin.

        Also returns by how much at most, as a share of the width of the margin.
        """
        found = [
            self._beyond(Ascent(network, self.box, output, sign), starts)
            for output in range(network.n_outputs)
            for sign in (1.0, -1.0)
        ]
        return np.concatenate([places for places, _ in found]), max(by for _, by in found)

    def _beyond(self, ascent: Ascent, starts: Float64) -> tuple[Float64, float]:
        """Return places where an output is beyond one end, the farthest first, and by how much."""
        end = (self.margin.high if ascent.sign > 0 else -self.margin.low)[ascent.output]
        width = self._widths[ascent.output]
        end += self.settings.tolerance * width + _ROUNDING * abs(end)
        places, values = ascent.climbed(starts, self.settings.n_climbing_steps)
        beyond = values > end
        if not beyond.any():
            return places[beyond], 0.0
        places, values = places[beyond], values[beyond]
        by = (values.max() - end) / width if width > 0 else np.inf
        return places[apart(places, values, self.settings.apart, self.settings.n_wild)], float(by)

    def weights(self, outputs: Float64, far: float) -> Float64:
        """Return the weights of rows in corners: those of Huber's loss, given their outputs."""
        away = np.abs(outputs - self.goals.apply(outputs))
        width = far * np.where(self._widths > 0, self._widths, np.inf)
        return np.asarray(self.settings.weight / np.maximum(1.0, (away / width).max(axis=1)))


@dataclass(frozen=True, eq=False)
class Tamed(Generic[N]):
    """A network, and how tame it is.

    Attributes
    ----------
    network : ShallowNetwork or DeepNetwork
    beyond : float
        By how much it leaves its margin, as far as a search finds, as a share of its width.
    growth : float
        Factor by which its error is larger than before.
    """

    network: N
    beyond: float
    growth: float


def tamed(
    network: N,
    rows: Rows,
    corners: Corners,
    growth: Callable[[N], float],
    context: FitContext,
    n_more: int = 0,
) -> Tamed[N]:
    """Return the tamest network that was found whose error grows by no more than is allowed.

    The network as it is, if no wild row was found, or no other network is allowed.

    Parameters
    ----------
    network : ShallowNetwork or DeepNetwork
        Its bounds, if any, stay as they are.
    rows : Rows
        Training rows, in original units, whose predictions are held.
    corners : Corners
    growth : callable
        The factor by which the error of a network is larger than that of the given one.
    context : FitContext
    n_more : int, default=0
        Number of neurons that are added.
    """
    settings, plain = corners.settings, with_bounds(network, None)
    drawn = corners.drawn(plain.n_parameters)
    held = Held.of(plain, rows, corners)
    starts = np.concatenate([drawn, held.places[: len(drawn)]])
    wild, beyond = corners.wild(plain, starts)
    best = Tamed(network, beyond, 1.0)
    if not len(wild):
        return best
    taming, far = Taming(held, context), settings.far
    taming.grow(np.concatenate([wild, drawn])[:n_more])
    for _ in range(settings.n_rounds):
        if best.beyond == 0.0 or context.clock.is_over():
            break
        context.tell(f"taming {len(wild)} rows in corners")
        taming.step(wild, drawn, far)
        found, beyond = corners.wild(taming.network, np.concatenate([starts, wild[-len(starts) :]]))
        now = with_bounds(cast(N, taming.network), network.bounds)
        tried = Tamed(now, beyond, growth(now))
        is_allowed = tried.growth <= settings.most_error
        if is_allowed and tried.beyond < best.beyond:
            best = tried
        far = min(settings.most_far, far * (settings.stronger if is_allowed else settings.weaker))
        wild = np.concatenate([wild, found])
    return best


@dataclass(frozen=True, eq=False)
class Held:
    """Where the predictions of a network are held.

    Attributes
    ----------
    network : ShallowNetwork or DeepNetwork
        As it was, without bounds.
    corners : Corners
    places : ndarray of shape (n, d)
        Of training rows, then of rows between them.
    weights : ndarray of shape (n,)
    n_rows : int
        Number of training rows.
    """

    network: Network
    corners: Corners
    places: Float64
    weights: Float64
    n_rows: int

    @staticmethod
    def of(network: Network, rows: Rows, corners: Corners) -> "Held":
        """Return where to hold the predictions of a network, given its training rows."""
        settings, rng = corners.settings, np.random.default_rng([corners.seed, 1])
        if len(rows) > settings.max_rows:
            rows = rows.take(np.sort(rng.choice(len(rows), settings.max_rows, replace=False)))
        places = corners.box.places(rows.X)
        n_copies = max(1, ceil(settings.min_between / len(rows)))
        between = between_nearest(places, n_copies, settings.n_nearest, rng)
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        weights = np.concatenate([weights, np.tile(weights, n_copies)[: len(between)]])
        return Held(network, corners, np.concatenate([places, between]), weights, len(rows))

    def outputs_of(self, network: Network, places: Float64) -> Float64:
        """Return the outputs of a network at some places, `(n, n_outputs)`."""
        return network.predict(self.corners.box.rows(places)).reshape(len(places), -1)

    @cached_property
    def predictions(self) -> Float64:
        """Predictions that are held, within the margin."""
        return self.corners.margin.apply(self.outputs_of(self.network, self.places))

    def scaled(self, places: Float64) -> Float64:
        """Return rows at some places, as the neurons see them, scaled to a cube."""
        return np.asarray(self.inputs.apply(self._lifted(places)), dtype=np.float64)

    @cached_property
    def inputs(self) -> InputScaling:
        """Map the box to a cube; with a first layer, also its ramps, which rise with columns."""
        ends = np.outer([0.0, 1.0], np.ones(self.places.shape[1]))
        return InputScaling.to_cube(self._lifted(ends))

    @cached_property
    def outputs(self) -> OutputScaling:
        """Map the predictions to unit variance."""
        rows = Rows(self.places, self.predictions, self.weights)
        return OutputScaling.of(rows, centred=self.network.has_affine_term)

    def _lifted(self, places: Float64) -> Float64:
        X, (ramps, _) = self.corners.box.rows(places), in_layers(self.network)
        return X if ramps is None else ramps.lift(X)


class Taming:
    """A network whose corners are tamed, in scaled coordinates.

    Parameters
    ----------
    held : Held
    context : FitContext

    Attributes
    ----------
    network : ShallowNetwork or DeepNetwork
        As it is after the last step, in original units.
    """

    def __init__(self, held: Held, context: FitContext) -> None:
        self._held, self._context = held, context.with_journal(NO_JOURNAL)
        self._over = in_layers(held.network)[1]
        points = np.column_stack([self._over.inner_weights, self._over.biases])
        self._points = held.inputs.unfold(points)
        self._damping: float | None = None
        self.network = held.network

    def grow(self, places: Float64) -> None:
        """Add a neuron for each of some places."""
        if len(places):
            rows = self._held.places[: self._held.n_rows]
            found = corner_neurons(self._held.scaled(rows), self._held.scaled(places))
            self._points = np.concatenate([self._points, found])

    def step(self, wild: Float64, drawn: Float64, far: float) -> None:
        """Take some steps; rows of `wild` pull in each of them, those of `drawn` if beyond."""
        for _ in range(self._held.corners.settings.steps_a_round):
            self._context.check()
            self._correct(self._rows(wild, drawn, far))

    def _rows(self, wild: Float64, drawn: Float64, far: float) -> Rows:
        """Return the scaled rows of a step, with goals in the corners."""
        held, corners = self._held, self._held.corners
        outputs = held.outputs_of(self.network, drawn)
        beyond = (outputs != corners.margin.apply(outputs)).any(axis=1)
        wild = np.concatenate([wild, drawn[beyond]])
        outputs = held.outputs_of(self.network, wild)
        return Rows(
            held.scaled(np.concatenate([held.places, wild])),
            held.outputs.apply(np.concatenate([held.predictions, corners.goals.apply(outputs)])),
            np.concatenate([held.weights, corners.weights(outputs, far)]),
        )

    def _correct(self, rows: Rows) -> None:
        """Take a step of variable projection."""
        n, ridge = len(rows), self._held.corners.settings.ridge * float(self._held.weights.sum())
        ones = np.ones((n, int(self._over.has_affine_term)))
        affine = np.hstack([ones, rows.X * ones]) if ones.size else ones
        state = VariableProjection(
            rows,
            rows.weighted(affine),
            self._points,
            ridge,
            self._over.activation,
            context=self._context,
        )
        if self._damping is not None:
            state.damping = self._damping
        state.improve(1)
        self._points, self._damping = state.points, state.damping
        self.network = self._in_original_units(state.weights)

    def _in_original_units(self, weights: Float64) -> Network:
        """Return the network with given weights of the affine columns and the neurons."""
        held, n_affine = self._held, len(weights) - len(self._points)
        inner, weights = held.inputs.fold(self._points), weights * held.outputs.scale
        linear = intercept = None
        if n_affine:
            constant_last = np.roll(weights[:n_affine], -1, axis=0)
            affine = held.inputs.fold(constant_last.T).T
            linear, intercept = affine[:-1], affine[-1] + held.outputs.center
        over = replace(
            self._over,
            inner_weights=inner[:, :-1],
            biases=inner[:, -1],
            outer_weights=weights[n_affine:],
            linear_weights=linear,
            intercept=intercept,
            path_factor=None,
        )
        return replace(held.network, over=over) if isinstance(held.network, DeepNetwork) else over
