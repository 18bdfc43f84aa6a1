"""`train`: scaling there and back, a network never worse than its start, promises kept."""

import numpy as np
import pytest

import greedynet
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from networks import assert_same
from problems import SEARCHES, noisy, regressor, relative_error

need("jax")
need("optax")

from greedynet.train import train  # noqa: E402

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

each_search = pytest.mark.parametrize("search", SEARCHES)


def held_out(n_outputs=1):
    """Return training rows and validation rows, in units of different sizes."""
    X, y = noisy(n_rows=200, noise=0.05)
    X_val, y_val = noisy(n_rows=200, noise=0.05, seed=1)
    if n_outputs == 2:
        y, y_val = (np.column_stack([a, -3 * a**2]) for a in (y, y_val))
    units = [1e4, 1e-3]
    return X * units, y, {"X_val": X_val * units, "y_val": y_val}


@each_search
def test_trained_network_is_better_on_validation(search):
    X, y, told = held_out()
    plain = regressor(search=search, n_nodes=12, n_points=300).fit(X, y, **told)
    before = plain.network_
    trained = train(plain, X, y, **told, epochs=400)
    errors = [relative_error(m.predict(told["X_val"]), told["y_val"]) for m in (plain, trained)]
    # A corrected network leaves less to gain.
    assert errors[1] < (0.9 if search == "dictionary" else 1.0) * errors[0]
    assert trained.n_nodes_ == 12
    assert trained.training_.best_epoch > 0
    assert trained.path_ is plain.path_
    # The given model is unchanged.
    assert plain.network_ is before
    assert not hasattr(plain, "training_")
    assert not hasattr(plain, "trained_on_")


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_expected_error_is_measured_on_validation_rows(n_outputs):
    X, y, told = held_out(n_outputs)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    plain = GreedyNetRegressor(n_nodes=12).fit(X, y)
    trained = train(plain, X, y, **told, sample_weight_val=weights, epochs=100)
    squares = (trained.predict(told["X_val"]) - told["y_val"]) ** 2
    rmse = np.sqrt(np.average(squares, axis=0, weights=weights))
    np.testing.assert_allclose(trained.expected_error_, rmse)
    np.testing.assert_allclose(trained.expectation_.expected_error, rmse)
    assert trained.expectation_.n_rows == len(y)
    assert np.shape(trained.expected_error_) == np.shape(plain.expected_error_)
    assert "On new rows expect to be off by about" in trained.expectation_.sentence()


def test_nothing_is_promised_that_was_not_measured():
    X, y = noisy()
    plain = GreedyNetRegressor(n_nodes=8).fit(X, y)
    trained = train(plain, X, y, epochs=20)
    assert plain.expected_error_ is not None
    assert (trained.expected_error_, trained.ladder_, trained.intervals_) == (None, None, None)
    assert trained.expectation_.expected_error is None
    assert trained.alpha_ is None
    with pytest.raises(ValueError, match="its network was trained on after the fit: measure"):
        trained.predict_interval(X)


def test_a_fit_forgets_an_earlier_training():
    X, y = noisy()
    trained = train(GreedyNetRegressor(n_nodes=5).fit(X, y), X, y, epochs=5)
    assert hasattr(trained, "training_")
    again = trained.fit(X, y)
    assert not hasattr(again, "training_")
    assert not hasattr(again, "trained_on_")


@each_search
def test_training_that_finds_nothing_changes_nothing(search):
    X, y = noisy()
    start = regressor(search, n_nodes=8, n_points=300).fit(X, y, X_val=X, y_val=y)
    # A validation set that the start fits exactly: no epoch can be better.
    trained = train(start, X, y, X_val=X, y_val=start.predict(X), epochs=3)
    np.testing.assert_array_equal(trained.predict(X), start.predict(X))


def test_inputs_are_those_of_the_fit():
    X, y = noisy()
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    plain = GreedyNetRegressor(n_nodes=6, missing="learn").fit(X, y)
    trained = train(plain, X, y, X_val=X, y_val=y, epochs=10)
    assert trained.expected_error_ <= np.sqrt(np.mean((plain.predict(X) - y) ** 2))


def test_rows_beyond_those_of_the_fit_widen_the_box():
    X, y = noisy()
    plain = GreedyNetRegressor(n_nodes=6).fit(X, y)
    trained = train(plain, 2 * X, y, epochs=10)
    assert trained.training_.best_epoch > 0
    np.testing.assert_array_equal(trained.network_.input_range, 2 * plain.network_.input_range)


def test_models_that_cannot_be_trained():
    X, y = noisy()
    plain = GreedyNetRegressor(n_nodes=4).fit(X, y)
    with pytest.raises(TypeError, match=r"`model` must be a fitted .* write train_networks\("):
        train(plain.network_, X, y)
    classes = GreedyNetClassifier(n_nodes=4).fit(X, y > np.median(y))
    with pytest.raises(TypeError, match=r"got GreedyNetClassifier: write .*to_torch"):
        train(classes, X, y)
    with pytest.raises(ValueError, match="This GreedyNetRegressor instance is not fitted"):
        train(GreedyNetRegressor(), X, y)
    other = GreedyNetRegressor(n_nodes=4, loss="absolute_error").fit(X, y)
    with pytest.raises(ValueError, match=r"`model` must have loss=\"squared_error\""):
        train(other, X, y)
    shaped = GreedyNetRegressor(n_nodes=4, monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ValueError, match="would not keep the signs of the weights"):
        train(shaped, X, y)
    with pytest.raises(ValueError, match="must be given together, got no `y_val`"):
        train(plain, X, y, X_val=X)
    with pytest.raises(ValueError, match="X has 1 features, but GreedyNetRegressor is expecting"):
        train(plain, X[:, :1], y)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_second_layer_is_trained(n_outputs, tmp_path):
    X, y, told = held_out(n_outputs)
    plain = GreedyNetRegressor(n_nodes=16, hidden_layers=2, correct=False).fit(X, y)
    trained = train(plain, X, y, **told, epochs=400)
    before = relative_error(plain.predict(told["X_val"]), told["y_val"])
    assert relative_error(trained.predict(told["X_val"]), told["y_val"]) < 0.95 * before
    assert trained.training_.best_epoch > 0
    assert trained.n_nodes_ == plain.n_nodes_
    assert trained.predict(X).shape == y.shape
    assert_same(trained.network_.ramps, plain.network_.ramps)
    trained.save(tmp_path / "model.safetensors")
    again = greedynet.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), trained.predict(X))
    assert again.training_.network.ramps is not None
