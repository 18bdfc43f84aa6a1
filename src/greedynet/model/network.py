"""`ShallowNetwork`: a network with one hidden layer, as immutable arrays.

g(x) = sum_n c_n sigma(a_n . x + b_n)  +  l . x + m,    within bounds on the outputs, if any

The inputs `x` are clipped to the box of the training rows first, `min(max(x, low), high)`, unless
the network extrapolates.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import (
    ACTIVATIONS,
    Activation,
    ReLU,
    activate,
    get_activation,
    shared_degree,
)
from greedynet.model.bounds import OutputBounds
from greedynet.model.box import widened
from greedynet.model.path_factor import PathFactor
from greedynet.support.checks import check_matrix, is_number, is_whole, named
from greedynet.support.phrases import plural
from greedynet.support.tensorfile import write_tree
from greedynet.support.types import Float64

_PREDICT_ELEMENTS = 2**22


@dataclass(frozen=True, eq=False)
class ShallowNetwork:
    """A network with one hidden layer; its arrays are read-only.

    `g(x) = sum_n c_n sigma(a_n . x + b_n) + l . x + m`. A *neuron* is one hidden unit
    `c sigma(a . x + b)`. The number of *nodes* is the number of neurons plus two for the affine
    term `l . x + m`, which two ReLU neurons could replace.

    Parameters
    ----------
    inner_weights : ndarray of shape (n_neurons, n_features)
        The `a_n`, for inputs in their original units.
    biases : ndarray of shape (n_neurons,)
        The `b_n`.
    outer_weights : ndarray of shape (n_neurons, n_outputs)
        The `c_n`.
    linear_weights : ndarray of shape (n_features, n_outputs) or None, default=None
        The `l` of the affine term; None if the network has none.
    intercept : ndarray of shape (n_outputs,) or None, default=None
        The `m` of the affine term.
    activation : Activation, default=ReLU()
        The `sigma`.
    single_output : bool, default=True
        Whether `predict` returns the shape `(n_rows,)`, for one output, or `(n_rows, n_outputs)`.
    path_factor : PathFactor or None, default=None
        The factor with which `truncate` solves for the outer weights; None after further training.
    input_range : ndarray of shape (2, n_features) or None, default=None
        Smallest and largest value of each input in the training data, if known.
    feature_names : tuple of str or None, default=None
        Names of the inputs, if any.
    bounds : OutputBounds or None, default=None
        What the outputs may not leave: `predict` returns `min(max(g(x), low), high)`.
    reach : float, default=0.0
        How far inputs may lie beyond `input_range` before they are clipped, as a share of it;
        infinity for inputs that are taken as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import ShallowNetwork
    >>> hat = ShallowNetwork(
    ...     np.ones((3, 1)), np.array([1.0, 0.0, -1.0]), np.array([[1], [-2], [1]])
    ... )
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
    path_factor: PathFactor | None = field(default=None, repr=False)
    input_range: Float64 | None = field(default=None, repr=False)
    feature_names: tuple[str, ...] | None = None
    bounds: OutputBounds | None = None
    reach: float = 0.0

    def __post_init__(self) -> None:
        for name in (*_ARRAYS, "input_range"):
            value = getattr(self, name)
            if value is not None or name in _ARRAYS[:3]:
                object.__setattr__(self, name, _frozen(value, name))
        object.__setattr__(self, "activation", get_activation(self.activation))
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(map(str, self.feature_names)))
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
    def n_nodes(self) -> int:
        """Number of nodes: the neurons, plus two for an affine term."""
        return self.n_neurons + (0 if self.linear_weights is None else 2)

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
        return self.inner_weights.shape[1]

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

    def neuron_inputs(self, X: Float64) -> Float64:
        """Return what the neurons and the affine term get of rows: these, within the box."""
        return self.within_box(X)

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

    def truncate(self, n_nodes: int) -> "ShallowNetwork":
        """Return the network of the first `n_nodes` nodes of the path, with new outer weights.

        This equals the network grown to that many nodes; no data are needed.

        Parameters
        ----------
        n_nodes : int
            Number of nodes, neurons plus two for an affine term; at most the current number.

        Returns
        -------
        network : ShallowNetwork
        """
        fixed = self.n_nodes - self.n_neurons
        check_n_nodes(n_nodes, fixed, self.n_nodes)
        if n_nodes == self.n_nodes:
            return self
        if self.path_factor is None:
            raise ValueError(
                "This network has no selection path along which to truncate: its weights were "
                "given or trained. Truncate the network of the fit instead, before training."
            )
        n = int(n_nodes) - fixed
        outer, linear, intercept = self.path_factor.solve(n)
        return replace(
            self,
            inner_weights=self.inner_weights[:n],
            biases=self.biases[:n],
            outer_weights=outer,
            linear_weights=None if self.linear_weights is None else linear,
            intercept=None if self.intercept is None else intercept,
            path_factor=self.path_factor.truncated(n),
        )

    def with_input_range(self, input_range: Float64 | None) -> "ShallowNetwork":
        """Return the network with another range of its inputs, or an unknown one."""
        return replace(self, input_range=input_range)

    def with_reach(self, reach: float) -> "ShallowNetwork":
        """Return the network that clips inputs so far beyond the training rows."""
        return replace(self, reach=reach)

    def without_neurons(self) -> "ShallowNetwork":
        """Return its affine term, as it is."""
        return replace(
            self,
            inner_weights=self.inner_weights[:0],
            biases=self.biases[:0],
            outer_weights=self.outer_weights[:0],
            path_factor=None,
        )

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
        factor = None if self.path_factor is None else dict(vars(self.path_factor))
        bounds = None if self.bounds is None else self.bounds.state()
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        special = {
            "activation": saved_name(self.activation),
            "path_factor": factor,
            "bounds": bounds,
            # JSON has no infinity.
            "reach": None if self.extrapolates else self.reach,
        }
        return plain | special

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "ShallowNetwork":
        """Return the network with the given `state`."""
        factor, bounds = state["path_factor"], state["bounds"]
        special = {
            "path_factor": None if factor is None else PathFactor(**factor),
            "bounds": None if bounds is None else OutputBounds.from_state(bounds),
            "reach": np.inf if state["reach"] is None else state["reach"],
        }
        return cls(**{**state, **special})

    @property
    def contents(self) -> str:
        """What it is made of, in words: neurons and an affine term, or a straight line."""
        if self.n_neurons or self.linear_weights is None:
            affine = "" if self.linear_weights is None else " and an affine term"
            return f"{plural(self.n_neurons, f'{self.activation.name} neuron')}{affine}"
        return "a straight line, without neurons" if self.linear_weights.any() else "a constant"

    def describe(self) -> str:
        """Return a short description of the network and its largest neurons."""
        lines = [
            f"{self.contents} ({plural(self.n_nodes, 'node')}): "
            f"{plural(self.n_features, 'input')} -> {plural(self.n_outputs, 'output')}, "
            f"{plural(self.n_parameters, 'parameter')}"
        ]
        if self.bounds is not None:
            lines.append(f"  outputs {self.bounds.sentence()}")
        for n in self.largest_neurons()[:10]:
            a = " ".join(f"{w:+.3g}" for w in self.inner_weights[n][:8])
            more = " ..." if self.n_features > 8 else ""
            c = " ".join(f"{w:+.3g}" for w in self.outer_weights[n][:4])
            lines.append(f"  neuron {n:3d}: a = [{a}{more}]  b = {self.biases[n]:+.3g}  c = [{c}]")
        if self.n_neurons > 10:
            lines.append(f"  ... and {self.n_neurons - 10} more with smaller weights")
        return "\n".join(lines)

    def largest_neurons(self) -> NDArray[np.intp]:
        """Return the indices of the neurons, those with the largest weights first."""
        with np.errstate(over="ignore", under="ignore"):
            size = np.abs(self.outer_weights).max(axis=1)
            size = size * np.abs(self.inner_weights).max(axis=1) ** shared_degree(self.activation)
        return np.argsort(-size, kind="stable")

    @property
    def n_parameters(self) -> int:
        """Number of weights, biases included."""
        present = (getattr(self, name) for name in _ARRAYS)
        return sum(array.size for array in present if array is not None)

    @property
    def n_multiplications(self) -> int:
        """Number of multiplications of a prediction."""
        affine = 0 if self.linear_weights is None else self.linear_weights.size
        return self.inner_weights.size + self.outer_weights.size + affine

    def _check_X(self, X: ArrayLike) -> Float64:
        rows = check_matrix(X, "X")
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"`X` must have {self.n_features} columns, one for each input of the network, got "
                f"{rows.shape[1]}."
            )
        return rows

    def _check_shapes(self) -> None:
        n, d = self.inner_weights.shape
        t = self.outer_weights.shape[1]
        wanted = dict(zip(_ARRAYS, [(n, d), (n,), (n, t), (d, t), (t,)], strict=True))
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
        if self.path_factor is not None and not self.path_factor.fits(n, d, t):
            raise ValueError(
                f"`path_factor` must match {n} neurons, {d} inputs and {t} outputs: weights "
                "changed by anything other than `truncate` have none; write `path_factor=None`."
            )
        if self.single_output and t != 1:
            raise ValueError(
                f"`single_output=True` requires one output, got {t}: write `single_output=False`."
            )


_ARRAYS = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")


def check_n_nodes(n_nodes: int, fewest: int, most: int) -> None:
    """Raise an error unless a network can be truncated to a number of nodes."""
    if not is_whole(n_nodes) or not fewest <= n_nodes <= most:
        raise ValueError(
            f"`n_nodes` must be between {fewest} and {most}, the number of nodes of this network, "
            f"got {n_nodes!r}; for more nodes, fit with a larger `max_nodes`."
        )


def saved_name(activation: Activation) -> str:
    """Return the name under which a registered activation is saved; raise an error for others."""
    name = activation.name
    if ACTIVATIONS.get(name) != activation:
        raise ValueError(
            f"`activation` must be one of {sorted(ACTIVATIONS)} to be saved, because files contain "
            f"no code, got {activation!r}: add it to `greedynet.activations.ACTIVATIONS` under its "
            f"name, {name!r}, before saving and before loading."
        )
    return name


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
