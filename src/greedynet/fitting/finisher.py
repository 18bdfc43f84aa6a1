"""From a grown path to the finished network: correct, prune, exchange or average.

Growing takes one neuron after the other and never looks back. Here the neurons are corrected
together, those that do not pay are left out, and then, by what the path says of the data:

* Where the error still fell fast with every neuron, what is left is approximation error. Neurons
  are *exchanged*: more are grown, all corrected, and the least useful left out again.
* Where it had stopped falling, what is left is noise, and the choice of neurons depends on it. A
  second network is grown from another pool of directions, and the two are *averaged*.

Every step is kept only if the score, on validation rows or by generalised cross-validation, agrees.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation, degree_of
from greedynet.correction.all_rows.inner_weights import corrected_on_all_rows
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.fitting.sketch import Sketch
from greedynet.fitting.stopping import neuron_cost
from greedynet.model.coordinates import Frame, Solved
from greedynet.model.network import ShallowNetwork
from greedynet.rows.rows import Rows
from greedynet.search.base import Candidate
from greedynet.support.checks import safe_norm
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.progress import tell
from greedynet.support.types import Float64

GrowMore = Callable[[Float64, int, int], Float64]

# Neurons are grown beyond those wanted by this factor, and the best kept.
OVERGROWTH = 1.2
N_CYCLES = 8
_CORRECTION_STEPS = 5
_STEPS_AFTER_PRUNING = 3
# On a smooth objective steps go on to pay; on one with kinks they soon do not.
_SMOOTH_TIMES = 4
_STEPS_TO_CONVERGE = 20
_ALL_BUT_REPRODUCED = 1e-3
_PRUNED_TO = 2 / 3
_WORTH_A_CYCLE = 0.96
# A neuron that brings less of its length is left out: it is dead, or a copy.
_DEPENDENT = 1e-10
# Multiplications of a correction step beyond which neurons are not exchanged.
_MAX_CYCLE_COST = 3e9


def approximation_error_left(errors: Sequence[float], n_rows: float, n_affine: int, d: int) -> bool:
    """Whether the squared error of a path fell to a third with the last doubling of the neurons.

    The squared errors are those of generalised cross-validation. Noise stops falling; a function
    that is not yet resolved does not.
    """
    spent = n_affine + neuron_cost(d) * np.arange(len(errors))
    with np.errstate(divide="ignore"):
        squares = np.square(errors) / np.square(np.maximum(0.0, 1.0 - spent / n_rows))
    best = int(np.argmin(squares))
    return 4 * best >= 3 * (len(errors) - 1) and bool(3 * squares[best] < squares[best // 2])


@dataclass(frozen=True, eq=False)
class Finisher:
    """What it takes to finish a network.

    Attributes
    ----------
    frame : Frame
        The coordinates.
    rows : Rows
        Scaled training rows.
    validation : Rows or None
        Scaled validation rows; without them networks are compared by cross-validation.
    activation : Activation
    single_output : bool
    alpha : float or None
        Ridge on the outer weights of the normalised neurons; None for the one of the correction.
    sketch : Sketch or None
        All rows, where the others are a sample: the outer weights are solved on these.
    journal : Journal
        What corrections came to in an earlier run.
    """

    frame: Frame
    rows: Rows
    validation: Rows | None
    activation: Activation
    single_output: bool
    alpha: float | None = None
    sketch: Sketch | None = None
    journal: Journal = NO_JOURNAL

    @cached_property
    def _affine(self) -> Float64:
        return self.frame.affine_columns(self.rows)

    @property
    def _times(self) -> int:
        return 1 if degree_of(self.activation) == 1 else _SMOOTH_TIMES

    @property
    def _steps(self) -> int:
        return self._times * _STEPS_AFTER_PRUNING

    def prune(
        self, points: Float64, most: int, *, exact: bool, turn: int = 0
    ) -> VariableProjection:
        """Correct neurons and leave out those that do not pay.

        Parameters
        ----------
        points : ndarray of shape (k, d + 1)
            Neurons to start from.
        most : int
            Neurons to keep at most.
        exact : bool
            Whether to keep so many, whatever the score says.
        turn : int
            Which of some networks that are pruned at once.
        """
        state = VariableProjection(
            self.rows,
            self._affine,
            points,
            activation=self.activation,
            journal=self.journal.branch(f"network {turn}"),
        )
        tell(f"correcting {len(points)} neurons")
        state.settle(self._times * _CORRECTION_STEPS)
        if state.n_neurons > most:
            state = state.without(most).settle(self._steps)
        best, worse = state, 0
        while state.n_neurons > 0 and worse < 2 and not exact:
            state = state.without(int(state.n_neurons * _PRUNED_TO))
            tell(f"pruning: {state.n_neurons} neurons")
            state.settle(self._steps)
            if self.score([state]) < self.score([best]):
                best, worse = state, 0
            else:
                worse += 1
        return best

    def exchange(self, state: VariableProjection, grow_more: GrowMore) -> VariableProjection:
        """Exchange neurons for better ones, as long as the score falls by two per cent."""
        n = state.n_neurons
        size = n * self.rows.X.shape[1]
        affordable = len(self.rows) * size * min(size, MAX_BLOCK) < _MAX_CYCLE_COST
        for cycle in range(N_CYCLES if n and affordable else 0):
            tell(f"exchanging some of {n} neurons, {cycle + 1} of at most {N_CYCLES} times")
            more = grow_more(state.points, max(1, int((OVERGROWTH - 1) * n)), cycle)
            if len(more) == n:
                break
            tried = state.at(more)
            tried.settle(self._steps)
            for left in (n + (len(more) - n) // 2, n):
                tried = tried.without(left).settle(self._steps)
            tried.settle(self._steps)
            before, after = self.score([state]), self.score([tried])
            if after < before:
                state = tried
            if not after < _WORTH_A_CYCLE * before:
                break
        return state

    def refill(
        self, state: VariableProjection, n_neurons: int, grow_more: GrowMore
    ) -> VariableProjection:
        """Replace neurons that a correction has made dead, or copies of others, by new ones."""
        factor = self.frame.factor(self.rows, _DEPENDENT)
        kept = state.alive
        kept[kept] = [factor.append(column) for column in state.columns[:, kept].T]
        missing = n_neurons - int(np.count_nonzero(kept))
        if missing <= 0:
            return state
        return state.at(grow_more(state.points[kept], missing, N_CYCLES))

    def converge(self, state: VariableProjection) -> VariableProjection:
        """Correct on, as far as it goes, where the rows are all but reproduced."""
        if self.error([state]) > _ALL_BUT_REPRODUCED:
            return state
        tell(f"correcting {state.n_neurons} neurons to the end")
        further = state.at(state.points)
        further.settle(_STEPS_TO_CONVERGE)
        return further if self.score([further]) < self.score([state]) else state

    def on_all_rows(self, states: Sequence[VariableProjection]) -> Sequence[VariableProjection]:
        """Correct the neurons of all networks, as one, on all rows where these are a sample."""
        if self.sketch is None or self.alpha is not None:
            return states
        points = np.concatenate([state.points[state.alive] for state in states])
        ridge = float(np.mean([state.ridge for state in states]))
        state = VariableProjection(self.rows, self._affine, points, ridge, self.activation)
        return [corrected_on_all_rows(state, self.sketch.many, self.frame, self.activation)]

    def score(self, states: Sequence[VariableProjection]) -> float:
        """Score the mean of some networks: relative error on the validation rows, or mean GCV."""
        if self.validation is None:
            return float(np.mean([state.gcv for state in states])) * self.rows.Y.shape[1]
        return self._error(states, self.validation)

    def error(self, states: Sequence[VariableProjection]) -> float:
        """Relative error on the training rows of the mean of some networks."""
        return self._error(states, self.rows)

    def _error(self, states: Sequence[VariableProjection], rows: Rows) -> float:
        affine = self.frame.affine.evaluate(rows.X)
        mean = np.mean([state.predict(rows.X, affine) for state in states], axis=0)
        size = safe_norm(rows.weighted(rows.Y)) or 1.0
        return safe_norm(rows.weighted(rows.Y - mean)) / size

    def network(self, states: Sequence[VariableProjection]) -> ShallowNetwork:
        """Return the mean of some networks as one network.

        The outer weights are solved once more, on all rows.
        """
        alive = [state.points[state.alive] for state in states]
        points = np.concatenate(alive)
        ridge = float(np.mean([state.ridge for state in states]))
        owner = np.repeat(np.arange(len(states)), [len(of_state) for of_state in alive])
        solve = self._solver(points, ridge)
        networks = [
            solve(np.flatnonzero(owner == i), state.ridge) for i, state in enumerate(states)
        ]
        if len(networks) == 1:
            return networks[0]
        return _mean(networks, solve(np.arange(len(points)), ridge))

    def solved(self, points: Float64) -> ShallowNetwork:
        """Return the network of neurons as they are, outer weights by least squares or `alpha`."""
        return self._solver(points, 0.0)(np.arange(len(points)), 0.0)

    def _solver(
        self, points: Float64, ridge: float
    ) -> Callable[[NDArray[np.intp], float], ShallowNetwork]:
        """Return what gives the network of some of the neurons, at a given ridge like this one."""
        norms = np.ones(len(points))
        if self.alpha is not None:
            norms = np.linalg.norm(self._columns(points), axis=0)
            norms[norms == 0] = 1.0
        gram = None
        if self.sketch is not None:
            gram = self.sketch.products(self.frame, points, self.activation, ridge)
            gram = gram.divided(np.append(np.ones(self._affine.shape[1]), norms))
        n_affine = self._affine.shape[1]

        def solve(chosen: NDArray[np.intp], ridge: float) -> ShallowNetwork:
            if gram is not None:
                solved: Solved = gram.triangle(np.append(np.arange(n_affine), n_affine + chosen))
            else:
                solved = factor = self.frame.factor(self.rows, _DEPENDENT)
                columns = self._columns(points[chosen]) / norms[chosen]
                kept = [factor.append(column) for column in columns.T]
                chosen = chosen[np.array(kept, dtype=bool)]
            return self.frame.network(
                solved,
                [Candidate(points[i], float(norms[i]), norms[:0], -1) for i in chosen],
                self.activation,
                alpha=ridge if self.alpha is None else self.alpha,
                single_output=self.single_output,
            )

        return solve

    def _columns(self, points: Float64) -> Float64:
        return self.frame.neuron_columns(self.rows, points, self.activation)


def _mean(networks: Sequence[ShallowNetwork], pooled: ShallowNetwork) -> ShallowNetwork:
    """Return the mean of networks; where all their neurons are in `pooled`, it has its trail."""

    def joined(name: str) -> Float64:
        return np.concatenate([getattr(network, name) for network in networks])

    def mean(name: str) -> Float64 | None:
        values = [getattr(network, name) for network in networks]
        return None if values[0] is None else np.asarray(np.mean(values, axis=0))

    biases = joined("biases")
    return replace(
        pooled,
        inner_weights=joined("inner_weights"),
        biases=biases,
        outer_weights=joined("outer_weights") / len(networks),
        linear_weights=mean("linear_weights"),
        intercept=mean("intercept"),
        trail=pooled.trail if len(biases) == pooled.n_neurons else None,
    )
