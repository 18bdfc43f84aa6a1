"""`Growth`: the networks on the rows of a fold, each fitted from those before it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.problem import Problem
from greedynet.model.candidate import LINE, MEAN, Candidate
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# Arrays and numbers by which a growth knows a network again: a named tuple of each growth.
State = Any
# Returns a candidate of a fold, carried to other rows.
Start = Callable[[Candidate], State]


class Line(NamedTuple):
    """An affine function of scaled rows, `X linear + intercept`: a state without neurons."""

    linear: Float64
    intercept: Float64


class Growth(ABC):
    """Networks on the rows of a problem, each from those before it.

    Lines are handled here: subclasses define what is done with neurons, in methods of the same
    names with an underscore. Networks of different turns have different pools of directions.
    """

    # The named tuple of the state of a network with neurons.
    state_type: type[Any]
    # Positions of the neurons in a dictionary.
    indices: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def __init__(self, problem: Problem, turn: int = 0) -> None:
        self.problem, self.turn = problem, turn

    @abstractmethod
    def fitted(self, candidate: Candidate, known: Mapping[Candidate, State]) -> State:
        """Return a candidate, given those that were fitted before on the same rows."""

    def line(self, kind: str) -> Line:
        """Return a constant or a line; here the mean, which is zero in scaled outputs."""
        rows = self.problem.rows
        return Line(np.zeros((rows.n_features, rows.n_outputs)), np.zeros(rows.n_outputs))

    def refitted(self, candidate: Candidate, start: Start, fold: Problem) -> State:
        """Return a network of a fold, corrected on these rows."""
        return start(candidate)

    def outputs(self, state: State, X: NDArray[np.floating]) -> Float64:
        """Return the scaled outputs of a network for scaled inputs."""
        if isinstance(state, Line):
            return np.asarray(X @ state.linear + state.intercept)
        return self._outputs(state, X)

    @abstractmethod
    def _outputs(self, state: State, X: NDArray[np.floating]) -> Float64: ...

    def predict(self, states: Sequence[State], rows: Rows) -> Float64:
        """Return the outputs of the mean of some networks for rows, all in original units."""
        X = self.problem.coordinates.apply(rows).X
        mean = np.mean([self.outputs(state, X) for state in states], axis=0)
        return self.problem.in_units(mean)

    def network(self, states: Sequence[State]) -> Network:
        """Return the mean of some networks, for inputs and outputs in original units."""
        if not isinstance(states[0], Line):
            return self._network(states)
        (d, t), affine = states[0].linear.shape, np.vstack(states[0])
        return self.problem.network(np.empty((0, d + 1)), np.empty((0, t)), affine)

    @abstractmethod
    def _network(self, states: Sequence[State]) -> Network: ...

    def carried(self, state: State, inputs: InputScaling) -> State:
        """Return a network of other rows, which were scaled by `inputs`, on these rows."""
        if isinstance(state, Line):
            return self.line(LINE if state.linear.any() else MEAN)
        return self._carried(state, inputs)

    @abstractmethod
    def _carried(self, state: State, inputs: InputScaling) -> State: ...

    def loss(self, state: State) -> float:
        """Return what a network minimises, on these rows; by it folds are compared."""
        return 0.0

    def training_error(self, states: Sequence[State]) -> float:
        """Return the relative error of the mean of some networks on these rows."""
        rows = self.problem.rows
        mean = np.mean([self.outputs(state, rows.X) for state in states], axis=0)
        return safe_norm(rows.weighted(rows.Y - mean)) / (safe_norm(rows.weighted(rows.Y)) or 1.0)

    def ridge(self, candidate: Candidate, states: Sequence[State], fold: Problem) -> float | None:
        """Return the ridge of refitted networks, their mean; None without neurons."""
        if candidate.width == 0 or states[0].ridge is None:
            return None
        return float(np.mean([state.ridge for state in states]))

    def packed(self, state: State) -> list[Any]:
        """Return the fields of a state, as a checkpoint keeps them."""
        return [type(state).__name__, *state]

    def unpacked(self, values: Sequence[Any]) -> State:
        """Return a state from its fields."""
        name, *fields = values
        return (Line if name == Line.__name__ else self.state_type)(*fields)
