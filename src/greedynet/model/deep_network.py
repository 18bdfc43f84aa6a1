"""`DeepNetwork`: two hidden layers, ramps along single columns and neurons over both.

g(x) = sum_n c_n sigma(a_n . u + b_n)  +  l . u + m,    u = [x, ramps of x]

The inputs `x` are clipped to the box of the training rows first, unless the network extrapolates.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import Activation
from greedynet.model.bounds import OutputBounds
from greedynet.model.box import widened
from greedynet.model.network import ShallowNetwork, check_n_nodes
from greedynet.model.path_factor import PathFactor
from greedynet.model.ramps import Ramps
from greedynet.support.checks import check_matrix
from greedynet.support.phrases import plural
from greedynet.support.tensorfile import write_tree
from greedynet.support.types import Float64


class HingeForm(NamedTuple):
    """A network of two layers in the form `u = [x, relu(x_j - t)]`, for other runtimes.

    Attributes
    ----------
    features, knots : ndarray of shape (n_hinges,)
        The `j` and the `t` of the hinges.
    inner_weights : ndarray of shape (n_neurons, n_features + n_hinges)
    biases : ndarray of shape (n_neurons,)
    outer_weights : ndarray of shape (n_neurons, n_outputs)
    linear_weights : ndarray of shape (n_features + n_hinges, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    """

    features: NDArray[np.intp]
    knots: Float64
    inner_weights: Float64
    biases: Float64
    outer_weights: Float64
    linear_weights: Float64
    intercept: Float64


@dataclass(frozen=True, eq=False)
class DeepNetwork:
    """A network with two hidden layers; its arrays are read-only.

    The first layer consists of ramps along single columns: each column with knots is a curve that
    can be drawn. The second one consists of neurons over the columns and their ramps. The number of
    *nodes* is that of the neurons, two for the affine term, and one for each inner knot, where a
    hinge `relu(x - t)` would do.

    Parameters
    ----------
    ramps : Ramps
        The first layer.
    over : ShallowNetwork
        The second layer, and the outputs with their bounds: a network over the columns and their
        ramps, which also knows the box of the columns, and whether to extrapolate.
    feature_names : tuple of str or None, default=None
        Names of the inputs, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> model = GreedyNetRegressor(hidden_layers=2).fit(X, np.abs(X[:, 0]) * X[:, 1])
    >>> type(model.network_).__name__, model.network_.n_features
    ('DeepNetwork', 2)
    """

    ramps: Ramps
    over: ShallowNetwork
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.over.n_features != self.ramps.n_lifted:
            raise ValueError(
                f"`over` must have {self.ramps.n_lifted} inputs, the columns and their ramps, got "
                f"{self.over.n_features}."
            )
        if self.feature_names is not None:
            names = tuple(map(str, self.feature_names))
            if len(names) != self.n_features:
                raise ValueError(
                    f"`feature_names` must have one name for each of the {self.n_features} inputs, "
                    f"got {len(names)}."
                )
            object.__setattr__(self, "feature_names", names)

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.ramps.n_features

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.over.n_outputs

    @property
    def n_neurons(self) -> int:
        """Number of neurons of the second layer."""
        return self.over.n_neurons

    @property
    def n_hinges(self) -> int:
        """Number of hinges that the first layer amounts to."""
        return self.ramps.n_hinges

    @property
    def n_nodes(self) -> int:
        """Number of nodes: hinges, neurons, and two for an affine term."""
        return self.over.n_nodes + self.n_hinges

    @property
    def is_constant(self) -> bool:
        """Whether it has no neurons, and an affine term that does not depend on the inputs."""
        return self.over.is_constant

    @property
    def path_factor(self) -> PathFactor | None:
        """The factor with which `truncate` solves for the outer weights, if any."""
        return self.over.path_factor

    @property
    def has_affine_term(self) -> bool:
        """Whether there is an affine term."""
        return self.over.has_affine_term

    @property
    def activation(self) -> Activation:
        """The `sigma` of the second layer."""
        return self.over.activation

    @property
    def single_output(self) -> bool:
        """Whether `predict` returns the shape `(n_rows,)`, for one output."""
        return self.over.single_output

    @property
    def bounds(self) -> OutputBounds | None:
        """What the outputs may not leave, if anything: the bounds of `over`."""
        return self.over.bounds

    @property
    def input_range(self) -> Float64 | None:
        """Smallest and largest value of each input in the training data, if known."""
        found = self.over.input_range
        return None if found is None else found[:, : self.n_features]

    @property
    def reach(self) -> float:
        """How far inputs may lie beyond `input_range` before they are clipped: that of `over`."""
        return self.over.reach

    @property
    def extrapolates(self) -> bool:
        """Whether inputs outside the training rows are taken as they are."""
        return self.over.extrapolates

    @property
    def box(self) -> Float64 | None:
        """What inputs are clipped to, `(2, n_features)`; None if they are taken as they are."""
        return widened(self.input_range, self.reach)

    @property
    def n_parameters(self) -> int:
        """Number of weights and knots, in the form with hinges."""
        inputs = self.n_features + self.n_hinges
        affine = 0 if self.over.linear_weights is None else (inputs + 1) * self.n_outputs
        return self.n_hinges + self.n_neurons * (inputs + 1 + self.n_outputs) + affine

    @property
    def n_multiplications(self) -> int:
        """Number of multiplications of a prediction, in the form with hinges."""
        inputs = self.n_features + self.n_hinges
        affine = 0 if self.over.linear_weights is None else inputs * self.n_outputs
        return self.n_neurons * (inputs + self.n_outputs) + affine

    def within_box(self, X: Float64) -> Float64:
        """Return rows with every input clipped to the box, if there is one."""
        return X if self.box is None else np.clip(X, *self.box)

    def neuron_inputs(self, X: Float64) -> Float64:
        """Return what the neurons get of rows: these, within the box, and their ramps."""
        return self.ramps.lift(self.within_box(X))

    def hidden(self, X: ArrayLike) -> Float64:
        """Return the values of the neurons of the second layer, `(n_rows, n_neurons)`."""
        return self.over.neurons(self.neuron_inputs(self._check_X(X)))

    def predict(self, X: ArrayLike) -> Float64:
        """Return the outputs of the network.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Infinite or NaN where they are too large for floating-point numbers.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self.over.predict_of(self.neuron_inputs(self._check_X(X)))

    def truncate(self, n_nodes: int) -> "DeepNetwork":
        """Return the network of the first nodes of the path, with new outer weights.

        Parameters
        ----------
        n_nodes : int
            Number of nodes, of which the hinges are the first ones.

        Returns
        -------
        network : DeepNetwork
        """
        check_n_nodes(n_nodes, self.n_nodes - self.n_neurons, self.n_nodes)
        return replace(self, over=self.over.truncate(int(n_nodes) - self.n_hinges))

    def with_input_range(self, input_range: Float64 | None) -> "DeepNetwork":
        """Return the network with another range of its inputs, or an unknown one."""
        # Ramps ascend: their range is that of their column.
        lifted = None if input_range is None else self.ramps.lift(input_range)
        return replace(self, over=self.over.with_input_range(lifted))

    def with_reach(self, reach: float) -> "DeepNetwork":
        """Return the network that clips inputs so far beyond the training rows."""
        return replace(self, over=self.over.with_reach(reach))

    def in_hinges(self) -> HingeForm:
        """Return the same network with hinges instead of ramps."""
        over, (features, knots) = self.over, self.ramps.hinges()
        inner, constants = self.ramps.as_hinges(over.inner_weights)
        linear = np.zeros((self.n_features + self.n_hinges, self.n_outputs))
        intercept = np.zeros(self.n_outputs)
        if over.linear_weights is not None and over.intercept is not None:
            found, shift = self.ramps.as_hinges(over.linear_weights.T)
            linear, intercept = found.T, shift + over.intercept
        biases = over.biases + constants
        return HingeForm(features, knots, inner, biases, over.outer_weights, linear, intercept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, from which `greedynet.load` restores it exactly.

        Parameters
        ----------
        path : str or path
            A name such as "model.safetensors". The file contains numbers and text, no code.
        """
        write_tree(path, "deep network", self.state())

    def state(self) -> dict[str, Any]:
        """Return the fields as arrays and plain values, for a file; inverse of `from_state`."""
        names = None if self.feature_names is None else list(self.feature_names)
        return {"ramps": self.ramps.state(), "over": self.over.state(), "feature_names": names}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "DeepNetwork":
        """Return the network with the given `state`."""
        over, names = ShallowNetwork.from_state(state["over"]), state["feature_names"]
        return cls(Ramps(**state["ramps"]), over, None if names is None else tuple(names))

    @property
    def contents(self) -> str:
        """What it is made of, in words."""
        first = plural(self.n_hinges, "hinge")
        if self.n_neurons:
            second = plural(self.n_neurons, f"{self.activation.name} neuron")
            affine = "" if self.over.linear_weights is None else " and an affine term"
            return f"{first} along single columns, {second} over them{affine}"
        return f"curves of single columns with {first}, without neurons"

    def describe(self) -> str:
        """Return a short description of the network: its curves and its largest neurons."""
        names = self.feature_names or tuple(f"x{j}" for j in range(self.n_features))
        lines = [
            f"{self.contents} ({plural(self.n_nodes, 'node')}): "
            f"{plural(self.n_features, 'input')} -> {plural(self.n_outputs, 'output')}, "
            f"{plural(self.n_parameters, 'parameter')}, "
            f"{plural(self.n_multiplications, 'multiplication')}"
        ]
        if self.bounds is not None:
            lines.append(f"  outputs {self.bounds.sentence()}")
        form = self.in_hinges()
        for j in np.unique(form.features).tolist():
            knots = " ".join(f"{t:.4g}" for t in form.knots[form.features == j].tolist())
            lines.append(f"  {names[j]}: hinges at {knots}")
        for n in self.largest_neurons()[:10].tolist():
            c = " ".join(f"{w:+.3g}" for w in self.over.outer_weights[n][:4])
            lines.append(f"  neuron {n:3d}: mainly of {self._mainly(n, names)}; c = [{c}]")
        if self.n_neurons > 10:
            lines.append(f"  ... and {self.n_neurons - 10} more with smaller weights")
        return "\n".join(lines)

    def _mainly(self, neuron: int, names: tuple[str, ...]) -> str:
        """Return the columns that move a neuron most over the training data, in words."""
        moves = self.column_moves()[neuron]
        first = np.argsort(-moves, kind="stable")[:3]
        return ", ".join(names[j] for j in first.tolist() if moves[j] > 0) or "no column"

    def column_moves(self) -> Float64:
        """Return by how much each column moves each neuron at most, `(n_neurons, n_features)`.

        The range of the curve of the column in `a_n . u`, over the range of the training data.
        """
        d, inner = self.n_features, self.over.inner_weights
        low, high = self.input_range if self.input_range is not None else np.tile([[0], [1]], d)
        moves = np.empty((self.n_neurons, d))
        for j in range(d):
            knots = self.ramps.knots[self.ramps.features == j]
            at = np.zeros((len(knots) + 2, d))
            at[:, j] = [low[j], *knots, high[j]]
            curves = self.ramps.lift(at) @ inner.T
            moves[:, j] = np.ptp(curves, axis=0)
        return moves

    def largest_neurons(self) -> NDArray[np.intp]:
        """Return the indices of the neurons, those with the largest weights first."""
        return self.over.largest_neurons()

    def _check_X(self, X: ArrayLike) -> Float64:
        rows = check_matrix(X, "X")
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"`X` must have {self.n_features} columns, one for each input of the network, got "
                f"{rows.shape[1]}."
            )
        return rows
