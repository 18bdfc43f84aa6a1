"""Training on in another library: the fixed layer that scales, and estimators that come back."""

from copy import copy
from pathlib import Path

import numpy as np
import pytest

import greedynet
from classifiers import classifier, rows
from deep_networks import bent_columns
from extras import need
from greedynet import GreedyNetRegressor
from greedynet.export import from_torch, to_torch
from networks import assert_same, kind, random_network

torch = need("torch")


def in_raw_units(n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of sizes from 0.1 to 1,000, two of them far from zero, and a smooth target."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (n_rows, 4))
    y = 30 + 10 * np.abs(u[:, 0]) * u[:, 1] + 5 * np.sin(3 * u[:, 2]) + u[:, 3]
    return u * [200, 20, 300, 0.1] + [500, 1000, 300, 0], y + rng.normal(size=n_rows)


def trained(module, X: np.ndarray, y: np.ndarray, steps: int = 300) -> list[float]:
    """Train by Adam with its defaults, on all rows at once; return the losses."""
    x, wanted = (torch.from_numpy(a.astype("float32")) for a in (X, y[:, None]))
    optimizer, losses = torch.optim.Adam(module.parameters()), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(module(x), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_no_layer_without_a_known_range_and_no_other_word():
    unknown = random_network(n_features=4)
    assert [type(layer).__name__ for layer in to_torch(unknown)] == ["Linear", "ReLU", "Linear"]
    with pytest.raises(ValueError, match=r'`scaling` of `to_torch` must be "layer".*got \'fixed\''):
        to_torch(random_network(), scaling="fixed")


@pytest.mark.parametrize("hidden_layers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_adam_does_not_ruin_a_network_of_raw_columns(hidden_layers: int):
    X, y = in_raw_units(150)
    model = GreedyNetRegressor(n_nodes=16, hidden_layers=hidden_layers).fit(X, y)
    losses = trained(to_torch(model), X, y)
    assert max(losses) < 1.2 * losses[0]
    assert losses[-1] < losses[0]
    # What the layer is for.
    assert max(trained(to_torch(model, scaling="folded"), X, y, steps=20)) > 10 * losses[0]


# The estimator


@pytest.mark.parametrize("scaling", ["layer", "folded"])
def test_classifier_comes_back_with_its_classes(scaling: str, tmp_path: Path):
    model, X = classifier(5), rows(100, seed=1)
    module = to_torch(model, dtype="float64", scaling=scaling)
    with torch.no_grad():
        module[-1].bias += torch.arange(5)
    again = from_torch(module, like=model)
    assert type(again) is type(model)
    assert_same(again.classes_, model.classes_)
    logits = model.decision_function(X) + np.arange(5)
    np.testing.assert_allclose(again.decision_function(X), logits, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(again.predict(X), model.classes_[logits.argmax(axis=1)])
    again.save(tmp_path / "model.safetensors")
    loaded = greedynet.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), again.predict_proba(X))
    # From a file, too.
    model.save(tmp_path / "start.safetensors")
    from_file = from_torch(module, like=tmp_path / "start.safetensors")
    np.testing.assert_array_equal(from_file.predict(X), again.predict(X))


def test_nothing_is_said_of_the_errors_of_a_trained_network():
    X, y = in_raw_units(100)
    model = GreedyNetRegressor(max_nodes=8).fit(X, y)
    before = copy(model)
    again = from_torch(to_torch(model), like=model)
    assert (again.expected_error_, again.ladder_, again.intervals_) == (None, None, None)
    assert again.expectation_.expected_error is None
    with pytest.raises(ValueError, match="its network was trained on after the fit: measure"):
        again.predict_interval(X)
    assert vars(model).keys() == vars(before).keys()  # the original stays
    assert model.predict_interval(X)[0].shape == (100,)
    np.testing.assert_array_equal(again.truncate(3).predict(X), model.truncate(3).predict(X))
    assert not hasattr(again.fit(X, y), "trained_on_")


def test_table_model_comes_back_with_its_columns():
    table = bent_columns(120)
    model = greedynet.fit_table(table, "y", max_nodes=10)
    again = from_torch(to_torch(model, dtype="float64"), like=model)
    np.testing.assert_allclose(again.predict(table), model.predict(table), rtol=1e-9)
    assert again.columns is model.columns
    assert "training" not in again.about
    assert "target y" in again.summary()


def test_estimator_of_other_inputs_is_refused():
    X, y = in_raw_units(60)
    model = GreedyNetRegressor(max_nodes=6).fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"`like` must have as many inputs as the network that"):
        from_torch(to_torch(random_network()), like=model)


@pytest.mark.slow
@pytest.mark.parametrize(("hidden_layers", "scaling"), [(1, "layer"), (2, "layer"), (2, "folded")])
def test_round_trip_by_jax_and_keras(hidden_layers: int, scaling: str):
    jax, keras = need("jax"), need("keras")
    from greedynet.export import from_jax, from_keras, to_jax, to_keras

    X, y = in_raw_units(150)
    model = GreedyNetRegressor(n_nodes=16, hidden_layers=hidden_layers).fit(X, y)
    with jax.enable_x64(True):
        params, apply = to_jax(model, scaling=scaling)
        params["intercept"] = params["intercept"] + 3.0
        for function in (apply, jax.jit(apply)):
            again = from_jax(params, function, like=model)
            np.testing.assert_allclose(again.predict(X), model.predict(X) + 3.0, rtol=1e-10)
        with pytest.raises(TypeError, match=r"`apply` of `from_jax` must be the function that"):
            from_jax(params, lambda params, X: X)
        with pytest.raises(TypeError, match=r"`params` of `from_jax` must be a dict of arrays"):
            from_jax({"biases": 0}, apply)
        for fold in (True, False):
            made = to_keras(model, dtype="float64", scaling=scaling, fold_affine=fold)
            assert all("scaling" not in weight.path for weight in made.trainable_weights)
            last = made.get_layer("outer" if fold else "affine")
            last.bias.assign_add(np.full(1, 3.0))
            again = from_keras(made, like=model)
            np.testing.assert_allclose(again.predict(X), model.predict(X) + 3.0, rtol=1e-10)
    other = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(TypeError, match=r"`keras_model` must be a model that `to_keras` returned"):
        from_keras(other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_keras_model_in_a_file_is_trained_and_read(tmp_path: Path):
    keras = need("keras")
    from greedynet.export import from_keras, to_keras

    X, y = in_raw_units(150)
    model = GreedyNetRegressor(n_nodes=16).fit(X, y)
    to_keras(model).save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    again.compile(optimizer="adam", loss="mse")
    losses = again.fit(X, y, epochs=60, batch_size=150, verbose=0).history["loss"]
    assert max(losses) < 1.2 * losses[0]
    assert losses[-1] < losses[0]
    back = from_keras(again, like=model)
    np.testing.assert_allclose(back.predict(X), again.predict(X, verbose=0)[:, 0], rtol=1e-3)
    assert from_keras(again).n_features == 4


@pytest.mark.slow
def test_keras_cannot_tell_all():
    need("keras")
    from greedynet.export import from_keras, to_keras

    network = kind("deep-relu-1out-affine-20")
    with pytest.raises(ValueError, match=r"`like` of `from_keras` must be .* two hidden layers"):
        from_keras(to_keras(network))
    sine = random_network(affine=False, activation="sin")
    with pytest.raises(ValueError, match=r"since the activation of the hidden layer, 'linear'"):
        from_keras(to_keras(sine))
    assert from_keras(to_keras(sine), like=sine).activation.name == "sin"
