"""`Network`: a network of neurons and an affine term, over ramps if it has any.

x  ->  within the box  ->  u = [x, ramps of x]  ->  neurons and affine term  ->  within the bounds
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import (
    Activation,
    ReLU,
    activate,
    get_activation,
    saved_name,
    shared_degree,
)
from greedynet.model.bounds import OutputBounds, widened
from greedynet.model.description import contents, describe, overview
from greedynet.model.ramps import Ramps
from greedynet.support.checks import check_matrix, is_number, named
from greedynet.support.tensorfile import write_tree
from greedynet.support.types import Float64

WEIGHTS = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")
_PREDICT_ELEMENTS = 2**22


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A network with one hidden layer or two; its arrays are read-only.

    With the inputs `x` and the *ramps* `r` along single columns, if there is a first layer of them,

        g(x) = sum_n c_n sigma(a_n . u + b_n)  +  l . u + m,    u = [x, r(x)],

    where `x` is clipped to the *box* of the training rows first, `min(max(x, low), high)`, and
    `g(x)` to the bounds. Without ramps there is one hidden layer, and `u = x`.

    A *neuron* is one hidden unit `c sigma(a . u + b)`. The number of *nodes* is the number of
    neurons, plus two for the affine term `l . u + m`, which two ReLU neurons could replace, plus
    one for each inner knot of the ramps, which cost as much as a *hinge* `relu(x_j - t)` there.

    Parameters
    ----------
    inner_weights : ndarray of shape (n_neurons, n_lifted)
        The `a_n`, for inputs in their original units, and then their ramps.
    biases : ndarray of shape (n_neurons,)
        The `b_n`.
    outer_weights : ndarray of shape (n_neurons, n_outputs)
        The `c_n`.
    linear_weights : ndarray of shape (n_lifted, n_outputs) or None, default=None
        The `l` of the affine term; None if the network has none.
    intercept : ndarray of shape (n_outputs,) or None, default=None
        The `m` of the affine term.
    activation : Activation, default=ReLU()
        The `sigma`.
    single_output : bool, default=True
        Whether `predict` returns the shape `(n_rows,)`, for one output, or `(n_rows, n_outputs)`.
    input_range : ndarray of shape (2, n_features) or None, default=None
        Smallest and largest value of each input in the training data, if known.
    feature_names : tuple of str or None, default=None
        Names of the inputs, if any.
    bounds : OutputBounds or None, default=None
        What the outputs may not leave: `predict` returns `min(max(g(x), low), high)`.
    reach : float, default=0.0
        How far inputs may lie beyond `input_range` before they are clipped, as a share of it;
        infinity for inputs that are taken as they are.
    ramps : Ramps or None, default=None
        The first of two hidden layers; None for one layer.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import Network
    >>> hat = Network(np.ones((3, 1)), np.array([1.0, 0.0, -1.0]), np.array([[1], [-2], [1]]))
    >>> hat.predict([[-2.0], [-0.5], [0.0], [2.0]])
    array([0. , 0.5, 1. , 0. ])
    """

    inner_weights: Float64
    biases: Float64
    outer_weights: Float64
    linear_weights: Float64 | None = None
    intercept: Float64 | None = None
    activation: Activation = field(default_factory=ReLU)
    single_output: bool = True
    input_range: Float64 | None = None
    feature_names: tuple[str, ...] | None = None
    bounds: OutputBounds | None = None
    reach: float = 0.0
    ramps: Ramps | None = None

    def __post_init__(self) -> None:
        for name in (*WEIGHTS, "input_range"):
            value = getattr(self, name)
            if value is not None or name in WEIGHTS[:3]:
                object.__setattr__(self, name, _frozen(value, name))
        object.__setattr__(self, "activation", get_activation(self.activation))
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(map(str, self.feature_names)))
        if self.ramps is not None and not self.ramps.n_ramps:
            object.__setattr__(self, "ramps", None)
        self._check_shapes()
        object.__setattr__(self, "reach", float(self.reach))
        if self.bounds is not None:
            object.__setattr__(self, "bounds", self.bounds.for_outputs(self.n_outputs))

    def __setstate__(self, state: dict[str, object]) -> None:
        # Pickle restores arrays as writable.
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def n_neurons(self) -> int:
        """Number of neurons, without the affine term."""
        return len(self.biases)

    @property
    def n_hinges(self) -> int:
        """Number of hinges that the ramps amount to."""
        return 0 if self.ramps is None else self.ramps.n_hinges

    @property
    def n_nodes(self) -> int:
        """Number of nodes: hinges, neurons, and two for an affine term."""
        return self.n_hinges + self.n_neurons + (0 if self.linear_weights is None else 2)

    @property
    def is_constant(self) -> bool:
        """Whether it has no neurons, and an affine term that does not depend on the inputs."""
        linear = self.linear_weights
        return not self.n_neurons and linear is not None and not linear.any()

    @property
    def has_affine_term(self) -> bool:
        """Whether there is an affine term."""
        return self.linear_weights is not None

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.n_lifted if self.ramps is None else self.ramps.n_features

    @property
    def n_lifted(self) -> int:
        """Number of inputs of the neurons: the inputs of the network and their ramps."""
        return self.inner_weights.shape[1]

    @property
    def lifted_from(self) -> NDArray[np.intp]:
        """For every input of the neurons the column of which it is an increasing function."""
        return np.arange(self.n_lifted) if self.ramps is None else self.ramps.lifted_from

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.outer_weights.shape[1]

    @property
    def box(self) -> Float64 | None:
        """What inputs are clipped to, `(2, n_features)`; None if they are taken as they are."""
        return widened(self.input_range, self.reach)

    @property
    def extrapolates(self) -> bool:
        """Whether inputs outside the training rows are taken as they are."""
        return self.reach == np.inf

    def within_box(self, X: Float64) -> Float64:
        """Return rows with every input clipped to the box, if there is one."""
        return X if self.box is None else np.clip(X, *self.box)

    def lift(self, X: Float64) -> Float64:
        """Return rows and their ramps, `(n_rows, n_lifted)`."""
        return X if self.ramps is None else self.ramps.lift(X)

    def neuron_inputs(self, X: Float64) -> Float64:
        """Return what the neurons and the affine term get of rows: within the box, and ramps."""
        return self.lift(self.within_box(X))

    def neurons(self, U: Float64) -> Float64:
        """Return the values of the neurons for their inputs, `(n_rows, n_neurons)`."""
        return np.asarray(activate(self.activation, U @ self.inner_weights.T + self.biases))

    def hidden(self, X: ArrayLike) -> Float64:
        """Return the values of the neurons, `(n_rows, n_neurons)`."""
        return self.neurons(self.neuron_inputs(self._check_X(X)))

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
            return self.predict_of(self.neuron_inputs(self._check_X(X)))

    def predict_of(self, U: Float64, max_elements: int = _PREDICT_ELEMENTS) -> Float64:
        """Return the outputs for the inputs of the neurons, in the shape of `predict`.

        In blocks with hidden values of at most `max_elements`.
        """
        y = np.zeros((len(U), self.n_outputs))
        step = max(1, max_elements // max(1, self.n_neurons))
        for start in range(0, len(U), step):
            block = slice(start, start + step)
            y[block] = self.neurons(U[block]) @ self.outer_weights
        return self.outputs(self.with_affine_term(y, U))

    def with_affine_term(self, sums: Float64, U: Float64) -> Float64:
        """Return sums over the neurons, `(n_rows, n_outputs)`, plus the affine term."""
        if self.linear_weights is not None:
            sums = sums + U @ self.linear_weights
        return sums if self.intercept is None else sums + self.intercept

    def outputs(self, sums: Float64) -> Float64:
        """Return what is predicted where neurons and affine term sum up to `(n_rows, n_outputs)`.

        Within the bounds, and in the shape that `predict` returns.
        """
        y = sums if self.bounds is None else self.bounds.apply(sums)
        return y[:, 0] if self.single_output else y

    def over_ramps(self, ramps: Ramps) -> "Network":
        """Return a network whose inputs are columns and their ramps as one of two layers."""
        known = self.input_range
        input_range = None if known is None else known[:, : ramps.n_features]
        return replace(self, ramps=ramps, input_range=input_range, feature_names=None)

    def hinges(self) -> tuple[NDArray[np.intp], Float64]:
        """Return the columns `j` and the knots `t` of the hinges `relu(x_j - t)`."""
        if self.ramps is None:
            return np.empty(0, dtype=np.intp), np.empty(0)
        return self.ramps.hinges()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, from which `greedynet.load` restores it exactly.

        Parameters
        ----------
        path : str or path
            A name such as "model.safetensors". The file contains numbers and text, no code.
        """
        write_tree(path, "network", self.state())

    def state(self) -> dict[str, Any]:
        """Return the fields as arrays and plain values, for a file; inverse of `from_state`."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        special = {
            "activation": saved_name(self.activation),
            "bounds": None if self.bounds is None else self.bounds.state(),
            "ramps": None if self.ramps is None else self.ramps.state(),
            # JSON has no infinity.
            "reach": None if self.extrapolates else self.reach,
        }
        return plain | special

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Network":
        """Return the network with the given `state`."""
        bounds, ramps = state["bounds"], state["ramps"]
        special = {
            "bounds": None if bounds is None else OutputBounds.from_state(bounds),
            "ramps": None if ramps is None else Ramps(**ramps),
            "reach": np.inf if state["reach"] is None else state["reach"],
        }
        return cls(**{**state, **special})

    def largest_neurons(self) -> NDArray[np.intp]:
        """Return the indices of the neurons, those with the largest weights first."""
        with np.errstate(over="ignore", under="ignore"):
            size = np.abs(self.outer_weights).max(axis=1)
            size = size * np.abs(self.inner_weights).max(axis=1) ** shared_degree(self.activation)
        return np.argsort(-size, kind="stable")

    @property
    def contents(self) -> str:
        """What it is made of, in words: hinges, neurons and an affine term, or a straight line."""
        return contents(self)

    def describe(self) -> str:
        """Return a short description of the network: its hinges and its largest neurons."""
        return describe(self)

    def __repr__(self) -> str:
        return overview(self)

    @property
    def n_parameters(self) -> int:
        """Number of weights, biases included, and of the knots of hinges."""
        constant = 0 if self.intercept is None else self.n_outputs
        return self.n_multiplications + self.n_neurons + constant + self.n_hinges

    @property
    def n_multiplications(self) -> int:
        """Number of multiplications of a prediction, with hinges in place of ramps."""
        inputs = self.n_features + self.n_hinges
        affine = 0 if self.linear_weights is None else inputs * self.n_outputs
        return self.n_neurons * (inputs + self.n_outputs) + affine

    def _check_X(self, X: ArrayLike) -> Float64:
        rows = check_matrix(X, "X")
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"`X` must have {self.n_features} columns, one for each input of the network, got "
                f"{rows.shape[1]}."
            )
        return rows

    def _check_shapes(self) -> None:
        (n, k), d, t = self.inner_weights.shape, self.n_features, self.n_outputs
        if self.ramps is not None and self.ramps.n_lifted != k:
            raise ValueError(
                f"`inner_weights` must have {self.ramps.n_lifted} columns, for {d} inputs and "
                f"{self.ramps.n_ramps} `ramps`, got {k}."
            )
        wanted = dict(zip(WEIGHTS, [(n, k), (n,), (n, t), (k, t), (t,)], strict=True))
        wanted["input_range"] = (2, d)
        for name, shape in wanted.items():
            value = getattr(self, name)
            if value is not None and value.shape != shape:
                raise ValueError(
                    f"`{name}` must have the shape {shape} for {n} neurons, {d} inputs and {t} "
                    f"outputs, got {value.shape}."
                )
        if self.input_range is not None and not (self.input_range[0] <= self.input_range[1]).all():
            raise ValueError("`input_range` must hold the smallest values, then the largest ones.")
        is_truth = isinstance(self.reach, bool)
        if is_truth or not is_number(self.reach) or not self.reach >= 0:
            raise ValueError(f"`reach` must be a number that is not negative, got {self.reach!r}.")
        if self.feature_names is not None and len(self.feature_names) != d:
            raise ValueError(
                f"`feature_names` must have one name for each of the {d} inputs, got "
                f"{len(self.feature_names)}."
            )
        if self.single_output and t != 1:
            raise ValueError(
                f"`single_output=True` requires one output, got {t}: write `single_output=False`."
            )


def _frozen(array: ArrayLike, name: str) -> Float64:
    """Return a read-only copy, with the number of dimensions that the field `name` requires."""
    with named(name):
        if array is None:
            raise ValueError("must be an array, got None.")
        frozen = np.array(array, dtype=np.float64, order="C")
        if name in ("inner_weights", "outer_weights") and frozen.ndim != 2:
            raise ValueError(f"must have two dimensions, got the shape {frozen.shape}.")
        if not np.isfinite(frozen).all():
            raise ValueError("must be finite, got NaN or infinity.")
    frozen.flags.writeable = False
    return frozen
