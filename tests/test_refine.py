"""Refinement: scaling there and back, and a network that never ends worse than it started."""

import numpy as np
import pytest

from extras import need
from greedynet import GreedyNetRegressor
from greedynet.data import InputScaling, OutputScaling, Rows
from greedynet.refine import scaled, unscaled
from problems import noisy, relative_error


@pytest.mark.parametrize("linear_term", [True, False])
def test_scaled_network_computes_the_scaled_function(linear_term):
    X, y = noisy(n_features=3)
    X, Y = X * [1e3, 1.0, 1e-4] + [5.0, 0.0, 1.0], np.column_stack([1e6 * y, y**2 - 7])
    network = GreedyNetRegressor(9, linear_term=linear_term, n_points=300).fit(X, Y).network_
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


def test_refined_network_is_better_on_validation(jax):
    X, y = noisy(n_rows=200, noise=0.05)
    X_val, y_val = noisy(n_rows=200, noise=0.05, seed=1)
    units = [1e4, 1e-3]
    plain = GreedyNetRegressor(12, n_points=300).fit(X * units, y)
    refined = GreedyNetRegressor(12, n_points=300, refine="adam", refine_epochs=400)
    refined.fit(X * units, y, X_val=X_val * units, y_val=y_val)
    before = relative_error(plain.predict(X_val * units), y_val)
    after = relative_error(refined.predict(X_val * units), y_val)
    assert after < 0.9 * before
    assert refined.n_nodes_ == 12
    assert refined.training_.best_epoch > 0
    np.testing.assert_array_equal(refined.path_.indices, plain.path_.indices)


def test_a_plain_fit_forgets_an_earlier_training(jax):
    X, y = noisy()
    model = GreedyNetRegressor(5, n_points=100, refine="adam", refine_epochs=5).fit(X, y)
    assert hasattr(model, "training_")
    assert not hasattr(model.set_params(refine=None).fit(X, y), "training_")


def test_refinement_that_finds_nothing_changes_nothing(jax):
    X, y = noisy()
    model = GreedyNetRegressor(8, n_points=300, refine="adam", refine_epochs=3)
    # A validation set that the start fits exactly: no epoch can be better.
    start = GreedyNetRegressor(8, n_points=300).fit(X, y)
    model.fit(X, y, X_val=X, y_val=start.predict(X))
    np.testing.assert_array_equal(model.predict(X), start.predict(X))


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_shapes_are_kept(jax, n_outputs):
    X, y = noisy()
    Y = y if n_outputs == 1 else np.column_stack([y, -y])
    model = GreedyNetRegressor(5, n_points=100, refine="adam", refine_epochs=20).fit(X, Y)
    assert model.predict(X).shape == Y.shape
