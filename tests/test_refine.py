"""Refinement: scaling there and back, and a network that never ends worse than it started."""

import numpy as np
import pytest

import greedynet
from extras import need
from greedynet import GreedyNetRegressor
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.train.refine import scaled, unscaled
from networks import assert_same
from problems import SEARCHES, noisy, regressor, relative_error

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

each_search = pytest.mark.parametrize("search", SEARCHES)


@each_search
@pytest.mark.parametrize("linear_term", [True, False])
def test_scaled_network_computes_the_scaled_function(search, linear_term):
    X, y = noisy(n_features=3)
    X, Y = X * [1e3, 1.0, 1e-4] + [5.0, 0.0, 1.0], np.column_stack([1e6 * y, y**2 - 7])
    model = regressor(search, n_nodes=9, linear_term=linear_term, n_points=300)
    network = model.fit(X, Y).network_
    inputs, outputs = InputScaling.to_cube(X), OutputScaling.of(Rows(X, Y), centred=True)
    inner = scaled(network, inputs, outputs)
    lengths = np.linalg.norm(np.column_stack([inner.inner_weights, inner.biases]), axis=1)
    np.testing.assert_allclose(lengths, 1)
    wanted = outputs.apply(network.predict(X))
    np.testing.assert_allclose(inner.predict(inputs.apply(X)), wanted, atol=1e-9)
    back = unscaled(inner, inputs, outputs).predict(X)
    np.testing.assert_allclose(back, network.predict(X), rtol=1e-6, atol=1e-9)


@pytest.fixture
def jax():
    return need("jax")


@each_search
def test_refined_network_is_better_on_validation(jax, search):
    X, y = noisy(n_rows=200, noise=0.05)
    X_val, y_val = noisy(n_rows=200, noise=0.05, seed=1)
    units = [1e4, 1e-3]
    settings = {"search": search, "n_nodes": 12, "n_points": 300}
    plain = regressor(**settings).fit(X * units, y, X_val=X_val * units, y_val=y_val)
    refined = regressor(**settings, refine="adam", refine_epochs=400)
    refined.fit(X * units, y, X_val=X_val * units, y_val=y_val)
    before = relative_error(plain.predict(X_val * units), y_val)
    after = relative_error(refined.predict(X_val * units), y_val)
    # A corrected network leaves less to gain.
    assert after < (0.9 if search == "dictionary" else 1.0) * before
    assert refined.n_nodes_ == 12
    assert refined.training_.best_epoch > 0
    np.testing.assert_array_equal(refined.path_.indices, plain.path_.indices)


@each_search
def test_a_plain_fit_forgets_an_earlier_training(jax, search):
    X, y = noisy()
    model = regressor(search, n_nodes=5, n_points=100, refine="adam", refine_epochs=5).fit(X, y)
    assert hasattr(model, "training_")
    assert not hasattr(model.set_params(refine=None).fit(X, y), "training_")


@each_search
def test_refinement_that_finds_nothing_changes_nothing(jax, search):
    X, y = noisy()
    model = regressor(search, n_nodes=8, n_points=300, refine="adam", refine_epochs=3)
    # A validation set that the start fits exactly: no epoch can be better.
    start = regressor(search, n_nodes=8, n_points=300).fit(X, y, X_val=X, y_val=y)
    model.fit(X, y, X_val=X, y_val=start.predict(X))
    np.testing.assert_array_equal(model.predict(X), start.predict(X))


@each_search
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_shapes_are_kept(jax, search, n_outputs):
    X, y = noisy()
    Y = y if n_outputs == 1 else np.column_stack([y, -y])
    model = regressor(search, n_nodes=5, n_points=100, refine="adam", refine_epochs=20).fit(X, Y)
    assert model.predict(X).shape == Y.shape


# Two hidden layers


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_second_layer_is_refined(jax, n_outputs, tmp_path):
    X, y = noisy(n_rows=200, noise=0.05)
    X_val, y_val = noisy(n_rows=200, noise=0.05, seed=1)
    units = [1e4, 1e-3]
    if n_outputs == 2:
        y, y_val = (np.column_stack([a, -3 * a**2]) for a in (y, y_val))
    settings = {"n_nodes": 16, "hidden_layers": 2, "correct": False}
    plain = GreedyNetRegressor(**settings).fit(X * units, y)
    refined = GreedyNetRegressor(**settings, refine="adam", refine_epochs=400)
    refined.fit(X * units, y, X_val=X_val * units, y_val=y_val)
    before = relative_error(plain.predict(X_val * units), y_val)
    assert relative_error(refined.predict(X_val * units), y_val) < 0.95 * before
    assert refined.training_.best_epoch > 0
    assert refined.n_nodes_ == plain.n_nodes_
    assert refined.predict(X).shape == y.shape
    assert_same(refined.network_.ramps, plain.network_.ramps)
    refined.save(tmp_path / "model.safetensors")
    again = greedynet.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), refined.predict(X))
    assert again.training_.network.ramps is not None


def test_refinement_of_two_layers_that_finds_nothing_changes_nothing(jax):
    X, y = noisy()
    settings = {"n_nodes": 12, "hidden_layers": 2}
    start = GreedyNetRegressor(**settings).fit(X, y, X_val=X, y_val=y)
    model = GreedyNetRegressor(**settings, refine="adam", refine_epochs=3)
    model.fit(X, y, X_val=X, y_val=start.predict(X))
    np.testing.assert_array_equal(model.predict(X), start.predict(X))
