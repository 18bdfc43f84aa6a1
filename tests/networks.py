"""Networks to save and export: every kind the library makes, with weights drawn at random."""

from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from greedynet import GreedyNetRegressor, Network
from greedynet.activations import ACTIVATIONS, LeakyReLU, odd_part
from greedynet.model.ramps import Ramps
from greedynet.support.tensorfile import write_tree
from greedynet.tables.columns import Columns, Input
from greedynet.tables.kinds import Categories, Dates, Durations
from greedynet.tables.model import TableModel
from problems import regressor

DTYPES = ("float32", "float64")

# How close an export must come to `predict`, relative to the largest output.
CLOSE = {"float32": 1e-4, "float64": 1e-12}

RANGE = np.array([[-1.0, 0.0, 5.0], [2.0, 1.0, 7.0]])


def random_network(
    n_neurons: int = 5,
    n_outputs: int = 1,
    *,
    affine: bool = True,
    n_features: int = 3,
    activation: str = "relu",
    seed: int = 0,
) -> Network:
    rng = np.random.default_rng(seed)
    return Network(
        inner_weights=rng.normal(size=(n_neurons, n_features)),
        biases=rng.normal(size=n_neurons),
        outer_weights=rng.normal(size=(n_neurons, n_outputs)),
        linear_weights=rng.normal(size=(n_features, n_outputs)) if affine else None,
        intercept=rng.normal(size=n_outputs) if affine else None,
        activation=ACTIVATIONS[activation],
        single_output=n_outputs == 1,
        input_range=RANGE[:, :n_features] if n_features <= 3 else None,
        feature_names=tuple(f"feature {i}" for i in range(n_features)),
    )


def random_deep_network(n_neurons: int = 5, n_outputs: int = 1, **options) -> Network:
    """Return a network with ramps along the first and the last of three columns, one steep."""
    knots = [-1.0, 0.2, 0.7, 2.0], [5.0, 5.5, 5.501, 6.0, 7.0]
    ramps = Ramps(3, np.repeat([0, 2], [4, 5]), np.concatenate(knots))
    over = random_network(n_neurons, n_outputs, n_features=ramps.n_lifted, **options)
    return replace(over, ramps=ramps, input_range=RANGE, feature_names=("a", "b", "c"))


def _name(activation: str, n_outputs: int, affine: bool, n_neurons: int) -> str:
    return f"{activation}-{n_outputs}out-{'affine' if affine else 'plain'}-{n_neurons}"


# One and several outputs, with and without affine term: of ReLU with 1 and 1,000 nodes, of every
# other activation with some.
KINDS = {
    _name(activation, n_outputs, affine, n): {
        "activation": activation,
        "n_outputs": n_outputs,
        "affine": affine,
        "n_neurons": n,
    }
    for activation in ACTIVATIONS
    for n_outputs, affine, n in product(
        (1, 3), (False, True), (1, 1000) if activation == "relu" else (20,)
    )
}
# All of ReLU, and two of every other activation, for the targets that take long.
FEW_KINDS = [
    name
    for name, of in KINDS.items()
    if of["activation"] == "relu" or (of["n_outputs"] == 1) == of["affine"]
]
# Of these ReLU in both precisions, and the two of every other activation in one each.
FEW_KINDS_AND_DTYPES = [
    (name, dtype)
    for name in FEW_KINDS
    for dtype in DTYPES
    if KINDS[name]["activation"] == "relu" or KINDS[name]["affine"] == (dtype == "float32")
]

# Two hidden layers: with and without neurons in the second one, of ReLU and one that does not fold.
DEEP_KINDS = {
    f"deep-{name}": {"activation": activation, "n_outputs": t, "affine": affine, "n_neurons": n}
    for activation, t, affine, n in [
        *product(("relu", "tanh"), (1, 3), (False, True), (20,)),
        *product(("relu", "tanh"), (1, 3), (True,), (0,)),
    ]
    for name in [_name(activation, t, affine, n)]
}


def kind(name: str) -> Network:
    if name in DEEP_KINDS:
        return random_deep_network(**DEEP_KINDS[name])
    return random_network(**KINDS[name])


# Those of the library, and a slope that no library takes where none is given.
STEEP = {**ACTIVATIONS, "leaky_relu of a third": LeakyReLU(1 / 3)}


def steep(activation: str) -> Network:
    """Return a network whose neurons see arguments of thousands, and some near zero."""
    network = random_network(12, 2, affine=False)
    factors = np.where(np.arange(12) < 8, 1000.0, 1.0)
    weights = network.inner_weights * factors[:, None]
    return replace(network, activation=STEEP[activation], inner_weights=weights)


def folds(network: Network) -> bool:
    """Whether the network has no affine term, or one that can become neurons."""
    return not network.has_affine_term or odd_part(network.activation) is not None


def inputs(network: Network, n_rows: int = 50, *, seed: int = 1) -> np.ndarray:
    """Draw rows from the training range and somewhat beyond."""
    low, high = network.input_range
    width = high - low
    share = np.random.default_rng(seed).random((n_rows, network.n_features))
    return low - width / 4 + share * width * 1.5


def fitted(
    search: str = "continuous", *, n_outputs: int = 1, dtype: str = "float64", **parameters
) -> GreedyNetRegressor:
    """Return an estimator whose path goes on beyond the width that was kept."""
    if parameters:
        return _fit(search, n_outputs, dtype, **parameters)
    return copy(_fit_once(search, n_outputs, dtype))  # a test may change what is its own


def _fit(search: str, n_outputs: int, dtype: str, **parameters) -> GreedyNetRegressor:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (80, 2)) * [1, 10] + [0, 50]
    columns = [np.abs(X[:, 0]) + 0.1 * X[:, 1], X[:, 0] ** 2, X[:, 0] * (X[:, 1] - 50)]
    Y = np.stack(columns[:n_outputs], axis=1) + 0.05 * rng.normal(size=(80, n_outputs))
    y = Y[:, 0] if n_outputs == 1 else Y
    defaults = {"max_nodes": 25, "n_points": 200}
    return regressor(search, **(defaults | parameters)).fit(X.astype(dtype), y)


_fit_once = cache(_fit)


@cache
def fitted_deep(n_outputs: int = 1, **parameters) -> GreedyNetRegressor:
    """Return two layers fitted in units from 1e-6 to 1e6, where two columns are skewed.

    The knots of skewed columns are close to each other on one side, and far on the other.
    """
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(200, 3))
    X = np.column_stack([1e-6 * np.exp(2 * Z[:, 0]), 1e6 * Z[:, 1], 1e6 * np.exp(2 * Z[:, 2])])
    Y = np.column_stack([np.abs(Z[:, 0]) * Z[:, 1] + np.sin(3 * Z[:, 2]), 1e-4 * Z[:, 0] ** 2])
    y = Y[:, 0] if n_outputs == 1 else Y
    defaults = {"max_nodes": 40, "hidden_layers": 2}
    return GreedyNetRegressor(**(defaults | parameters)).fit(X, y)


def assert_same(got: object, wanted: object) -> None:
    """Demand equality bit for bit, dataclasses field by field."""
    assert type(got) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        same = got.tolist() == wanted.tolist() if wanted.dtype == object else None
        assert got.tobytes() == wanted.tobytes() if same is None else same
    elif hasattr(wanted, "__dataclass_fields__"):
        for field in fields(wanted):
            assert_same(getattr(got, field.name), getattr(wanted, field.name))
    elif isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
    else:
        assert got == wanted


def assert_close(got: object, network: Network, X: np.ndarray, dtype: str) -> None:
    """Demand the network's outputs for the rows, given in the precision `dtype`, `(n, t)`."""
    wanted = network.predict(X.astype(dtype)).reshape(len(X), -1)
    got = np.asarray(got)
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    error = np.abs(got - wanted).max(axis=0) / np.abs(wanted).max(axis=0)
    assert (error < CLOSE[dtype]).all(), error


def impostor(network: Network) -> Network:
    """Return the network with an activation that has a known name and does something else."""

    @dataclass(frozen=True)
    class Impostor:
        name: str = network.activation.name
        degree: int = 1

        def value(self, z):
            return np.maximum(0.5 * z, z)

        def slope(self, z):
            return np.where(z > 0, 1.0, 0.5)

    return replace(network, activation=Impostor())


def write_state(path: Path, state: object) -> None:
    """Write a file with what is said to be a network."""
    write_tree(path, "network", state)


# Columns of moments, of which models are drawn.
MOMENTS = {
    "days": Dates("2019-03-05", "2020-12-24", "days", ("year", "week")),
    "years": Dates("2011-03-05", "2019-12-24", "years", ("year", "week")),
    "times": Dates("2020-02-27 22:00:00", "2020-03-09 13:00:00", "days", ("week", "day")),
    "clock": Durations(2, is_clock=True),
}


def all_moments(name: str, step: str):
    """Return the moments of a column, `step` apart; minutes of a clock."""
    kind = MOMENTS[name]
    if isinstance(kind, Durations):
        return np.arange(0, 24 * 60).astype("m8[m]").astype("m8[us]")
    ends = np.array([kind.first, kind.last], dtype=f"M8[{step}]")
    return np.arange(ends[0], ends[1] + 1).astype("M8[us]")


def drawn_model_of_moments(name: str, seed: int, n_neurons: int = 10):
    """Return a model of a random network over moments, a number, and a category."""
    rng, kind = np.random.default_rng(seed), MOMENTS[name]
    columns = (Input("when", kind), Input("size"), Input("kind", Categories(("A", "B"))))
    moments = all_moments(name, "h")
    inner = np.zeros((len(moments), kind.n_features))
    kind.encode(moments, inner)
    low = np.array([*inner.min(axis=0), 0.0, 0.0, 0.0])
    high = np.array([*inner.max(axis=0), 2.0, 1.0, 1.0])
    width, d = high - low, len(low)
    W = rng.normal(size=(n_neurons, d)) / width
    at = low + width * rng.random((n_neurons, d))
    slopes = rng.normal(size=(d, 1)) / width[:, None]
    network = Network(
        W, -(W * at).sum(axis=1), rng.normal(size=(n_neurons, 1)), slopes, -(low @ slopes)
    )
    return TableModel(Columns(columns), replace(network, input_range=np.array([low, high])))
