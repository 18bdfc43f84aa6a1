"""`OuterSolver`: networks of corrected neurons, with a final solve for the outer weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation
from greedynet.correction.all_rows.passes import Passes
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.shaped import ShapedProjection, shaped_weights
from greedynet.correction.variable_projection import VariableProjection
from greedynet.model.coordinates import Coordinates, Solved, SolvedNeurons
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.support.types import Float64

# A neuron with a smaller fraction of its norm outside the span is omitted: it is dead, or a copy.
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class OuterSolver:
    """Solves for outer weights by least squares with a ridge, on scaled training rows.

    `alpha` is the ridge on the outer weights of the normalised neurons, None for that of the
    correction; `passes` are sums over all rows, if these are a sample. With a shape along the
    scaled columns, states are `ShapedProjection`.
    """

    coordinates: Coordinates
    rows: Rows
    activation: Activation
    single_output: bool
    alpha: float | None = None
    passes: Passes | None = None
    shape: Shape | None = None

    def network(self, states: Sequence[VariableProjection]) -> Network:
        """Return the mean of some networks as a single network."""
        if self.shape is not None:
            return _joined([self._shaped(state) for state in states])
        alive = [state.points[state.alive] for state in states]
        points = np.concatenate(alive)
        ridge = float(np.mean([state.ridge for state in states]))
        owner = np.repeat(np.arange(len(states)), [len(of_state) for of_state in alive])
        solve = self._solver(points, ridge)
        solved = [solve(np.flatnonzero(owner == i), state.ridge) for i, state in enumerate(states)]
        return _joined([one.network(len(one.points)) for one in solved])

    def solved(self, points: Float64) -> SolvedNeurons:
        """Return given neurons, with outer weights by least squares or `alpha`."""
        return self._solver(points, 0.0)(np.arange(len(points)), 0.0)

    def _solver(
        self, points: Float64, ridge: float
    ) -> Callable[[NDArray[np.intp], float], SolvedNeurons]:
        """Return a function that solves for some of the neurons, with a ridge close to `ridge`."""
        norms = np.ones(len(points))
        if self.alpha is not None:
            norms = np.linalg.norm(self._columns(points), axis=0)
            norms[norms == 0] = 1.0
        gram, n_affine = None, self.coordinates.n_affine
        if self.passes is not None:
            gram = self.passes.products(self.coordinates, points, self.activation, ridge)
            gram = gram.divided(np.append(np.ones(n_affine), norms))

        def solve(chosen: NDArray[np.intp], ridge: float) -> SolvedNeurons:
            if gram is not None:
                solved: Solved = gram.triangle(np.append(np.arange(n_affine), n_affine + chosen))
            else:
                solved = factor = self.coordinates.factor(self.rows, DEPENDENT)
                columns = self._columns(points[chosen]) / norms[chosen]
                kept = [factor.append(column) for column in columns.T]
                chosen = chosen[np.array(kept, dtype=bool)]
            alpha = ridge if self.alpha is None else self.alpha
            own = (points[chosen], norms[chosen], self.activation, alpha, self.single_output)
            return SolvedNeurons(self.coordinates, solved, *own)

        return solve

    def _shaped(self, state: VariableProjection) -> Network:
        """Return a network of the shape."""
        assert isinstance(state, ShapedProjection)
        assert self.shape is not None
        points, signs = state.points[state.alive], state.signs[state.alive]
        gram, r = self._gram(points, state.ridge), self.coordinates.n_affine
        ridge = np.full(len(points), state.ridge)
        if self.alpha is not None:
            ridge = self.alpha * np.diagonal(gram.G)[r:]
        weights = shaped_weights(gram, points, self.shape, signs, ridge)
        affine = self.coordinates.affine.to_weights @ weights[:r]
        kept, present = weights[r:] != 0, self.coordinates.affine.n_nodes > 0
        of_scaled_rows = Network(
            inner_weights=points[kept, :-1],
            biases=points[kept, -1],
            outer_weights=weights[r:][kept, None],
            linear_weights=affine[:-1, None] if present else None,
            intercept=affine[-1:] if present else None,
            activation=self.activation,
            single_output=self.single_output,
            input_range=self.coordinates.input_range,
        )
        return self.coordinates.in_original_units(of_scaled_rows)

    def _gram(self, points: Float64, ridge: float) -> Gram:
        """Return the products of affine columns and neurons on all rows."""
        if self.passes is not None:
            return self.passes.products(self.coordinates, points, self.activation, ridge)
        F = np.hstack([self.coordinates.affine_columns(self.rows), self._columns(points)])
        Y = self.rows.weighted(self.rows.Y)
        return Gram(F.T @ F, F.T @ Y, float(np.sum(Y**2)))

    def _columns(self, points: Float64) -> Float64:
        return self.coordinates.neuron_columns(self.rows, points, self.activation)


def _joined(networks: Sequence[Network]) -> Network:
    """Return the mean of networks; a single one as it is."""
    if len(networks) == 1:
        return networks[0]

    def joined(name: str) -> Float64:
        return np.concatenate([getattr(network, name) for network in networks])

    def mean(name: str) -> Float64 | None:
        values = [getattr(network, name) for network in networks]
        return None if values[0] is None else np.asarray(np.mean(values, axis=0))

    return replace(
        networks[0],
        inner_weights=joined("inner_weights"),
        biases=joined("biases"),
        outer_weights=joined("outer_weights") / len(networks),
        linear_weights=mean("linear_weights"),
        intercept=mean("intercept"),
    )
