"""`PlainGrowth`: networks as the paper grows them, neuron by neuron, of which none is corrected.

A narrower network consists of the first neurons of a wider one, with outer weights of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.growth import Growth, Line, Start, State
from greedynet.fitting.log_loss import shares_weights
from greedynet.fitting.make_search import SearchTask, dependent, make_search
from greedynet.fitting.problem import Problem, grow
from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import outer_weights
from greedynet.losses import is_squared
from greedynet.losses.base import LossFactor
from greedynet.losses.logistic import RIDGE, Logistic, LogisticFactor, log_loss
from greedynet.model.candidate import MEAN, Candidate
from greedynet.model.coordinates import SolvedNeurons
from greedynet.model.network import Network
from greedynet.rows.scaling import InputScaling
from greedynet.search import Proposal
from greedynet.support.types import Float64


class Grown(NamedTuple):
    """The first neurons of a growth, and the weights of affine columns and normalised neurons."""

    n_neurons: int
    weights: Float64


class PlainGrowth(Growth):
    """Networks that grow neuron by neuron on the rows of a problem."""

    state_type = Grown
    _last: SolvedNeurons | None = None

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        super().__init__(problem, turn)
        self._factor = problem.coordinates.begun(self._empty_factor(), problem.rows)
        pool = problem.context.pool
        self._search = make_search(SearchTask(problem.rows, problem.plan, turn, pool=pool))
        self.neurons: list[Proposal] = []
        self._grown = [self._now()]
        self._has_ended = False

    def _empty_factor(self) -> Factor:
        rows, plan = self.problem.rows, self.problem.plan
        if is_squared(plan.loss):
            return Factor(rows.weighted(rows.Y), dependent=dependent(plan))
        return LossFactor(rows.Y, rows.weights, plan.loss, dependent(plan))

    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate; a line is the affine term of a growth without neurons."""
        return self.line(MEAN) if candidate.is_constant else self.grown_to(candidate.width)

    def line(self, kind: str) -> Line:
        """Return the best constant."""
        mean, plan = super().line(kind), self.problem.plan
        if is_squared(plan.loss) or not plan.linear_term:
            return mean
        return mean._replace(intercept=self.problem.constant(self.problem.rows.Y))

    def grown_to(self, n_neurons: int) -> Grown:
        """Return the network of so many neurons, or of as many as there are."""
        while len(self.neurons) < n_neurons and not self._has_ended:
            found = grow(self._factor, self._search, 1, self.problem.context)
            self._has_ended = not found
            for neuron in found:
                self.problem.check_proposed(neuron, self.problem.rows)
                self.neurons.append(neuron)
                self._grown.append(self._now())
        return self._grown[min(n_neurons, len(self.neurons))]

    def _now(self) -> Grown:
        """Return the network of all neurons so far."""
        factor, r = self._factor, self.problem.coordinates.n_affine
        weights = outer_weights(factor.R, factor.z, self._alpha, r)
        return Grown(len(self.neurons), weights)

    @property
    def _alpha(self) -> float:
        """Ridge on the outer weights; a factor of another loss has its own."""
        return self.problem.plan.ridge if self._factor.follows_projection else 0.0

    def ridge(self, candidate: Candidate, states: Sequence[State], fold: Problem) -> float | None:
        """Return the ridge on the outer weights; None without neurons."""
        return self._alpha if candidate.width else None

    def unpacked(self, values: Sequence[Any]) -> State:
        """Return a state from its fields: its neurons are found again, in the same order."""
        state = super().unpacked(values)
        return state if isinstance(state, Line) else self.grown_to(state.n_neurons)

    # The result

    @property
    def points(self) -> Float64:
        """Inner weights of the neurons, bias last."""
        found = [neuron.point for neuron in self.neurons]
        return np.array(found).reshape(-1, self.problem.rows.n_features + 1)

    @property
    def _norms(self) -> Float64:
        return np.array([neuron.norm for neuron in self.neurons])

    @property
    def indices(self) -> NDArray[np.intp]:  # type: ignore[override]
        """Positions of the neurons in the dictionary."""
        return np.array([neuron.index for neuron in self.neurons], dtype=np.intp)

    def _outputs(self, state: Grown, X: NDArray[np.floating]) -> Float64:
        n, coordinates = state.n_neurons, self.problem.coordinates
        r, sigma, points = coordinates.n_affine, self.problem.plan.activation, self.points[:n]
        with np.errstate(over="ignore", invalid="ignore"):
            values = sigma.value(X @ points[:, :-1].T + points[:, -1])
            hidden = np.asarray(values, np.float64) / self._norms[:n]
            affine = coordinates.affine.evaluate(X)
            return np.asarray(affine @ state.weights[:r] + hidden @ state.weights[r:])

    def _network(self, states: Sequence[Grown]) -> Network:
        """Return a network with its outer weights, for original units (GSN 4)."""
        (state,) = states
        if self._last is None or len(self._last.points) != len(self.neurons):
            self._last = self._all_solved()
        return self._last.network(state.n_neurons)

    def _all_solved(self) -> SolvedNeurons:
        """Return all neurons, with outer weights on all rows for the first ones of any number."""
        problem, plan = self.problem, self.problem.plan
        if problem.passes is not None and self._factor.follows_projection:
            return problem.outer_solver(plan.ridge).solved(self.points)
        own = (self.points, self._norms, plan.activation, self._alpha, plan.single_output)
        return SolvedNeurons(problem.coordinates, self._solved(), *own)

    def _solved(self) -> Factor:
        """Return the factor, for least squares on rows that are not rounded."""
        coordinates, problem = self.problem.coordinates, self.problem
        if not coordinates.rounded or not self._factor.follows_projection:
            return self._factor
        rows = coordinates.apply_exactly(problem.sample)
        columns = coordinates.neuron_columns(rows, self.points, problem.plan.activation)
        factor = coordinates.factor(rows, dependent=0.0)
        kept = factor.extend(columns / self._norms)
        is_same = kept.all() and factor.size == self._factor.size
        return factor if is_same else self._factor

    def _carried(self, state: Grown, inputs: InputScaling) -> Grown:
        return self.grown_to(state.n_neurons)

    def refitted(self, candidate: Candidate, start: Start, fold: Problem) -> State:
        """Return the network of so many neurons, of which these rows may support more."""
        return self.fitted(candidate, {})

    def training_error(self, states: Sequence[State]) -> float:
        """Return the error on these rows that the factor knows."""
        factor = self._factor
        if isinstance(states[0], Line) or len(states[0].weights) != factor.size:
            return 1.0
        left = factor.rss(states[0].weights, self._alpha)
        return float(np.sqrt(left)) / (factor.target_size or 1.0)


class PlainClassGrowth(PlainGrowth):
    """The same for classes, whose errors are log-losses."""

    def _empty_factor(self) -> Factor:
        rows, alpha = self.problem.rows, self.problem.plan.alpha
        loss = Logistic(RIDGE if alpha is None else max(alpha, 1e-8))
        return LogisticFactor(rows.Y, rows.weights, loss, dependent(self.problem.plan))

    def line(self, kind: str) -> Line:
        """Return the shares of the classes."""
        even, rows = Growth.line(self, kind), self.problem.rows
        if not self.problem.plan.linear_term:
            return even
        return even._replace(intercept=shares_weights(rows).L[-1])

    def ridge(self, candidate: Candidate, states: Sequence[State], fold: Problem) -> float | None:
        """Return the ridge if one was given; by default, there is a tiny one on the logits."""
        return self.problem.plan.alpha if candidate.width else None

    def training_error(self, states: Sequence[State]) -> float:
        """Return the mean log-loss of these rows."""
        if not isinstance(states[0], Line):
            return super().training_error(states)
        rows = self.problem.rows
        return log_loss(self.outputs(states[0], rows.X), rows.Y, rows.weights)
