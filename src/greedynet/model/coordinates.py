"""`Coordinates`: scaled inputs and outputs, the affine term, and the network in original units."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from greedynet.activations import Activation
from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import outer_weights
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows, on_grid
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.rows.shape import Shape
from greedynet.support.types import Float64


class Solved(Protocol):
    """The factorisation that determines the outer weights: `F = QR`, and weights of `Q`."""

    @property
    def R(self) -> Float64:
        """Upper triangle."""
        ...

    def z_of(self, n_columns: int) -> Float64:
        """Weights of the orthonormal columns if there are only so many."""
        ...


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates in which a network is grown.

    Inputs are scaled, so that the kinks of neurons lie within the data; outputs are scaled to unit
    norm, so that all count equally. Both maps are inverted in the weights of the network.
    """

    inputs: InputScaling
    outputs: OutputScaling
    affine: AffineTerm  # on the scaled training rows
    input_range: Float64  # (2, d): smallest and largest inputs, before scaling
    # Whether scaled rows are rounded. The decisions of a fit amplify rounding errors, which depend
    # on the units of the data; rounded to fewer digits, rows are the same in all units.
    rounded: bool = False

    @staticmethod
    def of(
        rows: Rows,
        inputs: InputScaling,
        *,
        linear_term: bool,
        rounded: bool = False,
    ) -> "Coordinates":
        outputs = OutputScaling.of(rows, centred=linear_term)
        X = inputs.apply(rows.X)
        scaled = Rows(on_grid(X) if rounded else X, rows.Y, rows.weights)
        affine = AffineTerm.of(scaled) if linear_term else AffineTerm.absent(scaled)
        input_range = np.array([rows.X.min(axis=0), rows.X.max(axis=0)], dtype=np.float64)
        return Coordinates(inputs, outputs, affine, input_range, rounded)

    @property
    def n_affine(self) -> int:
        return int(self.affine.to_weights.shape[1])

    def in_original_units(self, network: Network) -> Network:
        """Return a network of scaled rows for inputs and outputs in their original units."""
        outputs, present = self.outputs, network.linear_weights is not None
        affine = np.zeros((network.n_features + 1, network.n_outputs))
        if network.linear_weights is not None:
            affine[:-1], affine[-1] = network.linear_weights, network.intercept
        with np.errstate(over="ignore", invalid="ignore"):
            inner = self.inputs.fold(np.column_stack([network.inner_weights, network.biases]))
            outer = network.outer_weights * outputs.scale
            linear = self.inputs.fold(affine.T).T * outputs.scale
        _check_scales(inner, outer, linear[:-1], sloped=bool(affine[:-1].any()))
        return replace(
            network,
            inner_weights=inner[:, :-1],
            biases=inner[:, -1],
            outer_weights=outer,
            linear_weights=linear[:-1] if present else None,
            intercept=linear[-1] + outputs.center if present else None,
            input_range=self.input_range,
        )

    def without_rows(self) -> "Coordinates":
        """Return the coordinates without the affine columns on the rows, to save memory."""
        return replace(self, affine=replace(self.affine, columns=self.affine.columns[:0]))

    def apply(self, rows: Rows) -> Rows:
        exact = self.apply_exactly(rows)
        if not self.rounded:
            return exact
        return replace(exact, X=on_grid(exact.X), Y=on_grid(exact.Y))

    def apply_exactly(self, rows: Rows) -> Rows:
        X, Y = self.inputs.apply(rows.X), self.outputs.apply(rows.Y)
        return Rows(X, Y, rows.weights, rows.effective_size)

    def affine_columns(self, rows: Rows) -> Float64:
        """Return the affine columns on scaled rows, sample weights included."""
        return rows.weighted(self.affine.evaluate(rows.X))

    def neuron_columns(self, rows: Rows, points: Float64, activation: Activation) -> Float64:
        """Return the columns of neurons on scaled rows, sample weights included."""
        values = rows.X @ points[:, :-1].T + points[:, -1]
        return rows.weighted(np.asarray(activation.value(values), dtype=np.float64))

    def begun(self, factor: Factor, rows: Rows) -> Factor:
        factor.extend(self.affine_columns(rows))
        return factor

    def factor(self, rows: Rows, dependent: float) -> Factor:
        """Return the least-squares factor of scaled rows, with the affine columns appended."""
        return self.begun(Factor(rows.weighted(rows.Y), dependent=dependent), rows)


@dataclass(frozen=True, eq=False)
class SolvedNeurons:
    """Neurons in their order, of which the first ones have outer weights of their own."""

    coordinates: Coordinates
    solved: Solved
    points: Float64  # (k, d + 1): inner weights for scaled inputs, bias last
    norms: Float64  # (k,): by which their columns were divided
    activation: Activation
    alpha: float  # ridge on the outer weights of the normalised neurons
    single_output: bool

    @cached_property
    def _folded(self) -> Float64:
        """Inner weights for inputs in their original units, bias last."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.coordinates.inputs.fold(self.points)

    @cached_property
    def _triangle(self) -> Float64:
        """The triangle in memory of its own: solutions depend on its layout in the last bit."""
        return self.solved.R.copy()

    def network(self, n_neurons: int) -> Network:
        """Return the network of the first neurons, for inputs and outputs in original units."""
        inputs, outputs = self.coordinates.inputs, self.coordinates.outputs
        r, present = self.coordinates.n_affine, self.coordinates.affine.n_nodes > 0
        k, folded = r + n_neurons, self._folded[:n_neurons]
        weights = outer_weights(self._triangle[:k, :k], self.solved.z_of(k), self.alpha, r)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = weights * outputs.scale
            outer = scaled[r:] / self.norms[:n_neurons, None]
            affine = inputs.fold(self.coordinates.affine.to_weights.T).T @ scaled[:r]
            linear, intercept = affine[:-1], affine[-1] + outputs.center
        _check_scales(folded, outer, linear, sloped=bool(weights[1:r].any()))
        return Network(
            inner_weights=folded[:, :-1],
            biases=folded[:, -1],
            outer_weights=outer,
            linear_weights=linear if present else None,
            intercept=intercept if present else None,
            activation=self.activation,
            single_output=self.single_output,
            input_range=self.coordinates.input_range,
        )


def _check_scales(folded: Float64, outer: Float64, linear: Float64, *, sloped: bool) -> None:
    """Raise an error for weights that overflow or vanish in the units of the data."""
    dead = (folded == 0).all(axis=1).any() or (sloped and not linear.any())
    check_weights_exist(folded, outer, linear, dead=dead)


def check_weights_exist(*weights: Float64, dead: bool = False) -> None:
    """Raise an error for weights that are infinite, or vanish, in the units of the data."""
    if dead or not all(np.isfinite(w).all() for w in weights):
        raise ValueError(
            "`X` and `y` have scales for which the weights of a network are too large or too small "
            "for floating-point numbers: rescale them to values near 1 first."
        )


def in_shape(network: Network, shape: Shape) -> Network:
    """Return a network with the slopes that its shape needs, where these are lost in rounding."""
    if network.linear_weights is None:
        return network
    slopes = network.linear_weights[:, 0]
    least = shape.least(network.inner_weights, network.outer_weights[:, 0])
    is_less = shape.monotone * (slopes - least) < 0
    return replace(network, linear_weights=np.where(is_less, least, slopes)[:, None])


def proves_shape(network: Network, shape: Shape) -> bool:
    """Whether the weights of a network prove its shape."""
    linear, lifted = network.linear_weights, shape.of_columns(network.lifted_from)
    slopes = np.zeros(network.n_lifted) if linear is None else linear[:, 0]
    return lifted.is_of(network.inner_weights, network.outer_weights[:, 0], slopes, network.biases)
