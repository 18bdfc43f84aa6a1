"""Activations are what they say, alone and in a network; users' own are checked and then work."""

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import erf

from greedynet import GreedyNetRegressor
from greedynet.activations import (
    ACTIVATIONS,
    Activation,
    ReLU,
    Tanh,
    activate,
    degree_of,
    get_activation,
    halves,
    odd_part,
    scales_of,
    shared_degree,
)
from greedynet.search import Dictionary
from problems import relative_error

NAMES = list(ACTIVATIONS)
DEGREES = {"relu": 1, "relu2": 2, "relu3": 3, "leaky_relu": 1, "abs": 1}
SMOOTH = [name for name in NAMES if name not in DEGREES]
# Beside an affine term these are broken lines like ReLU's.
BROKEN_LINES = ["relu", "leaky_relu", "abs"]

FORMULAS = {
    "relu": lambda z: max(z, 0.0),
    "relu2": lambda z: max(z, 0.0) ** 2,
    "relu3": lambda z: max(z, 0.0) ** 3,
    "leaky_relu": lambda z: z if z > 0 else 0.01 * z,
    "abs": abs,
    "tanh": lambda z: (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z)),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "gelu": lambda z: z * (1 + erf(z / np.sqrt(2))) / 2,
    "softplus": lambda z: np.log(1 + np.exp(z)),
    "sin": np.sin,
    "gaussian": lambda z: np.exp(-(z**2)),
}

each_activation = pytest.mark.parametrize("name", NAMES)
# Off the kinks.
Z = np.r_[np.linspace(-6, 6, 61) + 0.013, -1e-3, 1e-3]


# One activation


@each_activation
def test_values_are_those_of_the_formula(name):
    wanted = [FORMULAS[name](z) for z in Z]
    np.testing.assert_allclose(get_activation(name).value(Z), wanted, rtol=1e-12, atol=1e-15)


@each_activation
def test_slopes_are_derivatives(name):
    sigma, step = get_activation(name), 1e-5
    numeric = (sigma.value(Z + step) - sigma.value(Z - step)) / (2 * step)
    np.testing.assert_allclose(sigma.slope(Z), numeric, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("name", "wanted"), [("relu", 0), ("leaky_relu", 0.01), ("abs", -1)])
def test_slopes_at_a_kink_are_those_from_the_left(name, wanted):
    assert get_activation(name).slope(np.zeros(1)) == wanted


@each_activation
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_keep_their_precision_and_shape(name, dtype):
    sigma = get_activation(name)
    z = Z.astype(dtype).reshape(9, 7)
    before = z.copy()
    for function in (sigma.value, sigma.slope):
        found = function(z)
        assert (found.dtype, found.shape) == (dtype, z.shape)
        np.testing.assert_allclose(found, function(z.astype(float)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(z, before)


@each_activation
def test_large_numbers_do_no_harm(name):
    """Nothing overflows, not even on the way; a warning would be an error."""
    sigma = get_activation(name)
    z = np.array([-1e4, -800.0, -40.0, 0.0, 40.0, 800.0, 1e4])
    assert np.isfinite(sigma.value(z)).all()
    assert np.isfinite(sigma.slope(z)).all()


@pytest.mark.parametrize("name", DEGREES)
@pytest.mark.parametrize("s", [0.125, 1.7, 40.0])
def test_homogeneous_activations_are(name, s):
    sigma = get_activation(name)
    assert degree_of(sigma) == shared_degree(sigma) == DEGREES[name]
    assert scales_of(sigma) == (1.0,)
    np.testing.assert_allclose(sigma.value(s * Z), s ** DEGREES[name] * sigma.value(Z), rtol=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_others_have_scales_and_no_degree(name):
    sigma = get_activation(name)
    assert degree_of(sigma) is None
    assert shared_degree(sigma) == 0
    scales = scales_of(sigma)
    assert len(scales) >= 4
    assert all(type(scale) is float and scale > 0 for scale in scales)
    assert sorted(set(scales)) == list(scales)
    for k in (1, 2, 3):
        assert not np.allclose(sigma.value(3 * Z), 3**k * sigma.value(Z))


@pytest.mark.parametrize("name", DEGREES)
def test_the_halves_make_up_the_activation(name):
    sigma, k = get_activation(name), DEGREES[name]
    up, down = halves(sigma)
    wanted = up * np.maximum(Z, 0) ** k + down * np.maximum(-Z, 0) ** k
    np.testing.assert_allclose(sigma.value(Z), wanted, rtol=1e-12)


@each_activation
def test_the_odd_part_is_linear_or_there_is_none(name):
    sigma = get_activation(name)
    s = odd_part(sigma)
    wanted = {"relu": 1.0, "leaky_relu": 1.01, "gelu": 1.0, "softplus": 1.0}
    assert (s is not None) == (name in wanted)
    if s is not None:
        assert s == pytest.approx(wanted[name], rel=1e-12)
        np.testing.assert_allclose(sigma.value(Z) - sigma.value(-Z), s * Z, rtol=1e-9)


@each_activation
def test_activating_writes_over_the_numbers(name):
    sigma, z = get_activation(name), Z.copy()
    wanted = sigma.value(Z)
    found = activate(sigma, z)
    assert found is z
    np.testing.assert_array_equal(z, wanted)


def test_the_registry_has_all_by_name():
    assert len(ACTIVATIONS) == 11
    assert set(ACTIVATIONS) == set(FORMULAS)
    for name, sigma in ACTIVATIONS.items():
        assert sigma.name == name
        assert isinstance(sigma, Activation)
        assert get_activation(name) is sigma
        assert get_activation(sigma) is sigma


def test_activations_are_values():
    assert len(set(ACTIVATIONS.values())) == 11
    assert ReLU() == ACTIVATIONS["relu"]
    assert hash(ReLU()) == hash(ACTIVATIONS["relu"])
    assert ACTIVATIONS["relu2"] != ACTIVATIONS["relu3"]
    assert replace(Tanh(), scales=(1.0,)) != Tanh()
    for sigma in ACTIVATIONS.values():
        again = pickle.loads(pickle.dumps(sigma))
        assert again == sigma
        assert hash(again) == hash(sigma)


# Users' own


@dataclass
class Crooked:
    """`0.3 relu(z) + 2 relu(-z)`; not frozen, so it has no hash."""

    name: str = "crooked"
    degree: int = 1

    def value(self, z):
        return np.where(z > 0, 0.3 * z, -2 * z)

    def slope(self, z):
        return np.where(z > 0, 0.3, -2.0)


@dataclass
class Squash:
    """`z / (1 + |z|)`."""

    name: str = "squash"
    scales: tuple = (1, 2, 4.0, 8.0)

    def value(self, z):
        return z / (1 + np.abs(z))

    def slope(self, z):
        return 1 / (1 + np.abs(z)) ** 2


def own(base=Squash, without=(), **attributes):
    """An object of a class of the user's, changed."""
    parts = {"name": "own", "value": base.value, "slope": base.slope} | attributes
    kept = {name: part for name, part in parts.items() if name not in without}
    return type("Own", (), kept)()


def test_an_own_activation_is_returned_as_it_is():
    for sigma in (Crooked(), Squash(), own(degree=3, base=ACTIVATIONS["relu3"])):
        assert get_activation(sigma) is sigma
    assert scales_of(Squash()) == (1.0, 2.0, 4.0, 8.0)
    assert halves(Crooked()) == (0.3, 2.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Squash())


def test_a_name_that_is_known_does_not_spare_the_check():
    get_activation(own(name="tanh", scales=(1.0,)))
    with pytest.raises(ValueError, match="the derivative of `value` from `slope`"):
        get_activation(own(name="tanh", scales=(1.0,), slope=lambda self, z: 0 * z))


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (Squash, r"`activation` must be an object, got the class Squash: write Squash\(\)\."),
        (
            own(without=["slope"], scales=(1.0,)),
            "`activation` must be a name such as 'relu' or an object with `name`, .*got Own "
            "without `slope`: add `def slope",
        ),
        (own(without=["value"], scales=(1.0,)), r"got Own without `value`\.$"),
        (own(without=["name", "slope"]), r"got Own without `name` and `slope`\.$"),
        (np.tanh, r"got ufunc without `name` and `value` and `slope`\.$"),
        (None, "got NoneType without `name`"),
    ],
)
def test_what_is_no_activation_is_refused(activation, message):
    with pytest.raises(TypeError, match=message):
        get_activation(activation)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (
            "than",
            r"`activation` must be one of \['abs', .*'tanh'\] or an object with `name`.*'than'",
        ),
        (
            own(scales=(1.0,), slope=lambda self, z: 1.01 / (1 + np.abs(z)) ** 2),
            "`activation` must return the derivative of `value` from `slope`, got .*Own.*but the",
        ),
        (own(), "`activation` must have a `degree` or `scales`, got .* and scales None: write"),
        (own(scales=()), r"must have a `degree` or `scales`, got .* and scales \(\): write"),
        (own(scales=(1.0, -2.0)), r"must have a `degree` or `scales`, got .*\(1\.0, -2\.0\)"),
        (own(scales=(1.0, np.nan)), "must have a `degree` or `scales`, got .*nan"),
        (own(Crooked, degree=0), "integer of at least 1 as `degree`, got 0: remove `degree`"),
        (own(Crooked, degree=1.5), r"integer of at least 1 as `degree`, got 1\.5"),
        (
            own(Crooked, degree=2),
            r"homogeneous of its `degree`, value\(3 z\) = 9 value\(z\), got .*define `scales` in",
        ),
        (own(degree=1), r"homogeneous of its `degree`, value\(3 z\) = 3 value\(z\)"),
        (
            own(scales=(1.0,), value=lambda self, z: np.sqrt(z, where=z > 0, out=z * np.nan)),
            "must return one finite number for each z from `value`, got array.*nan",
        ),
        (
            own(scales=(1.0,), value=lambda self, z: np.tanh(z).sum()),
            "must return one finite number for each z from `value`",
        ),
        (
            own(scales=(1.0,), slope=lambda self, z: np.ones((len(z), 2))),
            "must return one finite number for each z from `slope`",
        ),
        (
            own(scales=(1.0,), slope=lambda self, z: z * np.inf),
            "must return one finite number for each z from `slope`",
        ),
    ],
)
def test_parts_that_do_not_go_together_are_refused(activation, message):
    with pytest.raises(ValueError, match=message):
        get_activation(activation)
    X = np.linspace(-1, 1, 20)[:, None]
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(3, activation=activation).fit(X, X[:, 0])


@pytest.mark.parametrize("activation", [Crooked(), Squash()], ids=["degree", "scales"])
@pytest.mark.parametrize(
    ("parameters", "bar"),
    [
        ({"search": "continuous"}, 1e-6),
        ({"search": "continuous", "correct": False}, 0.2),
        ({"search": Dictionary(n_points=3000)}, 0.2),
    ],
    ids=["corrected", "grown", "dictionary"],
)
def test_own_activations_fit(activation, parameters, bar):
    X, y = planted(activation)
    model = GreedyNetRegressor(5, activation=activation, extrapolate=True, **parameters).fit(X, y)
    assert model.network_.activation is activation
    X_new, y_new = planted(activation, rows=1)
    assert relative_error(model.predict(X_new), y_new) < bar


def test_a_dictionary_has_neurons_of_every_scale():
    """On inputs that span [-1, 1], where points are those of the sphere times a scale."""
    x = np.linspace(-1, 1, 200)[:, None]
    y = np.sum([np.tanh(s * (x[:, 0] - s / 20)) for s in (1, 8, -16)], axis=0)
    model = GreedyNetRegressor(30, search=Dictionary(n_points=1200), activation=Tanh()).fit(x, y)
    network = model.network_
    lengths = np.hypot(network.inner_weights[:, 0], network.biases)
    assert {round(length, 6) for length in lengths} <= set(Tanh().scales)
    assert len({round(length) for length in lengths}) > 2
    assert relative_error(model.predict(x), y) < 1e-2


# In a network


def planted(activation, seed=0, n_outputs=1, *, rows=0, n=300):
    """Rows of a network with three neurons and an affine function."""
    sigma = get_activation(activation)
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((3, 2))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    W = 3 * np.column_stack([U, rng.uniform(-0.5, 0.5, 3)])
    C = rng.choice([-1.0, 1.0], (3, n_outputs)) * rng.uniform(1, 2, (3, n_outputs))
    X = np.random.default_rng([seed, rows]).uniform(-1, 1, (n, 2))
    Y = sigma.value(X @ W[:, :-1].T + W[:, -1]) @ C + X @ rng.standard_normal((2, n_outputs)) + 0.5
    return X, (Y[:, 0] if n_outputs == 1 else Y)


def error_on_new_rows(name, fitted_with, seed=0, n_outputs=1):
    X, y = planted(name, seed, n_outputs)
    model = GreedyNetRegressor(5, activation=fitted_with, extrapolate=True).fit(X, y)
    assert model.n_nodes_ == 5
    X_new, y_new = planted(name, seed, n_outputs, rows=1)
    return relative_error(model.predict(X_new), y_new)


@pytest.mark.slow
@each_activation
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_planted_network_is_found(name, n_outputs, request):
    """Where the start leads to it: of three networks, at least two."""
    if (name, n_outputs) == ("softplus", 2):
        request.applymarker(pytest.mark.xfail(reason="ends in a local minimum"))
    errors = [error_on_new_rows(name, name, seed, n_outputs) for seed in range(3)]
    assert np.median(errors) < 1e-6
    if name not in BROKEN_LINES:
        assert error_on_new_rows(name, "relu", 2 * (n_outputs - 1), n_outputs) > 1e-2
