"""JAX: a pure function that can be compiled and differentiated."""

from itertools import product

import numpy as np
import pytest

from classifiers import classifier, rows
from extras import need
from greedynet.activations import ACTIVATIONS
from greedynet.export import to_jax
from networks import (
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS_AND_DTYPES,
    STEEP,
    assert_close,
    assert_same,
    inputs,
    kind,
    random_deep_network,
    random_network,
    steep,
)

jax = need("jax")

pytestmark = pytest.mark.slow

N_POINTS = 256  # as many rows as the check has: compiled once


@pytest.mark.parametrize(("name", "dtype"), [*FEW_KINDS_AND_DTYPES, *product(DEEP_KINDS, DTYPES)])
def test_function_is_the_network(name: str, dtype: str):
    network = kind(name)
    X = inputs(network, N_POINTS)
    with jax.enable_x64(dtype == "float64"):
        _, folded = to_jax(network, scaling="folded")
        assert folded.layer is None
        params, apply = to_jax(network)
        # Compiled functions of the others are below, as gradients.
        compiled = [jax.jit(apply)] if "relu-" in name else []
        for function in (apply, *compiled):
            got = np.asarray(function(params, X.astype(dtype)))
            assert got.ndim == (1 if network.single_output else 2)
            assert_close(got.reshape(len(X), -1), network, X, dtype)
        one = np.asarray(apply(params, X[0].astype(dtype)))
        np.testing.assert_allclose(one, got[0], rtol=1e-4, atol=1e-4)


def test_parameters_are_the_arrays():
    network = random_network(4, 2)
    with jax.enable_x64(True):
        params, _ = to_jax(network, scaling="folded")
        for name, value in params.items():
            assert_same(np.array(value), np.array(getattr(network, name)))
    assert set(to_jax(random_network(affine=False))[0]) == {
        "inner_weights",
        "biases",
        "outer_weights",
    }


@pytest.mark.parametrize("activation", STEEP)
def test_large_arguments(activation: str):
    network = steep(activation)
    X = inputs(network, N_POINTS)
    with jax.enable_x64(True):
        params, apply = to_jax(network)
        assert_close(apply(params, X), network, X, "float64")
        # A sum of finite numbers only, or the gradient of a training would be lost.
        by_params = jax.grad(lambda p: apply(p, X).sum())(params)
        assert all(np.isfinite(part).all() for part in by_params.values())


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_is_the_networks(activation: str):
    network = random_network(20, activation=activation)
    X = inputs(network, 5)
    U = network.neuron_inputs(X)
    z = U @ network.inner_weights.T + network.biases
    slope = network.activation.slope(z)
    by_inputs = (slope * network.outer_weights[:, 0]) @ network.inner_weights
    by_inputs += network.linear_weights[:, 0]
    by_inputs *= U == X  # outside the box, nothing changes
    with jax.enable_x64(True):
        params, apply = to_jax(network, scaling="folded")
        got = jax.vmap(jax.grad(apply, argnums=1), in_axes=(None, 0))(params, X)
        np.testing.assert_allclose(got, by_inputs, rtol=1e-12, atol=1e-12)
        by_params = jax.jit(jax.grad(lambda p: apply(p, X).sum()))(params)
    np.testing.assert_allclose(by_params["outer_weights"][:, 0], network.hidden(X).sum(axis=0))
    np.testing.assert_allclose(by_params["intercept"], [5.0])
    np.testing.assert_allclose(by_params["linear_weights"][:, 0], U.sum(axis=0))


def test_precision_follows_jax():
    assert to_jax(random_network())[0]["biases"].dtype == "float32"
    with pytest.raises(ValueError, match=r"jax.config.update\('jax_enable_x64', True\)"):
        to_jax(random_network(), dtype="float64")
    with jax.enable_x64(True):
        assert to_jax(random_network())[0]["biases"].dtype == "float64"
        assert to_jax(random_network(), dtype="float32")[0]["biases"].dtype == "float32"


@pytest.mark.parametrize("n_classes", [2, 5])
def test_function_of_a_classifier_gives_logits(n_classes: int):
    model = classifier(n_classes)
    X = rows(N_POINTS, seed=1)
    with jax.enable_x64(True):
        params, apply = to_jax(model)
        got = np.asarray(apply(params, X))
    np.testing.assert_allclose(got, model.decision_function(X), rtol=1e-9, atol=1e-9)


def test_gradient_of_two_layers_is_that_of_the_second():
    network = random_deep_network(6)
    X = inputs(network, N_POINTS)
    with jax.enable_x64(True):
        params, apply = to_jax(network, scaling="folded")
        for name, value in params.items():
            assert_same(np.array(value), np.array(getattr(network, name)))
        slopes = jax.grad(lambda params: apply(params, X).sum())(params)
    np.testing.assert_allclose(slopes["outer_weights"][:, 0], network.hidden(X).sum(axis=0))
    lifted = network.neuron_inputs(X).sum(axis=0)
    np.testing.assert_allclose(slopes["linear_weights"][:, 0], lifted)
