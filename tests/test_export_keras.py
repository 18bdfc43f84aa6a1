"""Keras 3 on JAX."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from extras import need
from greedynet import Network
from greedynet.activations import ACTIVATIONS
from greedynet.export import to_keras
from networks import (
    DTYPES,
    assert_close,
    inputs,
    random_deep_network,
    random_network,
)

jax = need("jax")
os.environ.setdefault("KERAS_BACKEND", "jax")
keras = need("keras")

pytestmark = pytest.mark.slow


def test_sine_has_all_its_digits_after_many_turns():
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), activation=ACTIVATIONS["sin"])
    X = np.random.default_rng(0).uniform(-1e6, 1e6, (1000, 1))
    with jax.enable_x64(True):
        got = keras.ops.convert_to_numpy(to_keras(network, dtype="float64")(X))[:, 0]
    np.testing.assert_allclose(got, np.sin(X[:, 0]), rtol=0, atol=1e-14)


# Those that Keras has no name for; nothing is registered, so that they load anywhere.
@pytest.mark.parametrize("activation", ["relu3", "leaky_relu", "abs", "tanh", "sin", "gaussian"])
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_saved_models_need_no_code(tmp_path: Path, activation: str):
    network = random_network(6, affine=False, activation=activation)
    X = inputs(network)
    with jax.enable_x64(True):
        to_keras(network, dtype="float64").save(tmp_path / "model.keras")
        assert not keras.saving.get_custom_objects()
        again = keras.saving.load_model(tmp_path / "model.keras")
        assert_close(keras.ops.convert_to_numpy(again(X)), network, X, "float64")
    assert "greedynet" not in again.to_json()


# Keras 3.15 itself hands its variables to NumPy in a way that NumPy 2 deprecates.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_model_predicts_trains_and_is_saved(tmp_path: Path):
    network = random_network(6, 2)
    X = inputs(network, 64).astype("float32")
    model = to_keras(network)
    before = model.predict(X, verbose=0)
    np.testing.assert_allclose(before, network.predict(X), rtol=1e-4, atol=1e-4)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.predict(X, verbose=0), before)
    model.compile(optimizer="sgd", loss="mse")
    model.fit(X, np.zeros((64, 2)), verbose=0)
    assert np.abs(model.predict(X, verbose=0) - before).max() > 1e-3


def test_float64_needs_it_switched_on():
    with pytest.raises(ValueError, match=r"jax.config.update\('jax_enable_x64', True\)"):
        to_keras(random_network(), dtype="float64")


@pytest.mark.parametrize("chosen", [None, "numpy"])
def test_jax_is_the_backend_unless_another_is_chosen(chosen: str | None, tmp_path: Path):
    code = (
        "from greedynet.export import to_keras; from networks import random_network; "
        "to_keras(random_network()); import keras; print(keras.backend.backend())"
    )
    environment = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    modules = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment |= {"PYTHONPATH": os.pathsep.join(modules), "KERAS_HOME": str(tmp_path)}
    if chosen is not None:
        environment["KERAS_BACKEND"] = chosen
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [chosen or "jax"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_model_of_two_layers_is_saved_without_code_and_trains(tmp_path: Path, dtype: str):
    network = random_deep_network(6, 2)
    X = inputs(network, 64)
    with jax.enable_x64(dtype == "float64"):
        to_keras(network, dtype=dtype, fold_affine=False).save(tmp_path / "model.keras")
        again = keras.saving.load_model(tmp_path / "model.keras")
        assert_close(keras.ops.convert_to_numpy(again(X.astype(dtype))), network, X, dtype)
        again.compile(optimizer="sgd", loss="mse")
        again.fit(X.astype(dtype), np.zeros((64, 2), dtype=dtype), verbose=0)
        after = keras.ops.convert_to_numpy(again(X.astype(dtype)))
    assert "greedynet" not in again.to_json()
    assert np.abs(after - network.predict(X)).max() > 1e-3
